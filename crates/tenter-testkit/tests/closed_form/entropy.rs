//! NICs that change the source port: what one queue pair gets of several paths.

use crate::trial::Trial;

/// A sender at 400G and four paths of 100G.
const FOUR_PATHS: &str = "
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 1
  spines: 4
  host_rate: 400Gbps
  uplink_rate: 100Gbps
endpoint:
  nic:
    loss_recovery: {kind: selective-repeat, reorder: 4096}
jobs:
  - collectives: [{collective: gather, root: 1, size: 32MiB}]
observe: {samples: false}
";

/// Frames that the leaf of the sender sent to each spine.
fn shares(trial: &Trial) -> Vec<u64> {
    let sent = |spine: u32| trial.port("leaf0", &format!("spine{spine}")).tx_frames;
    (0..4).map(sent).collect()
}

/// What packets take at 100G, with the 4,178 bytes of each on the wire.
fn slow_line(packets: u64) -> f64 {
    packets as f64 * 4_178.0 * 80.0
}

#[test]
fn a_queue_pair_with_one_port_has_one_path() {
    let trial = Trial::run(FOUR_PATHS, &[]);
    let mut shares = shares(&trial);
    shares.sort_unstable();
    assert_eq!(shares, [0, 0, 0, 4_096]);
    let time = trial.completion(0) as f64 / slow_line(4_096);
    assert!((1.0..1.01).contains(&time), "{time}");
}

#[test]
fn a_queue_pair_with_many_ports_has_all_paths() {
    let set = ["endpoint.nic.entropy={values: 16384}"];
    let trial = Trial::run(FOUR_PATHS, &set);
    let shares = shares(&trial);
    // 1,024 of 4,096 on each path, give or take 28: the fullest one decides.
    assert_eq!(shares.iter().sum::<u64>(), 4_096, "{shares:?}");
    assert!(shares.iter().all(|&sent| sent.abs_diff(1_024) < 140));
    let fullest = *shares.iter().max().expect("there are four");
    let time = trial.completion(0) as f64 / slow_line(fullest);
    assert!((0.98..1.02).contains(&time), "{time} of {shares:?}");
}

#[test]
fn few_ports_reach_few_paths() {
    // Two ports reach one path or two, each with about half of the packets.
    let set = ["endpoint.nic.entropy={values: 2}"];
    for seed in 1..=8 {
        let seed = format!("seed={seed}");
        let trial = Trial::run(FOUR_PATHS, &[set[0], &*seed]);
        let used: Vec<u64> = shares(&trial)
            .into_iter()
            .filter(|&sent| sent > 0)
            .collect();
        assert!(used.len() <= 2, "{used:?}");
        assert!(
            used.len() == 1 || used.iter().all(|&sent| sent.abs_diff(2_048) < 200),
            "{used:?}"
        );
    }
}

#[test]
fn packets_of_a_run_stay_together() {
    // One run holds all packets, so they have one path.
    let set = ["endpoint.nic.entropy={values: 16384, packets: 4096}"];
    let trial = Trial::run(FOUR_PATHS, &set);
    assert!(shares(&trial).contains(&4_096));
    assert_eq!(trial.outcome.summary.totals.out_of_order_frames, 0);
}
