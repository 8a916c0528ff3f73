//! What a program sees of runs, trials and experiments.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tenter::{
    Control, Error, Experiment, FlowRow, Interference, NextTrial, Observer, Plan, Run, Running,
    Scenario, SinkError, Summary, SweepRun, TrialAnswer,
};

const SHORT: &str = "
name: short
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 2}
jobs:
  - name: a
    ranks: [host0, host1, host4, host5]
    collectives: [{collective: all-to-all, size: 1MiB}]
  - name: b
    ranks: [host2, host3, host6, host7]
    collectives: [{collective: all-to-all, size: 1MiB}]
";

/// Hours of work.
const LONG: &str = "
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 2}
jobs:
  - name: endless
    iterations: 1000000
    gap: 2us
    collectives: [{collective: all-to-all, size: 256KiB}]
";

/// No step of these tests takes a tenth of this.
const PATIENCE: Duration = Duration::from_secs(20);

fn plan(text: &str) -> Plan {
    Scenario::from_yaml(text).resolve().expect("it holds")
}

/// A folder that is removed with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let name = format!("tenter-facade-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for the test");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What was heard, in words.
#[derive(Default)]
struct Heard {
    said: Vec<String>,
    flows: usize,
    /// The simulation that is stopped at its first progress.
    stop_at: Option<&'static str>,
    now: String,
}

impl Observer for Heard {
    fn begins(&mut self, title: &str) {
        title.clone_into(&mut self.now);
        self.said.push(format!("begins {title}"));
    }

    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        self.flows += rows.len();
        Ok(())
    }

    fn progress(&mut self, at: &Running<'_>) -> Control {
        assert!(at.expected_packet_hops() > 0.0);
        if self.stop_at.is_some_and(|title| title == self.now) {
            Control::Stop
        } else {
            Control::Continue
        }
    }

    fn further_runs(&mut self, count: usize) {
        self.said.push(format!("{count} more"));
    }

    fn trial(&mut self, title: &str, summary: &Summary) {
        let complete = summary.complete;
        self.said.push(format!("trial {title} {complete}"));
    }

    fn kept(&mut self, title: &str, _: &Path) {
        self.said.push(format!("kept {title}"));
    }
}

#[test]
fn results_depend_on_nothing_but_the_plan() {
    let plan = plan(SHORT);
    let one = Run::new(&plan).threads(1).run().expect("it runs");
    assert!(one.is_complete() && one.flows().is_empty() && one.folder().is_none());
    let kept = Run::new(&plan).threads(2).keep_flows().keep_samples();
    let kept = kept.run().expect("it runs");
    assert_eq!(one.digest(), kept.digest());
    assert!(!kept.flows().is_empty() && !kept.samples().is_empty());
    let started = Run::new(&plan).start().expect("it starts");
    assert_eq!(started.join().expect("it runs").digest(), one.digest());
}

#[test]
fn a_cancelled_run_leaves_what_was_done() {
    let run = Run::new(&plan(LONG)).start().expect("it starts");
    let since = Instant::now();
    while run.progress().flows_done == 0 {
        assert!(since.elapsed() < PATIENCE, "it does not run");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(!run.is_finished());
    run.cancel();
    let trial = run.join().expect("a partial trial");
    assert!(trial.was_cancelled() && !trial.is_complete());
    assert!(trial.collectives().any(|row| row.complete));
}

#[test]
fn a_dropped_handle_ends_its_run() {
    let since = Instant::now();
    drop(Run::new(&plan(LONG)).start().expect("it starts"));
    assert!(since.elapsed() < PATIENCE);
}

#[test]
fn an_observer_hears_rows_and_further_runs() {
    let mut heard = Heard::default();
    let run = Run::new(&plan(SHORT)).interference(Interference::Alone);
    let trial = run.title("x").observe(&mut heard).run().expect("it runs");
    let said = [
        "begins x",
        "2 more",
        "begins run 1 of 2",
        "begins run 2 of 2",
        "trial x true",
    ];
    assert_eq!(heard.said, said);
    // Flows of further runs are not among them: 4 · 3 of each job.
    assert_eq!(heard.flows, 24);
    assert_eq!(trial.summary().interference.len(), 2);
}

#[test]
fn a_trial_whose_further_runs_were_stopped_is_partial() {
    let scratch = Scratch::new("stopped");
    let mut heard = Heard {
        stop_at: Some("run 2 of 2"),
        ..Heard::default()
    };
    // Long enough for a progress in each run.
    let text = SHORT.replace("size: 1MiB", "size: 64MiB");
    let run = Run::new(&plan(&text)).interference(Interference::Alone);
    let run = run.folder(&scratch.0).observe(&mut heard).run();
    let trial = run.expect("it runs");
    assert!(trial.was_cancelled() && trial.summary().interference.is_empty());
    assert!(trial.jobs().all(|job| job.complete));
    let manifest = fs::read_to_string(scratch.0.join("manifest.json")).expect("it is there");
    assert!(manifest.contains("\"complete\": false"), "{manifest}");
}

#[test]
fn a_finished_trial_is_reused_only_if_it_is_the_same() {
    let scratch = Scratch::new("reused");
    let run = |text: &str| {
        let mut heard = Heard::default();
        let run = Run::new(&plan(text)).folder(&scratch.0);
        let trial = run.keep_flows().reuse().observe(&mut heard).run();
        (heard.said, trial.expect("it runs"))
    };
    let (said, first) = run(SHORT);
    assert_eq!(said, ["begins ", "trial  true"]);
    let (said, again) = run(SHORT);
    assert_eq!(said, ["kept ", "trial  true"]);
    assert_eq!(again.summary(), first.summary());
    assert_eq!(again.flows().len(), first.flows().len());
    assert_eq!(again.counts(), first.counts());
    let (said, _) = run(&SHORT.replace("size: 1MiB", "size: 2MiB"));
    assert_eq!(said, ["begins ", "trial  true"]);
}

/// Wants nothing more once a trial has ended; no simulation is long enough to tell how far it is.
struct First(usize);

impl Observer for First {
    fn is_cancelled(&self) -> bool {
        self.0 > 0
    }

    fn trial(&mut self, _: &str, _: &Summary) {
        self.0 += 1;
    }
}

#[test]
fn an_experiment_of_short_trials_can_be_stopped_between_them() {
    let experiment = Experiment::new(&Scenario::from_yaml(SHORT)).seeds(5);
    let results = experiment.run_with(&mut First(0)).expect("it runs");
    assert!(results.was_cancelled);
    assert_eq!(results.points[0].trials.len(), 1);
    let run = Run::new(&plan(SHORT)).interference(Interference::Alone);
    let trial = run.observe(&mut First(1)).run().expect("it runs");
    assert!(trial.was_cancelled() && trial.summary().interference.is_empty());
}

/// Removes the folder under the run.
#[cfg(unix)]
struct Remover(PathBuf);

#[cfg(unix)]
impl Observer for Remover {
    fn ends(&mut self) {
        fs::remove_dir_all(&self.0).expect("a folder can be removed under a run");
    }
}

#[cfg(unix)]
#[test]
fn a_trial_that_cannot_be_written_is_not_lost() {
    let scratch = Scratch::new("vanished");
    let folder = scratch.0.join("trial");
    let run = Run::new(&plan(SHORT)).folder(&folder);
    match run.observe(&mut Remover(folder)).run() {
        Err(Error::NotWritten { trial, source }) => {
            assert!(trial.is_complete());
            assert!(source.to_string().contains("check the path"), "{source}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_grid_runs_the_last_axis_fastest() {
    let scratch = Scratch::new("grid");
    let experiment = || {
        Experiment::new(&Scenario::from_yaml(SHORT))
            .vary("fabric.spines", [1, 2])
            .vary("jobs[0].iterations", [1, 2])
            .seeds(2)
            .folder(&scratch.0)
    };
    let results = experiment().run().expect("it runs");
    let values = |at: usize| -> Vec<&str> {
        let settings = results.points[at].settings.iter();
        settings.map(|(_, value)| value.as_str()).collect()
    };
    assert_eq!(results.points.len(), 4);
    assert_eq!((values(0), values(1)), (vec!["1", "1"], vec!["1", "2"]));
    assert_eq!(values(2), ["2", "1"]);
    for point in &results.points {
        let seeds = point.trials.iter().map(|trial| trial.plan().seed());
        assert_eq!(seeds.collect::<Vec<u64>>(), [1, 2]);
        assert!(!point.rows().is_empty());
        // Tables are in the folders.
        assert!(point.trials.iter().all(|trial| trial.ports().is_empty()));
    }
    assert!(scratch.0.join("point-4/seed-2/manifest.json").is_file());
    assert!(scratch.0.join("point-1/seeds.parquet").is_file());
    // Nothing is run again, and nothing at all where a point does not hold.
    let mut heard = Heard::default();
    experiment().run_with(&mut heard).expect("it is there");
    let again = heard.said.iter().find(|said| said.starts_with("begins"));
    assert_eq!(again, None);
    let mut heard = Heard::default();
    let wrong = experiment().vary("fabric.leaves", ["2", "two"]);
    let error = wrong.run_with(&mut heard).expect_err("`two` is no number");
    assert!(matches!(error, Error::Scenario(_)) && error.is_of_input());
    assert!(error.to_string().contains("fabric.leaves"), "{error}");
    assert!(heard.said.is_empty());
}

/// The flows of a trial in the order of their starts: sender, receiver, bytes, instant.
fn starts(scenario: &Scenario) -> Vec<(u32, u32, u64, u64)> {
    let plan = scenario.resolve().expect("it holds");
    let trial = Run::new(&plan).keep_flows().run().expect("it runs");
    let flows = trial.flows().iter();
    let start = |flow: &FlowRow| {
        let posted = flow.posted.ps();
        (flow.src_host, flow.dst_host, flow.payload_bytes, posted)
    };
    let mut starts: Vec<_> = flows.map(start).collect();
    starts.sort_unstable_by_key(|(src, dst, _, posted)| (*posted, *src, *dst));
    starts
}

#[test]
fn a_load_has_the_same_flows_on_every_fabric_and_under_every_congestion_control() {
    let scenario = Scenario::from_yaml(
        "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 4, flow_control: pfc}
jobs:
  - name: load
    workload:
      sizes: facebook-hadoop-hpcc
      arrivals: poisson
      load: 0.5
      flows: 80
      pairs: [{from: 0-3, to: 4-7}]
observe: {samples: false}
",
    );
    let paired = starts(&scenario);
    assert_eq!(paired.len(), 80);
    let per_packet = ("endpoint.nic.acknowledge", "per-packet");
    let control = "endpoint.nic.congestion_control";
    let variants: [&[(&str, &str)]; 8] = [
        &[
            ("fabric.load_balancing", "{kind: random-spray}"),
            (
                "endpoint.nic.loss_recovery",
                "{kind: selective-repeat, reorder: 1024}",
            ),
        ],
        &[("fabric.spines", "2")],
        &[("fabric.switching", "{kind: scheduled, cell: none}")],
        &[
            ("fabric.flow_control", "default"),
            (
                "fabric.switching",
                "{kind: credit-based, lane_buffer: 128KiB}",
            ),
        ],
        &[
            ("fabric.flow_control", "default"),
            (
                "fabric.switch.classes",
                "[{class: 0, lossless: true, ecn: hpcc-100g}, {class: 6}]",
            ),
            (control, "{kind: dcqcn, preset: hpcc}"),
        ],
        &[per_packet, (control, "{kind: hpcc, base_round_trip: 5us}")],
        &[per_packet, (control, "swift")],
        &[("seeds.hashing", "9"), ("seeds.placement", "9")],
    ];
    for settings in variants {
        let set = |of: Scenario, (path, value): &(&str, &str)| of.set(path, value);
        let variant = settings.iter().fold(scenario.clone(), set);
        assert_eq!(starts(&variant), paired, "{settings:?}");
    }
    assert_ne!(starts(&scenario.clone().set("seeds.arrivals", 9)), paired);
    assert_ne!(starts(&scenario.clone().seed(9)), paired);
}

#[test]
fn seeds_that_are_set_apart_move_what_they_are_of_alone() {
    let text = "
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 4}
jobs:
  - {name: train, ranks: 6, placement: random, collectives: [{collective: permutation, size: 1MiB}]}
";
    let plan = |settings: &[(&str, u64)]| {
        let scenario = Scenario::from_yaml(text);
        let set = |of: Scenario, (path, seed): &(&str, u64)| of.set(path, seed);
        let scenario = settings.iter().fold(scenario, set);
        scenario.resolve().expect("it holds")
    };
    let digest = |plan: &Plan| {
        let trial = Run::new(plan).run().expect("it runs");
        trial.digest().to_owned()
    };
    let hosts = |plan: &Plan| plan.resolved().jobs[0].hosts.clone();
    // One seed is the short form of all.
    let short = plan(&[("seed", 7)]);
    let apart = plan(&[
        ("seeds.placement", 7),
        ("seeds.hashing", 7),
        ("seeds.arrivals", 7),
    ]);
    assert_eq!(digest(&short), digest(&apart));
    let placed = plan(&[("seed", 7), ("seeds.placement", 8)]);
    assert_ne!(hosts(&placed), hosts(&short));
    for kind in ["seeds.hashing", "seeds.arrivals"] {
        let other = plan(&[("seed", 7), (kind, 8)]);
        assert_eq!(hosts(&other), hosts(&short));
        assert_ne!(digest(&other), digest(&short), "{kind}");
    }
    // The configuration of a trial, read again, is the same trial.
    let again = Scenario::from_yaml(placed.to_yaml()).resolve();
    assert_eq!(digest(&again.expect("it holds")), digest(&placed));
}

#[test]
fn errors_name_the_place_and_the_remedy() {
    let absent = Scenario::read("nowhere.yaml").expect_err("there is no file");
    let text = absent.to_string();
    assert!(text.starts_with("cannot read nowhere.yaml: check the path"));
    let preset = Scenario::preset("quatum").expect_err("there is none");
    let text = preset.to_string();
    assert!(text.contains("there is no preset `quatum`"), "{text}");
    let wrong = Scenario::from_yaml("fabric: {kind: ring}").resolve();
    let wrong = wrong.expect_err("there is no such fabric").to_string();
    assert!(wrong.contains("kind") && wrong.contains("jobs"), "{wrong}");
    assert!(absent.is_of_input() && preset.is_of_input());
}

#[test]
fn a_typed_scenario_has_the_plan_of_its_text() {
    let text = "fabric: {kind: single-switch, hosts: 8}\n\
                jobs: [{collectives: [{collective: permutation, size: 1MiB}]}]\n";
    let scenario = Scenario::from_yaml(text).seed(7);
    let typed = scenario.typed().expect("nothing is wrong with it");
    let (plan, again) = (scenario.resolve(), Scenario::from(&typed).resolve());
    let (plan, again) = (plan.expect("a plan"), again.expect("a plan"));
    assert_eq!(plan.resolved().jobs, again.resolved().jobs);
    assert_eq!(plan.resolved().seed, again.resolved().seed);
}

/// A sweep of a short scenario, with a reading.
fn swept(folder: &Scratch, rest: &str) -> SweepRun {
    fs::write(folder.0.join("scenario.yaml"), SHORT).expect("a file");
    let file = folder.0.join("sweep.yaml");
    fs::write(&file, format!("scenario: scenario.yaml\n{rest}")).expect("a file");
    let run = SweepRun::read(&file).expect("it holds");
    run.folder(folder.0.join("results"))
}

#[test]
fn a_trial_that_fails_for_a_new_reading_is_not_run_again_by_everyone() {
    let folder = Scratch::new("fails-again");
    swept(&folder, "").run().expect("the folder can be written");
    let more = "readings: [{name: computing, query: max(jobs.compute_ns)}]\n";
    let first = swept(&folder, more).begin().expect("it holds");
    let second = swept(&folder, more).begin().expect("it holds");
    let Ok(NextTrial::Order(order)) = first.next() else {
        panic!("it lacks the reading");
    };
    let failed = TrialAnswer::failed("too large");
    first.answer(&order.key, failed).expect("it is noted");
    for session in [second, swept(&folder, more).begin().expect("it holds")] {
        let next = session.next().expect("the ledger is there");
        assert!(matches!(next, NextTrial::None), "{next:?}");
        let results = session.end().expect("the folder can be written");
        assert_eq!(results.failures[0].1, "too large");
    }
    let again = swept(&folder, more).retry_failed(true);
    let results = again.run().expect("the folder can be written");
    assert_eq!((results.failures.len(), results.progress.done), (0, 1));
}

#[test]
fn equal_trials_wait_for_the_one_that_runs_and_no_longer() {
    let folder = Scratch::new("equal");
    let equal = swept(&folder, "variants: {one: {}, same: {}, too: {}}\n");
    let session = equal.begin().expect("it holds");
    let Ok(NextTrial::Order(order)) = session.next() else {
        panic!("none has run");
    };
    for _ in 0..2 {
        let next = session.next().expect("the ledger is there");
        assert!(matches!(next, NextTrial::Later), "{next:?}");
    }
    let answer = order.carry_out(1, &mut ());
    session.answer(&order.key, answer).expect("it is noted");
    let next = session.next().expect("the ledger is there");
    assert!(matches!(next, NextTrial::None), "{next:?}");
    let done = session.progress();
    assert_eq!((done.done, done.kept), (3, 2));
}

#[test]
fn the_examples_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let examples = [
        ("run_scenario", "digest "),
        ("build_scenario", "8 leaves: Some("),
        ("typed_scenario", "8 leaves: Some("),
        ("stream_rows", "flows the slowest took"),
        ("cancel", "cancelled: true"),
        ("grid", "random-spray, 4MiB: "),
    ];
    // This test is <target>/<profile>/deps/<name>: examples lie beside `deps`.
    let test = std::env::current_exe().expect("a running test has a path");
    let folder = test.ancestors().nth(2).expect("cargo puts tests there");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--workspace", "--examples"])
        .args(["--profile", "test", "--target-dir"])
        .arg(folder.parent().expect("a profile is in a target folder"))
        .current_dir(&root)
        .status();
    assert!(built.expect("cargo runs").success());
    for (example, expected) in examples {
        let program = folder.join("examples").join(example);
        let output = Command::new(program).current_dir(&root).output();
        let output = output.expect("it was built");
        let text = String::from_utf8_lossy(&output.stdout);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{example}: {error}");
        assert!(text.contains(expected), "{example}: {text}");
        let file = format!("{}/examples/{example}.rs", env!("CARGO_MANIFEST_DIR"));
        let lines = fs::read_to_string(file)
            .expect("it is there")
            .lines()
            .count();
        assert!(lines <= 60, "{example} has {lines} lines");
    }
}

#[test]
fn the_level_is_chosen_by_what_packets_may_cost() {
    let auto = |text: &str, rest: &str| plan(&format!("{text}\nengine: {{fidelity: auto{rest}}}"));
    let level = |plan: &Plan| format!("{:?}", plan.resolved().fidelity);
    let choice = |plan: &Plan| plan.choice().expect("it was chosen").to_owned();
    let short = auto(SHORT, "");
    assert_eq!(level(&short), "Packet");
    assert!(choice(&short).contains("auto` is packets: "), "{short:?}");
    // Of 16 KiB messages flow level has as much to do as packets; of 1 MiB it has less.
    assert_eq!(level(&auto(LONG, "")), "Packet");
    let long = auto(&LONG.replace("256KiB", "16MiB"), "");
    assert_eq!(level(&long), "Flow");
    assert!(choice(&long).contains("more than `engine.packets_time: 600s`"));
    // What is too much with packets must be less with flows.
    let tight = auto(SHORT, ", packets_memory: 1MB");
    assert_eq!(level(&tight), "Packet");
    assert!(choice(&tight).contains(": flows would take "), "{tight:?}");
    let brief = auto(SHORT, ", packets_time: 1us");
    assert_eq!(level(&brief), "Flow");
    // What flow level refuses is simulated with packets, whatever they cost.
    let refused = format!("{LONG}\nobserve: {{queue_changes: ['leaf0:0']}}");
    let refused = auto(&refused, "");
    assert_eq!(level(&refused), "Packet");
    assert!(choice(&refused).contains("cannot be simulated at flow level"));
    let trial = Run::new(&brief).run().expect("it runs");
    let mut notes = trial.summary().notes.iter();
    assert!(notes.any(|note| note.text.contains("auto` is flows: ")));
    assert_eq!(plan(SHORT).choice(), None);
}
