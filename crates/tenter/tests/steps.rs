//! Collectives that are given step by step: what a list must be.

mod beside;

use tenter::resolve::{Format, Loaded, load};

use beside::load_with;

fn scenario(collective: &str) -> String {
    format!(
        "fabric: {{kind: single-switch, hosts: 4}}\njobs:\n  - collectives:\n      - {collective}\n"
    )
}

fn good(collective: &str) -> Loaded {
    let text = scenario(collective);
    load(&text, "x.yaml", Format::Yaml, &[], None)
        .unwrap_or_else(|errors| panic!("{text}\n{}", errors.render()))
}

fn refused(collective: &str, expected: &str) {
    let text = scenario(collective);
    let errors = load(&text, "x.yaml", Format::Yaml, &[], None).expect_err(expected);
    let said = errors.render();
    assert_eq!(errors.problems().len(), 1, "{text}\n{said}");
    assert!(said.contains(expected), "lacks {expected:?}\n{said}");
    assert!(said.contains("x.yaml:4:"), "{said}");
}

const THERE_AND_BACK: &str = "{collective: steps, steps: [{rank: 0, peer: 1, bytes: 1MiB}, {rank: 1, peer: 0, bytes: 4KiB, after: [0]}]}";

#[test]
fn a_list_is_a_collective_of_its_own_size() {
    let loaded = good(THERE_AND_BACK);
    let run = &loaded.plan.jobs[0].sequence[0];
    assert_eq!((run.traffic.name(), run.size_bytes), ("steps", 1 << 20));
    assert_eq!(loaded.plan.jobs[0].ranks(), 4);
    let again = load(&loaded.effective, "x.yaml", Format::Yaml, &[], None);
    assert_eq!(again.expect("it is a scenario").plan, loaded.plan);
}

#[test]
fn lists_without_sense_are_refused_with_their_place() {
    let changed = |from: &str, to: &str, expected: &str| {
        refused(&THERE_AND_BACK.replace(from, to), expected);
    };
    changed(
        "[0]",
        "[1]",
        "step 1 arrives at rank 0, and rank 1 knows nothing of it",
    );
    changed("[0]", "[7]", "there is no step 7");
    changed(
        "peer: 1, bytes: 1MiB",
        "peer: 1, bytes: 1MiB, after: [1]",
        "waits for itself",
    );
    changed("peer: 1", "peer: 0", "rank 0 sends to itself");
    refused(
        "{collective: steps, steps: [{rank: 0, peer: 4, bytes: 1MiB}]}",
        "a step is of rank 4, and the job has 4 ranks",
    );
    changed("4KiB", "4096", "`jobs[0].collectives[0].steps[1].bytes`");
    changed(
        "steps, steps",
        "steps, size: 1MiB, steps",
        "has no effect on steps",
    );
    refused("{collective: steps, steps: []}", "there is no step");
    refused("{collective: steps}", "lacks `file` or `steps`");
}

#[test]
fn a_list_may_stand_in_a_file() {
    let text = scenario("{collective: steps, file: pair.csv}");
    let read = |lines: &str| {
        let lines = lines.as_bytes().to_vec();
        let files = move |name: &str| {
            assert_eq!(name, "pair.csv");
            Ok(lines.clone().into())
        };
        load_with(&text, &files)
    };
    let lines = "rank,peer,bytes,after\n0,1,1048576,\n1,0,4096,0\n";
    let plan = read(lines).expect("it is a list").plan;
    assert_eq!(plan.jobs, good(THERE_AND_BACK).plan.jobs);
    let errors = read("0,1\n").expect_err("it is none").render();
    assert!(errors.contains("the file `pair.csv`, line 1"), "{errors}");
    let both = THERE_AND_BACK.replace("steps, steps", "steps, file: a.csv, steps");
    refused(&both, "which say the same");
}

#[test]
fn long_lists_are_files_beside_the_configuration() {
    let step = |_| "{rank: 2, peer: 3, bytes: 64KiB}".to_owned();
    let steps: Vec<String> = (0..2_001).map(step).collect();
    let loaded = good(&format!(
        "{{collective: steps, steps: [{}]}}",
        steps.join(", ")
    ));
    let beside = loaded.beside();
    let [(name, text)] = beside.as_slice() else {
        panic!("one file is beside it");
    };
    let text = text.clone();
    let files = move |asked: &str| {
        Ok(if asked == "steps-0.csv" {
            text.clone().into()
        } else {
            Vec::new().into()
        })
    };
    assert_eq!(name, "steps-0.csv");
    let again = load_with(&loaded.effective, &files);
    assert_eq!(again.expect("it is a scenario").plan, loaded.plan);
}
