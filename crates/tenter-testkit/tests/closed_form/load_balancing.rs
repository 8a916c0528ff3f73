//! Load balancers: which uplinks carry how much.

use crate::trial::Trial;

/// One NIC sends 4,096 frames to a NIC on another leaf, over 8 spines.
const ONE_FLOW: &str = "
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 1
  spines: 8
  load_balancing: {kind: ecmp}
endpoint:
  nic: {loss_recovery: {kind: selective-repeat, reorder: 1000, window: 8192}}
jobs:
  - ranks: 2
    collectives: [{collective: incast, root: 0, size: 32MiB}]
observe: {samples: false}
";

const FRAMES: u64 = 4_096;

/// Frames on each uplink of a leaf.
fn uplinks(trial: &Trial, leaf: &str) -> Vec<u64> {
    let ports = trial.outcome.counts.ports.iter();
    let up = ports.filter(|port| port.node_name == leaf && port.peer_name.starts_with("spine"));
    up.map(|port| port.tx_frames).collect()
}

fn one_flow(kind: &str) -> Vec<u64> {
    let set = format!("fabric.load_balancing={kind}");
    let trial = Trial::run(ONE_FLOW, &[&set]);
    let frames = uplinks(&trial, "leaf1");
    assert_eq!(frames.iter().sum::<u64>(), FRAMES, "{kind}");
    frames
}

#[test]
fn random_spray_gives_each_uplink_an_eighth() {
    // A binomial count of 4,096 with 1/8 has a mean of 512 and a standard deviation of 21.
    for frames in one_flow("{kind: random-spray}") {
        assert!((512 - 105..=512 + 105).contains(&frames), "{frames}");
    }
}

#[test]
fn round_robin_differs_by_one_frame_at_most() {
    assert_eq!(one_flow("{kind: round-robin-spray}"), [512; 8]);
}

#[test]
fn an_idle_switch_sprays_by_chance() {
    // A frame on the wire is less than a level, so all uplinks are equal whenever they are judged.
    for frames in one_flow("{kind: adaptive, refresh: 100us}") {
        assert!((512 - 105..=512 + 105).contains(&frames), "{frames}");
    }
}

#[test]
fn a_flow_without_gaps_keeps_its_link_and_one_of_gaps_uses_all() {
    let links = |kind| one_flow(kind).iter().filter(|frames| **frames > 0).count();
    // Frames follow each other every 83.56 ns.
    assert_eq!(links("{kind: flowlet, gap: 84ns}"), 1);
    assert_eq!(links("{kind: flowlet, gap: 83ns}"), 8);
}

/// In a ring of 16 NICs on two leaves in turn, all eight of a leaf send to the other one at once,
/// over 8 uplinks as fast as theirs.
const EIGHT_FLOWS: &str = "
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 8
  spines: 8
  switch: {forwarding: store-and-forward}
  load_balancing: {kind: adaptive, refresh: 0ns, step: 40ns}
endpoint:
  nic: {loss_recovery: {kind: selective-repeat, reorder: 1000}}
jobs:
  - ranks: [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]
    collectives: [{collective: send-recv, size: 4MiB}]
observe: {samples: false}
";

#[test]
fn exact_levels_leave_no_queue_at_the_uplinks() {
    // Frames come eight at a time; each sees the ones before it, and takes an uplink of its own.
    let trial = Trial::run(EIGHT_FLOWS, &[]);
    for leaf in ["leaf0", "leaf1"] {
        let ports = trial.outcome.counts.ports.iter();
        let up = ports.filter(|port| port.node_name == leaf && port.peer_name.starts_with("spine"));
        for port in up {
            // An acknowledgement may be on the wire when the data comes, and the other way round.
            assert!(
                port.queue_high_water_bytes <= 2 * 4_174,
                "{leaf} to {}: {} bytes waited",
                port.peer_name,
                port.queue_high_water_bytes
            );
        }
    }
    let spray = Trial::run(EIGHT_FLOWS, &["fabric.load_balancing={kind: random-spray}"]);
    assert!(trial.completion(0) < spray.completion(0));
}

#[test]
fn weighted_ecmp_goes_by_the_rates() {
    // 4,000 flows over an uplink of 100G and one of 300G: 1,000 and 3,000, with a standard
    // deviation of 27; each flow is one frame.
    let scenario = "
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 1
  spines: 2
  uplink_rate: 300Gbps
  overrides: [{leaf: 1, spine: 0, rate: 100Gbps}]
  load_balancing: {kind: weighted-ecmp}
jobs:
  - ranks: 2
    queue_pairs: 4000
    collectives: [{collective: incast, root: 0, size: 16MB}]
observe: {samples: false}
";
    for seeding in ["mixed", "raw"] {
        let set = format!("fabric.load_balancing.seeding={seeding}");
        let frames = uplinks(&Trial::run(scenario, &[&set]), "leaf1");
        assert_eq!(frames.iter().sum::<u64>(), 4_000);
        assert!(
            (1_000 - 137..=1_000 + 137).contains(&frames[0]),
            "{seeding}: {frames:?}"
        );
    }
}
