//! What is kept of runs that end early, fail, or were finished before.

use std::fs;
use std::path::PathBuf;

use tenter::{
    Control, Error, Experiment, Interference, Observer, Plan, PortRow, Run, Running, Scenario,
    StudyRun, Trial, TrialQuery, Watch, Workspace, check_limits, run_budget,
};

const SHORT: &str = "
name: short
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 2}
jobs:
  - {name: a, ranks: 4, collectives: [{collective: all-to-all, size: 1MiB}]}
  - {name: b, ranks: 4, free_hosts: true, collectives: [{collective: all-to-all, size: 1MiB}]}
";

fn plan() -> Plan {
    Scenario::from_yaml(SHORT).resolve().expect("it holds")
}

/// A folder that is removed with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let name = format!("tenter-kept-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for the test");
        Scratch(path)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Stops a run as soon as all of its flows are done: acknowledgements are still under way.
struct StopsBehindTheLastFlow(bool);

impl Observer for StopsBehindTheLastFlow {
    fn progress(&mut self, at: &Running<'_>) -> Control {
        let progress = &at.progress;
        self.0 |= progress.flows_total > 0 && progress.flows_done == progress.flows_total;
        if self.0 {
            Control::Stop
        } else {
            Control::Continue
        }
    }
}

#[test]
fn a_run_stopped_behind_its_last_flow_is_partial_and_runs_again() {
    let scratch = Scratch::new("behind");
    // The stream goes on for a while after the job under test: there is an edge to stop at.
    let scenario = Scenario::from_yaml(
        "
fabric: {kind: single-switch, hosts: 4}
limits: {background: 500us}
observe: {sample_interval: 1us}
jobs:
  - {name: a, ranks: [0, 1], collectives: [{collective: all-to-all, size: 1MiB}]}
  - {name: load, background: true, flows: [{from: 2, to: 3}]}
",
    );
    let plan = scenario.resolve().expect("it holds");
    let run = || Run::new(&plan).folder(scratch.join("t")).reuse();
    let mut observer = StopsBehindTheLastFlow(false);
    let stopped = run().observe(&mut observer).run().expect("it runs");
    assert!(observer.0 && stopped.was_cancelled());
    assert!(!stopped.is_complete(), "a stopped run is partial");
    let whole = run().run().expect("it runs");
    assert!(whole.is_complete() && !whole.was_cancelled());
    assert_eq!(
        whole.digest(),
        Run::new(&plan).run().expect("it runs").digest()
    );
}

#[test]
fn a_started_run_takes_the_finished_trial_of_its_folder() {
    let scratch = Scratch::new("start");
    let run = || Run::new(&plan()).folder(scratch.join("t")).reuse();
    let first = run().run().expect("it runs");
    let manifest = fs::read(scratch.join("t/manifest.json")).expect("it was written");
    let handle = run().start().expect("it is there");
    assert!(handle.is_finished());
    assert_eq!(
        handle.progress().packet_hops,
        first.summary().engine.packet_hops
    );
    handle.cancel();
    let again = handle.join().expect("it is there");
    assert_eq!(again.digest(), first.digest());
    let after = fs::read(scratch.join("t/manifest.json")).expect("it is there");
    assert_eq!(after, manifest, "the trial was not run again");
}

#[test]
fn a_folder_in_use_is_told_before_the_run_starts() {
    let scratch = Scratch::new("in-use");
    let foreign = scratch.join("foreign");
    fs::create_dir_all(&foreign).expect("it can be made");
    fs::write(foreign.join("thesis.txt"), "words").expect("it can be written");
    let error = Run::new(&plan()).folder(&foreign).start();
    let error = error.expect_err("it holds something else");
    assert!(matches!(error, Error::Folder(_)), "{error}");
}

#[test]
fn a_trial_without_what_is_asked_for_is_run_again() {
    let scratch = Scratch::new("beside");
    let run = |asked| {
        let run = Run::new(&plan()).folder(scratch.join("t")).reuse();
        run.interference(asked).run().expect("it runs")
    };
    assert!(run(Interference::None).summary().interference.is_empty());
    assert!(!run(Interference::Alone).summary().interference.is_empty());
    let manifest = fs::read(scratch.join("t/manifest.json")).expect("it was written");
    assert!(!run(Interference::Alone).summary().interference.is_empty());
    let after = fs::read(scratch.join("t/manifest.json")).expect("it is there");
    assert_eq!(after, manifest, "the trial was not run again");
}

#[test]
fn a_trial_is_read_from_its_folder() {
    let scratch = Scratch::new("open");
    let run = Run::new(&plan()).folder(scratch.join("t"));
    let trial = run.keep_flows().run().expect("it runs");
    let opened = Trial::open(scratch.join("t"), &run_budget()).expect("it was written");
    assert_eq!(opened.digest(), trial.digest());
    assert_eq!(opened.rows::<PortRow>(), trial.rows::<PortRow>());
    assert_eq!(opened.flows(), trial.flows());
    assert_eq!(opened.plan().resolved(), trial.plan().resolved());
    assert!(Trial::open(scratch.join("nothing"), &run_budget()).is_err());
}

#[test]
fn an_experiment_that_fails_halfway_holds_what_has_run() {
    let scratch = Scratch::new("halfway");
    fs::create_dir_all(scratch.join("grid/point-2")).expect("it can be made");
    fs::write(scratch.join("grid/points.json"), "{}").expect("it can be written");
    fs::write(scratch.join("grid/point-2/thesis.txt"), "words").expect("it can be written");
    let experiment = Experiment::new(&Scenario::from_yaml(SHORT))
        .vary("jobs[0].iterations", [1, 2, 3])
        .folder(scratch.join("grid"));
    let error = experiment
        .run()
        .expect_err("the second point has no folder");
    assert!(
        error.to_string().contains("holds something else"),
        "{error}"
    );
    let Error::Experiment { results, .. } = error else {
        panic!("one point has run");
    };
    assert_eq!(results.points.len(), 2);
    assert_eq!(results.points[0].trials.len(), 1);
    assert!(results.points[1].trials.is_empty());
}

#[test]
fn the_folder_of_a_grid_tells_its_points_and_has_no_others() {
    let scratch = Scratch::new("points");
    let grid = |values: &[u32]| {
        let experiment = Experiment::new(&Scenario::from_yaml(SHORT))
            .vary("jobs[0].iterations", values)
            .folder(scratch.join("grid"));
        experiment.run().expect("it runs")
    };
    assert_eq!(grid(&[1, 2, 3]).points.len(), 3);
    grid(&[5]);
    let points = fs::read_to_string(scratch.join("grid/points.json")).expect("it is there");
    assert!(points.contains("\"jobs[0].iterations\": \"5\""), "{points}");
    assert!(!scratch.join("grid/point-2").exists());
    let other = Experiment::new(&Scenario::from_yaml(SHORT)).vary("seed", [1]);
    let refused = other.folder(&scratch.0).run().expect_err("it holds a grid");
    assert!(refused.to_string().contains("something else"), "{refused}");
}

#[test]
fn what_cannot_be_varied_or_watched_is_refused() {
    let none: [u32; 0] = [];
    let experiment = Experiment::new(&Scenario::from_yaml(SHORT)).vary("seed", none);
    let refused = experiment.run().expect_err("there are no values");
    assert!(refused.to_string().contains("over no values"), "{refused}");
    for watch in [Watch::Flow(0, 8), Watch::Port(99, 0), Watch::Port(0, 1)] {
        let refused = Run::new(&plan()).watch(watch, 10).run();
        let refused = refused
            .expect_err("the fabric does not have it")
            .to_string();
        assert!(refused.contains("cannot be watched"), "{refused}");
    }
}

#[test]
fn the_last_seed_counts_however_it_is_given() {
    let seed = |scenario: Scenario| scenario.resolve().expect("it holds").seed();
    let scenario = || Scenario::from_yaml(SHORT);
    assert_eq!(seed(scenario().seed(7).set("seed", 8)), 8);
    assert_eq!(seed(scenario().set("seed", 8).seed(7)), 7);
}

#[test]
fn keys_are_laid_one_over_the_other_beside_the_files_of_a_scenario() {
    let scratch = Scratch::new("overlay");
    fs::write(
        scratch.join("sends.csv"),
        "source,destination,bytes\n0,1,1000000\n",
    )
    .expect("it can be written");
    let scenario = Scenario::from_yaml(
        "
fabric: {kind: single-switch, hosts: 4}
jobs:
  - {name: a, pattern: {kind: matrix, file: sends.csv}}
",
    );
    let scenario = scenario
        .beside(&scratch.0)
        .with_keys("one", "name: first\nseed: 3\n")
        .with_keys("two", "name: second\n");
    let plan = scenario.resolve().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((plan.name(), plan.seed()), ("second", 3));
    let wrong = scenario.with_keys("three", "- name\n").resolve();
    let wrong = wrong.expect_err("it is a list").to_string();
    assert!(
        wrong.contains("three:1:1") && wrong.contains("not a list"),
        "{wrong}"
    );
}

#[test]
fn a_study_is_found_by_its_name() {
    let study = StudyRun::of_name("methodology/jct-2").expect("there is one");
    assert_eq!(study.study.name(), "methodology/jct-2");
    for (name, expected) in [("methodology/jct-22", "jct-2"), ("methodology", "a group")] {
        let refused = StudyRun::of_name(name).expect_err("it is no study");
        assert!(refused.to_string().contains(expected), "{refused}");
    }
}

#[test]
fn a_ledger_of_an_earlier_layout_gets_the_headlines_of_this_one() {
    let scratch = Scratch::new("layout");
    let plan = plan();
    Run::new(&plan)
        .folder(scratch.join("t"))
        .run()
        .expect("it runs");
    let listed = || {
        let workspace = Workspace::open(&scratch.0).expect("it opens");
        workspace.find(check_limits()).expect("it searches");
        let list = workspace.trials(&TrialQuery::default());
        list.expect("a list").trials.remove(0)
    };
    let found = listed();
    assert_eq!(found.headline.jct_job.as_deref(), Some("b"));
    // What layout 3 had of it: no name of the job, and another collective.
    let ledger = rusqlite::Connection::open(scratch.join("ledger.sqlite")).expect("it opens");
    let back = "ALTER TABLE workspace_trials DROP COLUMN jct_job;
        UPDATE workspace_trials SET headline = 'all-to-all, 1 MiB', ideal_percent = 99.94;
        PRAGMA user_version = 3;";
    ledger.execute_batch(back).expect("it is changed");
    drop(ledger);
    assert_eq!(listed(), found);
    assert_eq!(listed(), found);
}
