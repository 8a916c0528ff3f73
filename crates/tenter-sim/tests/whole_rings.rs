//! Rings that are run as a whole at flow level, against the same transfer by transfer.

#![allow(missing_docs, reason = "tests")]

use tenter::resolve::{Format, load};
use tenter_results::{
    CollectiveRow, Control, FlowRow, Progress, SampleRow, Sink, SinkError, StopKind,
};
use tenter_sim::plan::{Fidelity, Plan};
use tenter_sim::{FlowDriver, Options, Outcome, Simulation, run};

fn plan(text: &str, settings: &[&str]) -> Plan {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match load(text, "test", Format::Yaml, &settings, None) {
        Ok(loaded) => Plan {
            fidelity: Fidelity::Flow,
            ..loaded.plan
        },
        Err(problems) => panic!("{}", problems.render()),
    }
}

fn outcome(plan: &Plan) -> Outcome {
    run(plan, Options::default(), &mut ()).unwrap_or_else(|error| panic!("{error}"))
}

fn jct(outcome: &Outcome) -> f64 {
    outcome.jobs[0].jct.expect("it ends").ps() as f64
}

fn warns(outcome: &Outcome, of: &str) -> bool {
    let mut warnings = outcome.summary.notes.warnings();
    warnings.any(|warning| warning.contains(of))
}

/// Transfer by transfer, and as a whole.
fn both(plan: &Plan) -> [Outcome; 2] {
    [u64::MAX, 0].map(|ring_transfers| {
        outcome(&Plan {
            ring_transfers,
            ..plan.clone()
        })
    })
}

/// How much later the ends of rings are that are run as a whole, in percent.
fn error(plan: &Plan) -> f64 {
    let [one_by_one, whole] = both(plan);
    assert_eq!(
        [&one_by_one, &whole].map(|of| warns(of, "`engine.ring_transfers`")),
        [false, true]
    );
    // Nothing is lost of what they move.
    let moved = |of: &Outcome| (of.jobs[0].rx_bytes, of.collectives[0].flows);
    assert_eq!(moved(&one_by_one), moved(&whole));
    100.0 * (jct(&whole) / jct(&one_by_one) - 1.0)
}

const TREE: &str = "
fabric:
  kind: fat-tree
  hosts_per_leaf: 4
  leaves_per_pod: 4
  aggs_per_pod: 4
  core: {pods: 4, cores_per_agg: 4}
endpoint:
  host: {step_delay: 300ns}
jobs:
  - name: job
    collectives:
      - {collective: all-reduce, algorithm: ring, size: 8MiB}
      - {collective: all-reduce, algorithm: hierarchical, npus_per_host: 4, size: 4MiB}
      - {collective: all-gather, algorithm: ring, size: 64KiB}
";

#[test]
fn rings_as_a_whole_are_those_one_by_one() {
    // Rings over the servers of two leaves meet where their hashes are equal.
    let alone = "jobs[0].collectives[1]={collective: reduce-scatter, algorithm: ring, size: 4MiB}";
    compare_rings(&plan(TREE, &[alone]));
    let switch = "fabric={kind: single-switch, hosts: 64}";
    compare_rings(&plan(TREE, &[switch]));
}

fn compare_rings(plan: &Plan) {
    let whole = outcome(plan);
    let driver = FlowDriver::new(plan).expect("it can be built").one_by_one();
    let mut one_by_one = Simulation::with_driver(driver, plan, 1);
    let one_by_one = one_by_one.run(&mut ()).expect("it runs");
    let visits = |of: &Outcome| of.summary.engine.node_visits;
    assert!(visits(&whole) < visits(&one_by_one) / 100);
    for (whole, single) in whole.collectives.iter().zip(&one_by_one.collectives) {
        let of = |row: &CollectiveRow| {
            let times = [row.start, row.end.expect("it ends"), row.full_mesh_time];
            let flows = [
                row.fct_min,
                row.fct_p50,
                row.fct_p99,
                row.fct_p999,
                row.fct_max,
            ];
            (times, flows, row.flows, row.tx_frames, row.rx_payload_bytes)
        };
        assert_eq!(of(whole), of(single));
    }
    // Parts of frames at ports of switches are rounded each time that a collective ends.
    let of_nics = |of: &Outcome| -> Vec<[u64; 3]> {
        let nics = of.counts.ports.iter().take(64);
        nics.map(|port| [port.tx_frames, port.tx_bytes, port.rx_bytes])
            .collect()
    };
    assert_eq!(of_nics(&whole), of_nics(&one_by_one));
    assert_eq!(whole.jobs[0].rx_bytes, one_by_one.jobs[0].rx_bytes);
}

#[test]
fn rings_that_share_links_by_chance_meet_in_the_mean() {
    for size in ["256KiB", "4MiB", "64MiB"] {
        for placement in ["packed", "random"] {
            let ring = "collective: all-reduce, algorithm: hierarchical, npus_per_host: 4";
            let job =
                format!("jobs[0].collectives=[{{{ring}, size: {size}}}, {{{ring}, size: 1MiB}}]");
            let placement = format!("jobs[0].placement={placement}");
            let found = error(&plan(TREE, &[&job, &placement]));
            assert!(found.abs() < 6.0, "{size}, {placement}: {found}");
        }
    }
}

const LEAVES: &str = "
fabric:
  kind: leaf-spine
  leaves: 16
  hosts_per_leaf: 8
  spines: 1
  flow_control: pfc
jobs:
  - name: job
    collectives: [{collective: all-reduce, algorithm: hierarchical, npus_per_host: 8, size: 4MiB}]
";

#[test]
fn ranks_that_stay_in_step_meet_in_every_step() {
    for size in ["1MiB", "4MiB", "16MiB", "64MiB"] {
        let size = format!("jobs[0].collectives[0].size={size}");
        let found = error(&plan(LEAVES, &[&size]));
        assert!(found.abs() < 1e-6, "{size}: {found}");
    }
}

#[test]
fn iterations_of_rings_take_the_same_time() {
    let plan = plan(LEAVES, &["jobs[0].iterations=3", "fabric.spines=4"]);
    let [_, whole] = both(&plan);
    let times = |row: &CollectiveRow| row.end.expect("it ends").ps() - row.start.ps();
    let times: Vec<_> = whole.collectives.iter().map(times).collect();
    assert_eq!(times, [times[0]; 3]);
    let ends = |row: &CollectiveRow| row.fct_max;
    let ends: Vec<_> = whole.collectives.iter().map(ends).collect();
    assert_eq!(ends, [ends[0]; 3]);
}

#[test]
fn rings_are_run_as_a_whole_where_a_collective_has_more_transfers_than_one_by_one() {
    // Twice 15 steps over the leaves for each rank; what is within a leaf is within its server.
    let transfers = 128 * 2 * 15;
    let plan = plan(LEAVES, &["jobs[0].iterations=2"]);
    let warns = [transfers - 1, transfers].map(|ring_transfers| {
        let plan = Plan {
            ring_transfers,
            ..plan.clone()
        };
        warns(&outcome(&plan), "`engine.ring_transfers`")
    });
    assert_eq!(warns, [true, false]);
}

/// How much later the ends of jobs are whose rings are run as a whole, in percent.
fn errors(plan: &Plan) -> Vec<f64> {
    let [one_by_one, whole] = both(plan);
    assert!(warns(&whole, "`engine.ring_transfers`"));
    assert!(whole.summary.engine.node_visits < one_by_one.summary.engine.node_visits / 100);
    let pairs = whole.jobs.iter().zip(&one_by_one.jobs);
    let error = pairs.map(|(whole, single)| {
        assert_eq!(whole.rx_bytes, single.rx_bytes);
        let [whole, single] = [whole, single].map(|job| job.jct.expect("it ends").ps() as f64);
        100.0 * (whole / single - 1.0)
    });
    error.collect()
}

#[test]
fn rings_of_several_jobs_share_links() {
    let job = |name, size, more| {
        format!(
            "{{name: {name}, ranks: 32, placement: random, {more}
              collectives: [{{collective: all-reduce, algorithm: ring, size: {size}}}]}}"
        )
    };
    for sizes in [["16MiB", "16MiB"], ["16MiB", "64MiB"]] {
        for spines in ["fabric.spines=1", "fabric.spines=4"] {
            let [first, second] = sizes;
            let jobs = format!("jobs=[{}, {}]", job("a", first, ""), job("b", second, ""));
            let found = errors(&plan(LEAVES, &[&jobs, spines]));
            assert!(found.iter().all(|error| error.abs() < 1.0), "{found:?}");
        }
    }
    // The second comes while the first is under way, and goes on when it is over.
    let later = job("b", "16MiB", "start: 1ms, ");
    let jobs = format!("jobs=[{}, {later}]", job("a", "16MiB", "iterations: 3, "));
    let found = errors(&plan(LEAVES, &[&jobs]));
    assert!(found.iter().all(|error| error.abs() < 1.0), "{found:?}");
}

/// Answers the first question whether to go on, and says yes to all others.
struct Answers(Option<Result<Control, SinkError>>);

impl Sink for Answers {
    fn flows(&mut self, _: &[FlowRow]) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, _: &[SampleRow]) -> Result<(), SinkError> {
        Ok(())
    }

    fn progress(&mut self, _: &Progress) -> Result<Control, SinkError> {
        self.0.take().unwrap_or(Ok(Control::Continue))
    }
}

#[test]
fn rings_stop_where_the_sink_says_so() {
    let shared = Plan {
        ring_transfers: 0,
        ..plan(LEAVES, &[])
    };
    // A second job starts at the same time.
    let job = |name, ranks| {
        let ring = "collectives: [{collective: all-reduce, algorithm: ring, size: 3840KiB}]";
        format!("{{name: {name}, ranks: {ranks}, free_hosts: true, {ring}}}")
    };
    let jobs = format!("jobs=[{}, {}]", job("large", 120), job("small", 8));
    let alone = plan(LEAVES, &[&jobs]);
    for plan in [shared, alone] {
        let mut sink = Answers(Some(Ok(Control::Stop)));
        let stopped = run(&plan, Options::default(), &mut sink).expect("it is stopped");
        assert_eq!(stopped.summary.stopped_by, Some(StopKind::User));
        let why = stopped.summary.stopped.expect("it says why");
        assert_eq!(why, "stopped by you at 0s");
        assert!(stopped.jobs.iter().all(|job| job.jct.is_none()));
        let why = stopped.jobs[0].failure.clone().expect("it says why");
        assert_eq!(why, "stopped by you at 0s; its rings were not done");

        let mut sink = Answers(Some(Err(SinkError("full".to_owned()))));
        let failed = run(&plan, Options::default(), &mut sink);
        assert_eq!(failed.expect_err("it fails").to_string(), "full");
    }
}

#[test]
fn rings_as_a_whole_have_no_queues() {
    let plan = plan(LEAVES, &["fabric.flow_control=none"]);
    let holds = both(&plan).map(|of| warns(&of, "queues hold whatever comes"));
    assert_eq!(holds, [true, false]);
}
