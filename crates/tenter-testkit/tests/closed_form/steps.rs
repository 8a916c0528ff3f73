//! Collectives that are given step by step.

use std::fmt::Write as _;

use crate::trial::Trial;

const RANKS: u32 = 5;

/// Two iterations over a leaf-spine fabric, with so many queue pairs for each pair of ranks.
fn scenario(collective: &str, queue_pairs: u32) -> String {
    format!(
        "
fabric: {{kind: leaf-spine, leaves: 3, hosts_per_leaf: 2, spines: 2}}
jobs:
  - ranks: {RANKS}
    iterations: 2
    queue_pairs: {queue_pairs}
    collectives:
      - {collective}
observe: {{samples: false}}
"
    )
}

/// An all-reduce round a ring: step s of rank r after that of rank r − 1 before it.
fn ring(chunk: u64) -> String {
    let mut steps = String::new();
    for number in 0..2 * (RANKS - 1) * RANKS {
        let (row, rank) = (number / RANKS, number % RANKS);
        let after = match row {
            0 => String::new(),
            _ => ((row - 1) * RANKS + (rank + RANKS - 1) % RANKS).to_string(),
        };
        let peer = (rank + 1) % RANKS;
        let _ = write!(
            steps,
            "{{rank: {rank}, peer: {peer}, bytes: {chunk}B, after: [{after}]}}, "
        );
    }
    format!("{{collective: steps, steps: [{steps}]}}")
}

/// Who sent what to whom, from posting to the last byte, in the order of the transfers.
fn flows(trial: &Trial) -> Vec<(u32, u32, u16, u64, u64, u64)> {
    let flow = |of: &&tenter_results::FlowRow| {
        let times = (of.posted.ps(), of.received.ps());
        (
            of.src_rank,
            of.dst_rank,
            of.queue_pair,
            of.payload_bytes,
            times.0,
            times.1,
        )
    };
    trial.flows_of(0).iter().map(flow).collect()
}

#[test]
fn steps_take_as_long_as_the_ring() {
    for (chunk, queue_pairs) in [(200_000, 1), (200_000, 3), (65_536, 2), (4_000, 1)] {
        let size = u64::from(RANKS) * chunk;
        let built_in = format!("{{collective: all-reduce, algorithm: ring, size: {size}B}}");
        let built_in = Trial::run(&scenario(&built_in, queue_pairs), &[]);
        let written = Trial::run(&scenario(&ring(chunk), queue_pairs), &[]);
        assert_eq!(
            flows(&written),
            flows(&built_in),
            "{chunk} B, {queue_pairs} QPs"
        );
        assert_eq!(written.completion(0), built_in.completion(0));
        assert_eq!(written.completion(1), built_in.completion(1));
    }
}
