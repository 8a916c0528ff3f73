//! Circuits that follow what jobs send.

use tenter::resolve::{Format, load};
use tenter_language::units::Time;
use tenter_sim::plan::Plan;
use tenter_testkit::{Engine, Trial};

/// A tree of four pods with half the links to the cores, and two jobs whose hosts each send
/// to the next pod and back; the second starts when the first has long ended.
fn plan(settings: &[(&str, &str)]) -> Plan {
    let shifted = |by: u32| {
        let sends = (0..32).map(|host| format!("{host} {} 4194304", (host + by) % 32));
        sends.collect::<Vec<_>>().join("; ")
    };
    let text = format!(
        "
fabric:
  kind: fat-tree
  hosts_per_leaf: 4
  leaves_per_pod: 2
  aggs_per_pod: 2
  links_per_leaf_agg: 2
  host_rate: 100Gbps
  leaf_rate: 100Gbps
  core: {{pods: 4, cores_per_agg: 4, rate: 100Gbps, taper: 2}}
  load_balancing: {{kind: random-spray}}
  circuits: {{radix: 8, steering: {{}}}}
endpoint:
  nic: {{loss_recovery: {{kind: selective-repeat, reorder: 1024}}}}
jobs:
  - name: near
    pattern: {{kind: matrix, steps: 1, sends: {}}}
  - name: far
    start: 10ms
    pattern: {{kind: matrix, steps: 1, sends: {}}}
observe: {{samples: false}}
",
        shifted(8),
        shifted(16)
    );
    let overrides: Vec<String> = settings
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    match load(&text, "steering.yaml", Format::Yaml, &overrides, None) {
        Ok(loaded) => loaded.plan,
        Err(errors) => panic!("{}", errors.render()),
    }
}

fn run(settings: &[(&str, &str)]) -> Trial {
    let plan = plan(settings);
    let [reference, _, two, ..] = Engine::all(1).map(|engine| {
        let trial = engine.run(&plan);
        trial.unwrap_or_else(|error| panic!("{engine}: {error}"))
    });
    let ends = |trial: &Trial| (trial.outcome.digest, trial.outcome.counts.clone());
    assert_eq!(ends(&reference), ends(&two));
    two
}

fn times(trial: &Trial) -> Vec<Time> {
    let jobs = trial.outcome.jobs.iter();
    jobs.map(|job| job.jct.expect("it ends")).collect()
}

/// Each job gets circuits of its own when it starts, and each is faster than over the tree alone.
#[test]
fn circuits_follow_each_job() {
    let steered = run(&[]);
    let rows = &steered.outcome.counts.steering;
    assert_eq!(rows.len(), 2, "{rows:#?}");
    for (row, start) in rows.iter().zip([Time::ZERO, Time::from_us(10_000)]) {
        assert_eq!((row.time, row.jobs, row.changed), (start, 1, true));
        assert!(row.busiest_after < row.busiest_before, "{row:?}");
        assert!(row.direct_circuits > 0);
    }
    let still = times(&run(&[("fabric.circuits.steering", "none")]));
    for (steered, still) in times(&steered).into_iter().zip(still) {
        assert!(steered.ps() * 10 < still.ps() * 9, "{steered} of {still}");
    }
}

/// Counters show what jobs send when they have sent some of it.
#[test]
fn counters_show_what_jobs_send() {
    let demand = ("fabric.circuits.steering.demand", "counters");
    let interval = ("fabric.circuits.steering.interval", "100us");
    let steered = run(&[demand, interval]);
    let rows = &steered.outcome.counts.steering;
    assert_eq!(rows[0].time, Time::from_us(100));
    assert!(rows[0].changed, "{:?}", rows[0]);
    let changed = rows.iter().filter(|row| row.changed).map(|row| row.time);
    let of_second = |time: &Time| *time > Time::from_us(10_000);
    assert_eq!(changed.clone().find(of_second), Some(Time::from_us(10_100)));
    // Nobody looks where nothing moves.
    assert!(rows.len() < 40, "{} looks", rows.len());
}

/// A circuit change that is not worth its while is not made.
#[test]
fn a_threshold_holds_circuits() {
    let steered = run(&[("fabric.circuits.steering.threshold", "90")]);
    assert!(
        steered
            .outcome
            .counts
            .steering
            .iter()
            .all(|row| !row.changed)
    );
    let mut kept = steered.outcome.counts.circuits.iter();
    assert!(kept.all(|row| row.time == Time::ZERO));
}

/// All that two leaves send each other fits the tree and not one circuit: what finds the circuit
/// full goes through the tree.
#[test]
fn circuits_spill_into_the_tree() {
    let circuits = "[{switch: 0, pairs: [[0, 1], [2, 3]]}]";
    let with = |spill| {
        let settings = [
            ("fabric.circuits.steering", "none"),
            ("fabric.circuits.cabling", "straight"),
            ("fabric.core.taper", "1"),
            ("fabric.circuits.initial", circuits),
            ("fabric.circuits.spill", spill),
        ];
        times(&run(&settings))[0]
    };
    let (direct, both) = (with("none"), with("2us"));
    assert!(both.ps() * 2 < direct.ps(), "{both} of {direct}");
}
