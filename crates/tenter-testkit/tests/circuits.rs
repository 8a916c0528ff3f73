//! Circuits that change under load, again and again: nothing is lost that is not counted, and where
//! they are drained beneath lossless classes nothing is lost at all.

use tenter_scenario::{Format, OnChange, Plan, load};
use tenter_testkit::{Engine, Trial, random_changes};
use tenter_units::Time;

/// Changes of circuits in each trial.
const CHANGES: u64 = 10_000;
/// From one to the next on average.
const APART: Time = Time::from_ns(6_000);

/// A tree of two pods with optical switches of eight ports, slow enough that it is busy for as long
/// as circuits change.
fn plan(on_change: OnChange) -> Plan {
    let text = "
fabric:
  kind: fat-tree
  hosts_per_leaf: 2
  leaves_per_pod: 2
  aggs_per_pod: 2
  links_per_leaf_agg: 2
  host_rate: 40Gbps
  leaf_rate: 40Gbps
  core: {pods: 2, cores_per_agg: 1, rate: 40Gbps}
  flow_control: pfc
  load_balancing: {kind: random-spray}
  circuits: {radix: 8, reconfiguration: 2us}
endpoint:
  nic: {loss_recovery: {kind: selective-repeat, reorder: 1024}, retransmission_timeout: 1ms, retry_count: 255}
jobs:
  - collectives: [{collective: all-to-all, algorithm: parallel, size: 200MiB}]
observe: {samples: false}
";
    let mut plan = match load(text, "circuits.yaml", Format::Yaml, &[], None) {
        Ok(loaded) => loaded.plan,
        Err(errors) => panic!("{}", errors.render()),
    };
    let changes = random_changes(&plan.topology, 1, CHANGES, |stream| {
        Time::from_ps(stream.below(CHANGES * APART.ps()))
    });
    let circuits = plan.circuits.as_mut().expect("it has optical switches");
    circuits.changes = changes;
    circuits.on_change = on_change;
    if on_change == OnChange::Drain {
        // Frames come late and out of order, and all of them come.
        plan.nic.retransmission_timeout = Time::from_us(1_000_000);
    }
    plan
}

fn run(on_change: OnChange) -> (Plan, Trial) {
    let plan = plan(on_change);
    let [_, windowed, ..] = Engine::all(1);
    // That frames are conserved is checked when a circuit ends, and at the end.
    let trial = windowed.run(&plan).expect("frames are conserved");
    let last = trial.outcome.counts.circuits.last().map(|row| row.time);
    let collective = &trial.outcome.collectives[0];
    let Some(busy) = collective.completion_time else {
        let summary = &trial.outcome.summary;
        let failure = &trial.outcome.jobs[0].failure;
        panic!("{:?}, {failure:?}, {:?}", summary.stopped, summary.totals);
    };
    assert!(
        last.is_some_and(|last| last < busy + Time::from_us(1_000)),
        "circuits changed until {last:?}, and the job was done after {busy}"
    );
    (plan, trial)
}

#[test]
fn ten_thousand_changes_lose_nothing_where_circuits_are_drained() {
    let (plan, trial) = run(OnChange::Drain);
    let totals = &trial.outcome.summary.totals;
    let changes = plan.circuits.map_or(0, |of| of.changes.len());
    assert!(changes > 9_000, "{changes} changes");
    // Ports that lost their circuit or got one, those of the beginning aside.
    let rows = trial.outcome.counts.circuits.len();
    assert!(rows > 4 * changes, "{rows} rows of {changes} changes");
    assert!(totals.xoff_frames > 1_000, "{totals:?}");
    let lost = (totals.lost_frames, totals.unsent_frames);
    assert_eq!((lost, totals.dropped_frames), ((0, 0), 0), "{totals:?}");
    assert_eq!((totals.timeouts, trial.outcome.summary.complete), (0, true));
}

#[test]
fn ten_thousand_changes_lose_what_is_counted_where_the_light_goes_at_once() {
    let (_, trial) = run(OnChange::Lose);
    let totals = &trial.outcome.summary.totals;
    assert!(totals.lost_frames > 1_000, "{totals:?}");
    let sent_again = totals.retransmitted_frames;
    assert!(sent_again > 0 && trial.outcome.summary.complete);
}
