//! Algorithms that collectives and traces name by their files.

mod beside;

use tenter::resolve::{Diagnostics, Loaded, read_workload};
use tenter_language::units::Budget;
use tenter_workload::graph::{Algorithms, CollectiveName};
use tenter_workload::spec::WorkloadKind;

use beside::load_with;

const RING: &str = include_str!("../../../scenarios/algorithms/ring-4.xml");
/// Two ranks exchange halves.
const PAIR: &str = "algorithm all-reduce ranks 2 chunks 1 in-place sizes 0 65536\nblock 0 0\n\
    step 1 of i0 to 1.0\nstep 1 from 1.0 of i0 into i0\nblock 1 0\nstep 1 of i0 to 0.0\n\
    step 1 from 0.0 of i0 into i0\n";
const LAYERS: &str = "MICRO all_gpus: 4\n2\none -1 100 ALLREDUCE 4096 100 NONE 0 100 NONE 0 10\n\
    two -1 100 ALLGATHER 4096 100 NONE 0 100 NONE 0 10\n";

fn read(text: &str, beside: &[(String, Vec<u8>)]) -> Result<Loaded, Diagnostics> {
    let files = |name: &str| match name {
        "ring.xml" => Ok(RING.as_bytes().to_vec().into()),
        "wrong.xml" => Ok(RING.replacen("rrs", "rcs", 1).into_bytes().into()),
        "pair.txt" => Ok(PAIR.as_bytes().to_vec().into()),
        "large.txt" => Ok(PAIR.replace("0 65536", "65537 1048576").into_bytes().into()),
        "layers.txt" => Ok(LAYERS.as_bytes().to_vec().into()),
        _ => {
            let kept = beside.iter().find(|(of, _)| of == name);
            let bytes = kept.map(|(_, bytes)| bytes.clone().into());
            bytes.ok_or_else(|| "check the path".to_owned())
        }
    };
    load_with(text, &files)
}

fn job(job: &str) -> String {
    format!("fabric: {{kind: single-switch, hosts: 8}}\njobs:\n  - {job}\n")
}

fn of_algorithm(ranks: u32, algorithm: &str, size: &str) -> String {
    job(&format!(
        "{{ranks: {ranks}, collectives: [{{collective: all-reduce, algorithm: {algorithm}, {size}}}]}}"
    ))
}

fn good(text: &str) -> Loaded {
    read(text, &[]).unwrap_or_else(|errors| panic!("{text}\n{}", errors.render()))
}

fn refused(text: &str, expected: &str) {
    let errors = read(text, &[]).expect_err(expected);
    let said = errors.render();
    assert_eq!(errors.problems().len(), 1, "{text}\n{said}");
    assert!(said.contains(expected), "lacks {expected:?}\n{said}");
    assert!(said.contains("x.yaml:3:"), "{said}");
}

#[test]
fn an_algorithm_is_kept_without_its_file() {
    for (ranks, algorithm, size) in [
        (4, "{file: ring.xml}", "size: 1MiB"),
        (4, "{file: ring.xml, slice: 64KiB}", "size: 1MiB"),
        (2, "{file: pair.txt}", "sizes: [4KiB, 1MiB]"),
        (2, "{files: [pair.txt, large.txt]}", "sizes: [4KiB, 1MiB]"),
    ] {
        let loaded = good(&of_algorithm(ranks, algorithm, size));
        let run = &loaded.plan.jobs[0].sequence[0];
        assert_eq!(run.traffic.name(), "all-reduce");
        assert_eq!(run.traffic.algorithm(), "file");
        assert!(!loaded.effective.contains("ring.xml") && !loaded.effective.contains("pair.txt"));
        let again = read(&loaded.effective, &loaded.beside());
        let again = again.unwrap_or_else(|errors| panic!("{}", errors.render()));
        assert_eq!(again.plan, loaded.plan, "{algorithm}");
        assert_eq!(again.effective, loaded.effective, "{algorithm}");
        assert_eq!(again.beside(), loaded.beside(), "{algorithm}");
    }
    // A long one has a file of its own.
    let beside = good(&of_algorithm(4, "{file: ring.xml}", "size: 1MiB")).beside();
    assert!(beside.is_empty() || beside[0].0 == "algorithm-0.txt");
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let with = |algorithm: &str| of_algorithm(4, algorithm, "size: 1MiB");
    refused(
        &with("{file: wrong.xml}"),
        "it is no all-reduce: chunk 3 of the output of rank 0",
    );
    refused(&with("{file: none.xml}"), "cannot read the file");
    refused(
        &with("{file: ring.xml, programs: [a]}"),
        "which say the same",
    );
    refused(
        &with("{programs: [\"algorithm\"]}"),
        "line 1: nothing stands where",
    );
    refused(&with("{}"), "lacks `file`, `files` or `programs`");
    refused(&with("{files: []}"), "names no file");
    refused(
        &with("{file: pair.txt}"),
        "give the job 2 ranks (`ranks: 2`)",
    );
    refused(
        &with("{files: [pair.txt, ring.xml, large.txt]}"),
        "are for different numbers of ranks",
    );
    let tuned = of_algorithm(2, "{files: [pair.txt, large.txt]}", "size: 2MiB");
    refused(
        &tuned,
        "has 2097152 bytes, and the files are meant for 0 to 65536, 65537 to 1048576",
    );
    let other =
        with("{file: ring.xml}").replace("collective: all-reduce", "collective: all-gather");
    refused(
        &other,
        "is a file of all-reduce, and the collective is all-gather",
    );
}

/// The all-reduce of four ranks is that of the file, the all-gather the usual one.
#[test]
fn traces_take_algorithms_from_files() {
    let text = job(
        "{workload: {kind: simai, file: layers.txt, algorithms: {all_reduce: {file: ring.xml}}}}",
    );
    let loaded = good(&text);
    let operations = loaded.plan.jobs[0].sequence[0].traffic.operations();
    let collectives = operations.expect("they are operations").graph.collectives();
    let kinds = (0..collectives.len() as u32).map(|number| collectives.get(number).1);
    let mut names: Vec<String> = kinds.map(|kind| kind.member().to_string()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names, ["all-gather (ring)", "all-reduce (file)"]);
    let again = read(&loaded.effective, &loaded.beside());
    let again = again.unwrap_or_else(|errors| panic!("{}", errors.render()));
    assert_eq!(again.plan, loaded.plan);
    refused(
        &text.replace("all_reduce: {file", "all_gather: {file"),
        "is a file of all-reduce",
    );
}

#[test]
fn settings_of_an_import_name_algorithms_by_their_paths() {
    let files = |name: &str| match name {
        "rings/ring-4.xml" => Ok(RING.as_bytes().to_vec().into()),
        _ => Err("check the path".to_owned()),
    };
    let read = |setting: &str| {
        let settings = [setting.to_owned()];
        read_workload(
            "simai",
            "layers.txt",
            &settings,
            &files,
            &Budget::unlimited(),
        )
    };
    let algorithm = |algorithms: &Algorithms| {
        let kind = algorithms.kind(CollectiveName::AllReduce, 4, 1_024);
        kind.algorithm().to_owned()
    };
    for setting in [
        "algorithms.all_reduce={file: rings/ring-4.xml}",
        "algorithms={all_reduce: {file: rings/ring-4.xml}}",
    ] {
        let (kind, _) = read(setting).unwrap_or_else(|errors| panic!("{errors}"));
        let WorkloadKind::Simai(spec) = kind else {
            panic!("it is another kind");
        };
        assert_eq!(algorithm(&spec.algorithms), "file", "{setting}");
    }
    for (setting, what) in [
        (
            "algorithms.all_reduce={file: ring-4.xml}",
            "cannot read the file `ring-4.xml`",
        ),
        (
            "algorithms.all_gather={file: rings/ring-4.xml}",
            "is a file of all-reduce",
        ),
        ("algorithms.all_reduce", "has no `=`"),
        ("all_reduce=ring", "unknown key `all_reduce`"),
    ] {
        let error = read(setting).expect_err(what).to_string();
        assert!(error.contains(what), "{setting}: {error}");
    }
}
