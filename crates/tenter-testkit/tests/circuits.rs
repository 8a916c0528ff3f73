//! Circuits that change under load, again and again: nothing is lost that is not counted, and where
//! they are drained beneath lossless classes nothing is lost at all.

use tenter::resolve::{Format, load};
use tenter_language::units::Time;
use tenter_sim::plan::{OnChange, Plan};
use tenter_testkit::{Engine, Trial, random_changes};

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

/// A first-and-only packet of 4,096 bytes and its preamble and gap, 4,174 + 20 bytes at 100 Gb/s.
const FRAME_TIME: Time = Time::from_ps(4_194 * 80);

/// Two leaves that two circuits of one optical switch join, which at some instant are crossed; one
/// host sends twelve frames to the other. All cables and fibres are one frame time long.
fn crossing(changes: &str, balancing: &str) -> Plan {
    let text = format!(
        "
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 1
  spines: 1
  links_per_pair: 2
  host_rate: 100Gbps
  uplink_rate: 100Gbps
  host_delay: {FRAME_TIME}
  fabric_delay: {FRAME_TIME}
  switch: {{forwarding: store-and-forward, pipeline_latency: 0ns, queue_capacity: none}}
  load_balancing: {{kind: {balancing}}}
  circuits: {{radix: 4, delay: 0ns, reconfiguration: 10us, changes: {changes}}}
endpoint:
  nic: {{mtu: 4096, message_size: 4096B}}
jobs:
  - collectives: [{{collective: incast, root: 1, size: {}B}}]
observe: {{samples: false}}
",
        2 * 12 * 4_096
    );
    match load(&text, "crossing.yaml", Format::Yaml, &[], None) {
        Ok(loaded) => loaded.plan,
        Err(errors) => panic!("{}", errors.render()),
    }
}

/// Frames start at the first leaf at 2, 3, … 13 frame times. At 5 the change is announced, before
/// the fourth: three are under way, of which the last arrives one frame time and two fibres after
/// it started. The bound for that is the same from the announcement on, and a picosecond for
/// fractions. Then it is dark for 10 us, and the fourth frame starts. Static routes, by a hash and
/// by destination, change with the circuits and never else.
#[test]
fn a_drained_change_costs_the_drain_and_the_dark() {
    let at = FRAME_TIME * 5;
    let change = format!("[{{at: {at}, circuits: [{{switch: 0, pairs: [[0, 3], [1, 2]]}}]}}]");
    for balancing in ["ecmp", "destination"] {
        let (still, crossed) = (crossing("[]", balancing), crossing(&change, balancing));
        for engine in Engine::all(1) {
            let ended = |plan: &Plan| {
                let trial = engine.run(plan).expect("the scenario runs");
                let totals = &trial.outcome.summary.totals;
                assert_eq!(totals.lost_frames + totals.retransmitted_frames, 0);
                let collective = &trial.outcome.collectives[0];
                collective.completion_time.expect("the job is done")
            };
            let more = FRAME_TIME * 3 + Time::from_ps(1) + Time::from_us(10);
            assert_eq!(
                ended(&crossed),
                ended(&still) + more,
                "{balancing}, {engine}"
            );
        }
    }
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
