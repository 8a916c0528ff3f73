//! Files that a scenario names are read within the budget of whoever loads it.

use tenter::resolve::{Diagnostics, Format, load_beside};
use tenter_language::units::{Budget, Bytes, Limits};

/// A kilobyte of blank lines and comments behind what is read.
const LENGTH: usize = 1_000;

/// The problems of a job whose file has [`LENGTH`] bytes, within so many bytes of input.
fn problems(job: &str, content: &str, input: usize) -> Option<Diagnostics> {
    let text = format!("fabric: {{kind: single-switch, hosts: 2}}\njobs: [{job}]\n");
    let files = |_: &str| Ok(format!("{content:LENGTH$}").into_bytes().into());
    let budget = Budget::new(Limits {
        input: Bytes::new(input as u64),
        ..Limits::NONE
    });
    let loaded = load_beside(&text, "x.yaml", Format::Yaml, &[], None, &files, &budget);
    loaded.err()
}

#[test]
fn every_file_of_a_scenario_counts_as_input() {
    let algorithm = "<algo name=\"a\" nchunksperloop=\"2\" proto=\"Simple\" coll=\"allgather\">";
    let jobs = [
        (
            "{collectives: [{collective: steps, file: a.csv}]}",
            "rank,peer,bytes,after\n0,1,1048576,\n",
        ),
        ("{pattern: {kind: matrix, file: a.csv}}", "0,10\n20,0\n"),
        (
            "{workload: {points: a.txt, flows: 9, pairs: [{from: 0, to: 1}]}}",
            "0 0\n53 25\n99 100\n",
        ),
        (
            "{collectives: [{collective: all-gather, size: 1MiB, algorithm: {file: a.xml}}]}",
            algorithm,
        ),
    ];
    for (job, content) in jobs {
        let refused = problems(job, content, LENGTH - 1).expect("it is too long");
        let refused = refused.render();
        for part in [
            "x.yaml:2:",
            "cannot read the file",
            "the input has more than 999B",
        ] {
            assert!(refused.contains(part), "{job}: {part}\n{refused}");
        }
        let found = problems(job, content, LENGTH).map(|found| found.render());
        let found = found.unwrap_or_default();
        assert!(!found.contains("the input has"), "{job}\n{found}");
    }
}
