//! How long a collective takes on an ideal switch, by formula: what simulations are tested against.

use tenter_units::Time;

use crate::collective::CollectiveKind;

/// The completion time of a collective whose ranks hang on one switch that never makes anyone wait.
///
/// `port_time` gives the time a transfer of so many bytes occupies a port: all its frames with
/// preamble and gap, back to back at line rate. `latency` is the time from the end of the last
/// frame at the sender to its end at the receiver in an empty network. Chunks and blocks are taken
/// as equally long (sizes divisible by their number), endpoints as free of delays. It is also a
/// lower bound for any fabric with ports of that speed.
///
/// With S the size, n the number of ranks, c(x) the port time of x bytes, c that of S/n bytes and L
/// the latency:
///
/// | collective | time | because |
/// |---|---|---|
/// | all-to-all, parallel | (n−1)·c + L | each port sends n−1 blocks |
/// | all-to-all, pairwise | (n−1)·(c + L) | a step waits for the arrival of the last |
/// | all-to-all, PXN | ≥ (2n−N−g)·c + L | each port sends (g−1)·N and (N−1)·g blocks |
/// | all-reduce, ring | 2(n−1)·(c + L) | a step waits for the arrival of the last |
/// | all-reduce, bidirectional ring | ≥ 4(n−1)·c(S/2n) + L | each port sends 4(n−1) chunks |
/// | | ≥ 2(n−1)·(c(S/2n) + L) | a step waits for the arrival of the last |
/// | all-reduce, hierarchical | 2(N−1)·(c + L) + 2·w | as the ring, between N hosts |
/// | all-gather, ring; reduce-scatter, ring | (n−1)·(c + L) | as all-reduce, once round |
/// | all-reduce, halving-doubling | 2·Σ (c(S/2ʲ) + L), j = 1 … k | exchanges follow each other |
/// | all-gather, recursive doubling | Σ (c(S/2ʲ) + L), j = k … 1 | exchanges follow each other |
/// | reduce-scatter, recursive halving | Σ (c(S/2ʲ) + L), j = 1 … k | as all-gather, backwards |
/// | hypercube | as all-gather, recursive doubling | it is the same traffic |
/// | all-reduce, double binary tree | ≥ f·c(S)/2 + L | a port sends f = min(n, 4) halves |
/// | | ≥ 2h·(c(x) + L) | the first chunk goes up and down |
/// | broadcast, ring | (n−2)·(c(x) + L) + c(S) + L | the last but one sends all |
/// | broadcast, tree; reduce, tree | ≥ (h−1)·(c(x) + L) + f·c(S) + L | as the ring, f times all |
/// | broadcast, parallel | (n−1)·c(S) + L | the root's port sends n−1 copies |
/// | incast; gather, parallel | (n−1)·c + L | the root's port receives n−1 blocks |
/// | scatter, parallel | (n−1)·c + L | the root's port sends n−1 blocks |
/// | permutation; send-recv | c(S) + L | no port is shared |
/// | flows | ∞ ([`Time::MAX`]) | they never end |
/// | pattern | ≥ phase after phase | as its latest sender and its busiest port allow |
///
/// With n between 2ᵏ and 2ᵏ⁺¹ the exchanges take place between 2ᵏ ranks; the others add c(S) + L
/// before (reduce-scatter), c(S·(n−1)/n) + L after (all-gather), or c(S) + L both before and after
/// (all-reduce); S/2ʲ is then 2ᵏ⁻ʲ blocks of S/n, but for all-reduce. That is a lower bound.
///
/// Trees and the ring broadcast pass on chunks of x bytes. A binary tree of n ranks is h = 1 +
/// ⌊log₂(n−1)⌋ hops deep, and from 4 ranks on somebody h−1 hops down has f = 2 ranks below
/// (else 1).
///
/// The PXN all-to-all is taken as without a scale-up domain. Within a host of g NPUs, of which
/// there are N = n/g, w = (g−1)·S/g at the rate of the scale-up
/// domain and its latency.
///
/// Where transfers of different steps share a port, how well they fill each other's pauses depends
/// on how they meet there. The table then has lower bounds, and the larger of them is returned.
///
/// Times beyond 64 bits of picoseconds saturate at [`Time::MAX`].
pub fn ideal_completion(
    kind: &CollectiveKind,
    ranks: u32,
    size_bytes: u64,
    port_time: &dyn Fn(u64) -> Time,
    latency: Time,
) -> Time {
    let others = u64::from(ranks.saturating_sub(1));
    let parts = u64::from(ranks.max(1));
    let share = || port_time(size_bytes / parts);
    let whole = || port_time(size_bytes);
    match kind {
        CollectiveKind::AllToAllParallel
        | CollectiveKind::Incast { .. }
        | CollectiveKind::GatherParallel { .. }
        | CollectiveKind::ScatterParallel { .. } => times(share(), others).saturating_add(latency),
        CollectiveKind::AllToAllPxn { npus_per_host } => {
            let npus = u64::from((*npus_per_host).max(1));
            let hosts = parts / npus;
            let blocks = (npus - 1) * hosts + hosts.saturating_sub(1) * npus;
            times(share(), blocks).saturating_add(latency)
        }
        CollectiveKind::AllReduceRing => times(share().saturating_add(latency), 2 * others),
        CollectiveKind::AllReduceHierarchical { scale_up } => {
            let hosts = ranks / scale_up.npus_per_host.max(1);
            let steps = 2 * u64::from(hosts.saturating_sub(1));
            let within = times(kind.within_hosts(size_bytes), 2);
            times(share().saturating_add(latency), steps).saturating_add(within)
        }
        CollectiveKind::AllReduceBidirectionalRing => {
            let chunk = port_time(size_bytes / parts / 2);
            let port = times(chunk, 4 * others).saturating_add(latency);
            port.max(times(chunk.saturating_add(latency), 2 * others))
        }
        CollectiveKind::AllToAllPairwise
        | CollectiveKind::AllGatherRing
        | CollectiveKind::ReduceScatterRing => times(share().saturating_add(latency), others),
        CollectiveKind::AllReduceHalvingDoubling { .. }
        | CollectiveKind::AllGatherRecursiveDoubling
        | CollectiveKind::ReduceScatterRecursiveHalving
        | CollectiveKind::Hypercube => exchanges(kind, ranks, size_bytes, port_time, latency),
        CollectiveKind::Permutation { .. } | CollectiveKind::SendRecv => {
            whole().saturating_add(latency)
        }
        CollectiveKind::AllReduceDoubleBinaryTree { .. }
        | CollectiveKind::BroadcastRing { .. }
        | CollectiveKind::BroadcastTree { .. }
        | CollectiveKind::ReduceTree { .. } => {
            pipeline(kind, ranks, size_bytes, port_time, latency)
        }
        CollectiveKind::BroadcastParallel { .. } => times(whole(), others).saturating_add(latency),
        CollectiveKind::Grouped { groups, kind } => {
            ideal_completion(kind, groups.size, size_bytes, port_time, latency)
        }
        CollectiveKind::Flows { .. } => Time::MAX,
        CollectiveKind::FlowWorkload { workload } => workload
            .ideal_time(ranks, port_time)
            .saturating_add(latency),
        CollectiveKind::Pattern { schedule } => schedule.ideal_time(port_time, latency),
    }
}

/// Recursive halving and doubling between 2ᵏ ranks, where the others have what they hold taken over
/// before and get the result after.
fn exchanges(
    kind: &CollectiveKind,
    ranks: u32,
    size_bytes: u64,
    port_time: &dyn Fn(u64) -> Time,
    latency: Time,
) -> Time {
    let hop = |bytes| port_time(bytes).saturating_add(latency);
    let levels = ranks.max(1).ilog2();
    let participants = 1_u64 << levels;
    let block = size_bytes / u64::from(ranks.max(1));
    let both = matches!(kind, CollectiveKind::AllReduceHalvingDoubling { .. });
    let part = if both {
        size_bytes / participants
    } else {
        block
    };
    let once = (0..levels).fold(Time::ZERO, |sum, level| {
        sum.saturating_add(hop(part << level))
    });
    let extra = u64::from(u64::from(ranks) > participants);
    match kind {
        CollectiveKind::AllReduceHalvingDoubling { .. } => {
            times(once, 2).saturating_add(times(hop(size_bytes), 2 * extra))
        }
        CollectiveKind::ReduceScatterRecursiveHalving => {
            once.saturating_add(times(hop(size_bytes), extra))
        }
        _ => once.saturating_add(times(hop(size_bytes - block), extra)),
    }
}

/// What goes chunk by chunk along a chain or trees of at least 2 ranks.
fn pipeline(
    kind: &CollectiveKind,
    ranks: u32,
    size_bytes: u64,
    port_time: &dyn Fn(u64) -> Time,
    latency: Time,
) -> Time {
    let chunk_bytes = kind.chunk_bytes().unwrap_or(size_bytes).max(1);
    let all = |bytes: u64| {
        let full = times(port_time(chunk_bytes), bytes / chunk_bytes);
        match bytes % chunk_bytes {
            0 if bytes > 0 => full,
            rest => full.saturating_add(port_time(rest)),
        }
    };
    let hop = |bytes: u64| port_time(bytes.min(chunk_bytes)).saturating_add(latency);
    let height = ranks.saturating_sub(1).max(1).ilog2() + 1;
    let (hops, copies) = match kind {
        CollectiveKind::AllReduceDoubleBinaryTree { .. } => {
            let half = size_bytes.div_ceil(2);
            let port = times(all(half), u64::from(ranks.min(4))).saturating_add(latency);
            return port.max(times(hop(half), 2 * u64::from(height)));
        }
        CollectiveKind::BroadcastRing { .. } => (ranks.saturating_sub(2), 1),
        _ => (height - 1, if ranks < 4 { 1 } else { 2 }),
    };
    times(hop(size_bytes), u64::from(hops))
        .saturating_add(times(all(size_bytes), copies))
        .saturating_add(latency)
}

fn times(time: Time, count: u64) -> Time {
    Time::from_ps(time.ps().saturating_mul(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Distances, ScaleUp};
    use tenter_units::Rate;

    #[test]
    fn formulas_at_eight_ranks() {
        // 80 bytes, 10 for each rank, at 1 us per byte, and a latency of 1 us.
        let time = |kind: CollectiveKind| {
            let port_time = |bytes| Time::from_us(bytes);
            ideal_completion(&kind, 8, 80, &port_time, Time::from_us(1))
        };
        // 7·10 + 1.
        assert_eq!(time(CollectiveKind::AllToAllParallel), Time::from_us(71));
        for kind in [
            CollectiveKind::Incast { root: 0 },
            CollectiveKind::GatherParallel { root: 0 },
            CollectiveKind::ScatterParallel { root: 0 },
        ] {
            assert_eq!(time(kind), Time::from_us(71));
        }
        // Four hosts of two: 4 blocks to the other NPU, 6 across hosts, 10·10 + 1.
        let pxn = CollectiveKind::AllToAllPxn { npus_per_host: 2 };
        assert_eq!(time(pxn), Time::from_us(101));
        // 14·(10 + 1).
        assert_eq!(time(CollectiveKind::AllReduceRing), Time::from_us(154));
        // 14·2·5 + 1, and 7·(10 + 1).
        let bidirectional = CollectiveKind::AllReduceBidirectionalRing;
        assert_eq!(time(bidirectional), Time::from_us(141));
        for kind in [
            CollectiveKind::AllToAllPairwise,
            CollectiveKind::AllGatherRing,
            CollectiveKind::ReduceScatterRing,
        ] {
            assert_eq!(time(kind), Time::from_us(77));
        }
        // (40 + 1) + (20 + 1) + (10 + 1), once or twice.
        for kind in [
            CollectiveKind::AllGatherRecursiveDoubling,
            CollectiveKind::ReduceScatterRecursiveHalving,
            CollectiveKind::Hypercube,
        ] {
            assert_eq!(time(kind), Time::from_us(73));
        }
        for distances in [Distances::Halving, Distances::Doubling] {
            let both = CollectiveKind::AllReduceHalvingDoubling { distances };
            assert_eq!(time(both), Time::from_us(146));
        }
        // Chunks of 20: the busiest port sends four halves of 40, 160 + 1; up and down three hops
        // of 20 + 1 would take 126.
        let chunk_bytes = 20;
        let trees = CollectiveKind::AllReduceDoubleBinaryTree { chunk_bytes };
        assert_eq!(time(trees), Time::from_us(161));
        // 6·(20 + 1) + 80 + 1; 2·(20 + 1) + 2·80 + 1.
        let root = 0;
        let ring = CollectiveKind::BroadcastRing { root, chunk_bytes };
        assert_eq!(time(ring), Time::from_us(207));
        let down = CollectiveKind::BroadcastTree { root, chunk_bytes };
        let up = CollectiveKind::ReduceTree { root, chunk_bytes };
        assert_eq!(time(down), Time::from_us(203));
        assert_eq!(time(up), Time::from_us(203));
        // 80 + 1, and 7·80 + 1.
        for kind in [
            CollectiveKind::Permutation { seed: 0 },
            CollectiveKind::SendRecv,
        ] {
            assert_eq!(time(kind), Time::from_us(81));
        }
        assert_eq!(
            time(CollectiveKind::BroadcastParallel { root: 0 }),
            Time::from_us(561)
        );
    }

    #[test]
    fn four_hosts_of_two() {
        // 80 bytes as above: 6·(10 + 1) us across hosts, and twice 40 bytes at a byte a nanosecond
        // and 2 us within them.
        let scale_up = ScaleUp {
            npus_per_host: 2,
            rate: Rate::from_gbps(8),
            latency: Time::from_us(2),
        };
        let kind = CollectiveKind::AllReduceHierarchical { scale_up };
        let port_time = |bytes| Time::from_us(bytes);
        let time = ideal_completion(&kind, 8, 80, &port_time, Time::from_us(1));
        assert_eq!(time, Time::from_ns(66_000 + 2 * 2_040));
    }

    #[test]
    fn frames_and_goodput_agree() {
        // All-to-all of 8 GiB over 8 ranks at 400G, 20 ps per byte: a block of 1 GiB is 262,144
        // frames of 4,096 bytes of payload in 4,178 on the wire.
        let wire = |bytes: u64| Time::from_ps(bytes / 4_096 * 4_178 * 20);
        let kind = CollectiveKind::AllToAllParallel;
        let ideal = ideal_completion(&kind, 8, 8 << 30, &wire, Time::ZERO);
        // Seven blocks at a goodput of 50 GB/s · 4,096/4,178 = 49.0187 GB/s: 153.333 ms.
        assert_eq!(ideal, Time::from_ps(153_333_268_480));
        let goodput = 50e9 * 4_096.0 / 4_178.0;
        assert!((7.0 * f64::from(1 << 30) / goodput - ideal.as_s()).abs() < 1e-12);
    }
}
