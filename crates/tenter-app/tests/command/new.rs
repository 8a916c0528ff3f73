//! `tenter new`, scenarios from standard input, and presets that are run.

use std::io::Write as _;
use std::process::Stdio;

use crate::workplace::Workplace;

#[test]
fn a_new_scenario_runs_and_is_never_written_over() {
    let workplace = Workplace::new("new");
    let answer = workplace.words("new").expect(0);
    assert!(answer.stdout.contains("tenter run scenario.yaml"));
    workplace.words("validate scenario.yaml").expect(0);
    workplace
        .words("new")
        .expect_refusal(&["scenario.yaml exists and is not overwritten"]);
    workplace
        .words("new small.yaml --fabric single-switch-8")
        .expect(0);
    workplace.words("run small.yaml -o trial").expect(0);
    workplace
        .words("new other.yaml --fabric single-switch-9")
        .expect_refusal(&["there is no preset", "single-switch-8"]);
    workplace
        .words("new nowhere/other.yaml")
        .expect_refusal(&["there is no such folder"]);
    assert_eq!(
        workplace.entries(),
        ["scenario.yaml", "small.yaml", "trial"]
    );
}

#[test]
fn a_scenario_comes_from_standard_input() {
    let workplace = Workplace::new("stdin");
    let mut command = workplace.command(&["validate", "-", "--set", "fabric.hosts=three"]);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let scenario = "fabric: {kind: single-switch, hosts: 2}\njobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]\nseed: many\n";
    let mut input = child.stdin.take().expect("it is a pipe");
    input.write_all(scenario.as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("standard input:3:"), "{error}");
    assert!(error.contains("fabric.hosts"), "{error}");
}

#[test]
fn a_preset_is_run_with_a_first_job() {
    let workplace = Workplace::new("preset");
    let answer = workplace.words("run single-switch-8 -o trial").expect(0);
    assert!(
        answer.stderr.contains("an all-reduce of 16 MiB"),
        "{}",
        answer.stderr
    );
    assert!(answer.stdout.contains("all-reduce"), "{}", answer.stdout);
    let jobs = "jobs=[{collectives: [{collective: all-to-all, size: 1MiB}]}]";
    let answer = workplace
        .tenter(&["run", "single-switch-8", "-o", "trial", "--set", jobs])
        .expect(0);
    assert!(
        !answer.stderr.contains("note: a preset"),
        "{}",
        answer.stderr
    );
    assert!(answer.stdout.contains("all-to-all"), "{}", answer.stdout);
    workplace.words("explain single-switch-8").expect(0);
}
