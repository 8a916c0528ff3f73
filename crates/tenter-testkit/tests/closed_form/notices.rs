//! Notices of long queues to hosts, which then give flows other source ports.

use tenter_fabric::net::{Event, EventKind, PacketKind};
use tenter_language::units::Time;

use crate::trial::{Trial, events, plan};

/// Two flows of 8 MB from one leaf to another, with two ways.
const TWO_FLOWS: &str = "
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 2
  spines: 2
  host_delay: 25ns
  switch: {pipeline_latency: 600ns}
endpoint: {nic: {loss_recovery: {kind: selective-repeat, reorder: 4096}}}
jobs:
  - {name: a, ranks: [0, 2], collectives: [{collective: gather, root: 1, size: 16MB}]}
  - {name: b, ranks: [1, 3], collectives: [{collective: gather, root: 1, size: 16MB}]}
observe: {samples: false}
";
const HOST: &str = "fabric.load_balancing={kind: telemetry, notify: host, hold_down: 20us}";
/// 8 MB at 400 Gbit/s.
const ALONE: u64 = 160_000_000;

/// Seeds with which both flows have the same way.
fn colliding() -> impl Iterator<Item = String> {
    let seeds = (0..20).map(|seed| format!("seed={seed}"));
    seeds.filter(|seed| slower(&Trial::run(TWO_FLOWS, &[seed])) > 2 * ALONE)
}

fn slower(trial: &Trial) -> u64 {
    let jobs = trial.outcome.jobs.iter();
    let times = jobs.map(|job| job.jct.expect("it has ended").ps());
    times.max().expect("there are two")
}

#[test]
fn two_flows_on_one_way_get_two() {
    let mut seen = 0;
    for seed in colliding() {
        let trial = Trial::run(TWO_FLOWS, &[&seed, HOST]);
        let totals = &trial.outcome.summary.totals;
        assert!(totals.flow_moves > 0 && totals.notice_frames > 0, "{seed}");
        // Half of the moves lead back onto the same way, and the next comes after the hold-down.
        assert!(
            slower(&trial) < 2 * ALONE * 3 / 4,
            "{seed}: {}",
            slower(&trial)
        );
        seen += 1;
    }
    assert!((4..=16).contains(&seen), "{seen} of 20 collide");
}

#[test]
fn a_flow_has_another_hash_from_the_response_on_and_no_sooner() {
    let seed = colliding().next().expect("half of the seeds collide");
    let plan = plan(TWO_FLOWS, &[&seed, HOST]);
    let events = events(&plan);
    let of_notices = |kind: EventKind| {
        let notices = events.iter().filter(move |event| event.kind == kind);
        notices.filter(|event| event.packet.kind == PacketKind::Reroute)
    };
    // The leaf sends it down the host's link: 84 bytes at 20 ps each, half of the switch's
    // pipeline, and 25 ns of cable.
    let sent = of_notices(EventKind::Sent).next().expect("there is one");
    let told = of_notices(EventKind::Accepted).next().expect("it arrives");
    assert_eq!(told.at, sent.at + Time::from_ps(84 * 20 + 300_000 + 25_000));
    let from_told = |event: &&Event| {
        let is_data = event.kind == EventKind::Sent && event.packet.kind.is_data();
        is_data && event.node == told.node
    };
    let old = told.packet.sequence;
    let due = told.at + Time::from_ps(5_000_000);
    let data: Vec<&Event> = events.iter().filter(from_told).collect();
    let first = data.iter().find(|event| event.packet.hash != old);
    let first = first.expect("the flow moves").at;
    let last = data.iter().filter(|event| event.packet.hash == old);
    let last = last.map(|event| event.at).max().expect("it began so");
    assert!(last < due && due <= first, "{last}, {due}, {first}");
    // Packets leave back to back: the first that may is the first that does.
    assert!(first - last <= Time::from_ps(4_194 * 20), "{last}, {first}");
}
