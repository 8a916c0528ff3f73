//! NICs that change the source port: what one queue pair gets of several paths, and what it makes
//! of what it hears of them.

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

/// A permutation over eight spines, one of them at a quarter of its rate, by NICs that take packets
/// in any order and answer each; queues of 5 to 20 packets are marked.
const ONE_SLOW: &str = "
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 8
  spines: 8
  host_rate: 100Gbps
  uplink_rate: 100Gbps
  switch: {classes: [{class: 0, ecn: {kmin: 20kB, kmax: 80kB, pmax: 1}}]}
endpoint:
  nic:
    acknowledge: per-packet
    window: 128
    loss_recovery: {kind: selective-repeat, reorder: 4096}
jobs:
  - collectives: [{collective: permutation, size: 16MiB}]
faults:
  events:
    - {link: leaf0-spine3, rate: 25Gbps, at: 0us}
    - {link: leaf1-spine3, rate: 25Gbps, at: 0us}
observe: {samples: false}
";

#[test]
fn who_hears_of_a_slow_spine_leaves_it() {
    for seed in 1..=4 {
        let completion = |kind: &str| {
            let kind = format!("endpoint.nic.entropy={{kind: {kind}}}");
            let trial = Trial::run(ONE_SLOW, &[&*kind, &*format!("seed={seed}")]);
            assert_eq!(trial.outcome.summary.totals.retransmitted_frames, 0);
            trial.completion(0)
        };
        let kinds = ["reps", "mixed", "bitmap", "oblivious", "random"];
        let times = kinds.map(completion);
        let [reps, mixed, bitmap, oblivious, random] = times;
        assert!(reps <= bitmap && bitmap <= oblivious, "{times:?}");
        assert!(bitmap <= random, "{times:?}");
        // Line rate beside acknowledgements of 86 bytes, and 50 us to find the ways.
        let line = slow_line(4_096) * (4_178.0 + 86.0) / 4_178.0;
        for time in [reps, mixed] {
            let over = time as f64 - line;
            assert!((0.0..5e7).contains(&over), "{times:?}");
        }
    }
}
