//! Collectives on an ideal switch, where no two ranks send to one port at a time.
//!
//! `ideal_completion` knows data only. What a simulation adds are acknowledgements: a rank that
//! receives while it sends puts an ACK (66 bytes, 86 on the wire) between its own data frames for
//! every message it has received. They delay whatever comes behind them, so a collective takes one
//! ACK time more for each that goes out before its rank's last data frame. Nothing else may differ.
//!
//! All ranks do the same at the same instants here, so ACKs that leave together go to different
//! ports, and arrive in the gaps that the receivers' own ACKs have left in the data.

use tenter_language::units::{Rate, Time};
use tenter_workload::closed_form::IdealSwitch;
use tenter_workload::collective::*;

use crate::trial::Trial;
use crate::wire::{ACK_WIRE, FIRST_WIRE, MESSAGE, MTU, default_wire, wire};

/// 400 Gbit/s.
const BYTE: u64 = 20;
const ACK: u64 = ACK_WIRE * BYTE;

/// Two cables of 25 ns and a switch of 600 ns.
const NEAR: u64 = 650_000;
/// Two cables of 600 us, which no collective of these tests takes: all data is sent before the
/// first ACK.
const FAR: u64 = 1_200_600_000;

fn single_switch(ranks: u32, collective: &str, size: u64, overrides: &[&str]) -> Trial {
    let scenario = format!(
        "
fabric: {{kind: single-switch, hosts: {ranks}, switch: {{pipeline_latency: 600ns}}}}
endpoint: {{nic: {{retransmission_timeout: 1s}}}}
jobs: [{{collectives: [{{collective: {collective}, size: {size}B}}]}}]
observe: {{samples: false}}
"
    );
    Trial::run(&scenario, overrides)
}

/// The closed form over a number of ranks for a size, in ps.
fn completion(
    kind: &CollectiveKind,
    ranks: u32,
    size_bytes: u64,
    port_time: &dyn Fn(u64) -> Time,
    latency_ps: u64,
) -> u64 {
    let time = kind.ideal_completion(&IdealSwitch {
        ranks,
        size_bytes,
        port_time,
        latency: Time::from_ps(latency_ps),
    });
    time.ps()
}

/// The closed form where every transfer takes a port so long, whatever its size.
fn ideal(kind: &CollectiveKind, ranks: u32, chunk: u64, latency: u64) -> u64 {
    let port_time = |_| Time::from_ps(chunk);
    completion(kind, ranks, 1, &port_time, latency)
}

const SHAPES: [(u32, u64); 9] = [
    (2, 4_096),
    (2, 1 << 20),
    (3, 12_288),
    (4, 100_000),
    (5, 131_072),
    (8, 40_961),
    (8, 1 << 20),
    (13, 65_536),
    (16, 400_000),
];

#[test]
fn all_to_all_that_no_acknowledgement_disturbs() {
    // (n−1)·chunk + latency. Of 8 ranks with blocks of 1 MiB: 8·(4,194 + 31·4,178) = 1,069,696
    // bytes on the wire, 21,393,920 ps; 7 times that and 1,200,600,000 ps.
    let kind = CollectiveKind::AllToAllParallel(AllToAllParallel);
    assert_eq!(default_wire(1 << 20) * BYTE, 21_393_920);
    for (ranks, block) in SHAPES {
        let size = u64::from(ranks) * block;
        let far = "fabric.host_delay=600us";
        let chunk = default_wire(block) * BYTE;
        let trial = single_switch(ranks, "all-to-all", size, &[far]);
        let expected = ideal(&kind, ranks, chunk, FAR);
        assert_eq!(trial.completion(0), expected, "{ranks} ranks of {block} B");
        // A switch that stores adds the longest frame, not the last one of the ideal formula: the
        // frames behind it catch up with it, for they take no longer to arrive than it to leave.
        let store = "fabric.switch.forwarding=store-and-forward";
        let trial = single_switch(ranks, "all-to-all", size, &[far, store]);
        let longest = wire(block, MTU, MESSAGE)[0];
        assert!(longest <= FIRST_WIRE);
        assert_eq!(trial.completion(0), expected + longest * BYTE);
        assert_eq!(trial.outcome.summary.totals.dropped_frames, 0);
        let queues = trial
            .outcome
            .counts
            .ports
            .iter()
            .map(|p| p.queue_high_water_bytes);
        assert!(queues.max() <= Some(FIRST_WIRE - 20), "one frame at most");
    }
}

#[test]
fn rails_wait_for_what_is_handed_over_first() {
    // Two hosts of four NPUs, a byte a picosecond within them: each hands over three blocks of
    // 1 MiB for the other host, which are there 3 us later; then the four for one NPU go to it.
    // What is handed over for NPUs of the own host has long been there by then.
    let set = [
        "jobs[0].collectives[0].algorithm=pxn",
        "jobs[0].collectives[0].npus_per_host=4",
        "endpoint.host={scale_up: {npus_per_host: 4, rate: 8Tbps, latency: 3us}}",
        "fabric.host_delay=600us",
    ];
    let trial = single_switch(8, "all-to-all", 8 << 20, &set);
    let handed = (3 << 20) + 3_000_000;
    let sent = default_wire(4 << 20) * BYTE + FAR;
    assert_eq!(trial.completion(0), handed + sent);
    assert_eq!(trial.outcome.summary.totals.tx_frames, 8 * 1_024);
}

/// When the last data frame of a rank has left in an all-to-all with its ACKs.
///
/// By symmetry one rank stands for all: what it has sent to the rank r places on, the one r places
/// back has sent to it at the same instant.
fn last_data_frame(ranks: u32, block: u64, latency: u64) -> u64 {
    let (packets, full) = (wire(block, MTU, MESSAGE), MESSAGE / MTU);
    let mut now = 0;
    let mut acknowledgements = std::collections::VecDeque::new();
    for (number, packet) in (1..).zip(&packets) {
        let ends_message = number % full == 0 || number == packets.len() as u64;
        for _ in 1..ranks {
            // At equal times, a departure comes before an arrival.
            while acknowledgements.front().is_some_and(|&due| due < now) {
                acknowledgements.pop_front();
                now += ACK;
            }
            now += packet * BYTE;
            if ends_message {
                acknowledgements.push_back(now + latency);
            }
        }
    }
    now
}

#[test]
fn all_to_all_with_its_acknowledgements() {
    let kind = CollectiveKind::AllToAllParallel(AllToAllParallel);
    for (ranks, block) in SHAPES {
        let trial = single_switch(ranks, "all-to-all", u64::from(ranks) * block, &[]);
        let ideal = ideal(&kind, ranks, default_wire(block) * BYTE, NEAR);
        let exact = last_data_frame(ranks, block, NEAR) + NEAR;
        let case = format!("{ranks} ranks of {block} B");
        assert_eq!(trial.completion(0), exact, "{case}");
        // Each rank acknowledges each message once.
        let messages = u64::from(ranks - 1) * block.div_ceil(MESSAGE);
        assert!(ideal <= exact && exact <= ideal + messages * ACK, "{case}");
        assert_eq!((exact - ideal) % ACK, 0, "{case}");
    }
}

/// Of a step's messages, how many are acknowledged before its data has been sent, and the last.
fn in_the_way(chunk: u64) -> u64 {
    let full = default_wire(MESSAGE) * BYTE;
    let last_starts = default_wire(chunk) * BYTE
        - wire(chunk, MTU, MESSAGE)
            .pop()
            .map_or(0, |last| last * BYTE);
    let before_last = chunk.div_ceil(MESSAGE) - 1;
    (1..=before_last)
        .filter(|count| count * full + NEAR < last_starts)
        .count() as u64
        + 1
}

#[test]
fn rings_and_pairwise_exchanges() {
    // In each of the steps, 2(n−1) of an all-reduce and n−1 of its two halves and of a pairwise
    // all-to-all, a rank sends a chunk and acknowledges the messages it receives. The ACK of the
    // last one goes before the data that the same arrival releases, and those of the others go
    // among the step's own data, unless that has all been sent by then. Of the last step the last
    // ACK delays nobody. With M ACKs in the way of each step:
    //
    //     steps·(chunk + M·ACK + latency) − ACK
    //
    // Of 8 ranks with chunks of 1 MiB, 8 messages: 14·(21,393,920 + 8·1,720 + 650,000) − 1,720 ps.
    assert_eq!(14 * (21_393_920 + 8 * 1_720 + 650_000) - 1_720, 308_805_800);
    for kind in [
        CollectiveKind::AllReduceRing(AllReduceRing),
        CollectiveKind::AllGatherRing(AllGatherRing),
        CollectiveKind::ReduceScatterRing(ReduceScatterRing),
        CollectiveKind::AllToAllPairwise(AllToAllPairwise),
    ] {
        let algorithm = format!("jobs[0].collectives[0].algorithm={}", kind.algorithm());
        for (ranks, chunk) in SHAPES {
            let size = u64::from(ranks) * chunk;
            let trial = single_switch(ranks, kind.name(), size, &[&algorithm]);
            let step = default_wire(chunk) * BYTE + in_the_way(chunk) * ACK;
            let case = format!("{}, {ranks} ranks of {chunk} B", kind.name());
            let expected = ideal(&kind, ranks, step, NEAR) - ACK;
            assert_eq!(trial.completion(0), expected, "{case}");
            if (kind.name(), ranks, chunk) == ("all-reduce", 8, 1 << 20) {
                assert_eq!(expected, 308_805_800);
            }
            // A switch that stores adds the longest frame to each step.
            let store = "fabric.switch.forwarding=store-and-forward";
            let trial = single_switch(ranks, kind.name(), size, &[&algorithm, store]);
            let longest = wire(chunk, MTU, MESSAGE)[0] * BYTE;
            let expected = ideal(&kind, ranks, step, NEAR + longest) - ACK;
            assert_eq!(trial.completion(0), expected, "{case}, stored");
        }
    }
}

#[test]
fn hierarchical() {
    // Each NPU of a host has a ring of its own, whose steps are those of the ring above; before and
    // after it are the phases within the hosts. Eight ranks in hosts of 2 with chunks of 1 MiB, of
    // an 8-MiB buffer: 6·(21,393,920 + 8·1,720 + 650,000) − 1,720 ps, and twice 4 MiB at 100 GB/s
    // and 2 us.
    for (ranks, chunk) in SHAPES {
        for npus in (1..=ranks / 2).filter(|npus| ranks.is_multiple_of(*npus)) {
            let size = u64::from(ranks) * chunk;
            let kind = CollectiveKind::from(AllReduceHierarchical {
                npus_per_host: Some(npus),
                scale_up_rate: Some(Rate::from_gbps(800)),
                scale_up_latency: Some(Time::from_us(2)),
            });
            let set = [
                "jobs[0].collectives[0].algorithm=hierarchical",
                &*format!("jobs[0].collectives[0].npus_per_host={npus}"),
                "jobs[0].collectives[0].scale_up_rate=800Gbps",
                "jobs[0].collectives[0].scale_up_latency=2us",
                // What is within the hosts must not be forgotten between collectives either.
                "jobs[0].iterations=2",
            ];
            let trial = single_switch(ranks, "all-reduce", size, &set);
            let step = default_wire(chunk) * BYTE + in_the_way(chunk) * ACK;
            let port_time = |_| Time::from_ps(step);
            let expected = completion(&kind, ranks, size, &port_time, NEAR) - ACK;
            let case = format!("{ranks} ranks in hosts of {npus}, {chunk} B");
            assert_eq!(trial.completion(0), expected, "{case}");
            assert_eq!(trial.completion(1), expected, "{case}, again");
            let collectives = &trial.outcome.collectives;
            let end = collectives[0].end.expect("it was done");
            assert_eq!(collectives[1].start, end + Time::from_us(10), "{case}");
            if (ranks, npus, chunk) == (8, 2, 1 << 20) {
                let within = 2 * (41_943_040 + 2_000_000);
                assert_eq!(
                    expected,
                    6 * (21_393_920 + 8 * 1_720 + 650_000) - 1_720 + within
                );
            }
        }
    }
}

#[test]
fn a_time_limit_within_the_hosts_stops_a_hierarchical_all_reduce() {
    // In the first phase, in the last, and after it.
    for (limit, done) in [("500us", false), ("1500us", false), ("3ms", true)] {
        let set = [
            "jobs[0].collectives[0].algorithm=hierarchical",
            "jobs[0].collectives[0].npus_per_host=2",
            "jobs[0].collectives[0].scale_up_latency=1ms",
            &*format!("limits.time={limit}"),
        ];
        let trial = single_switch(4, "all-reduce", 4_096, &set);
        let summary = &trial.outcome.summary;
        assert_eq!(summary.complete, done, "{limit}");
        assert_eq!(
            summary.stopped.is_some(),
            !done,
            "{limit}: {:?}",
            summary.stopped
        );
    }
}

#[test]
fn bidirectional_ring() {
    // Two half chunks share a port in each of 2(n−1) steps. Had the two rings always to wait for
    // each other, a step would take 2·chunk + latency. As soon as one is ahead, by a packet or an
    // ACK, it fills the pauses of the other, down to the busier of port and chain:
    //
    //     2(n−1)·2·chunk + latency,  2(n−1)·(chunk + latency)
    //
    // The upper bound counts the ACKs of both rings, which wait among data.
    let kind = CollectiveKind::AllReduceBidirectionalRing(AllReduceBidirectionalRing);
    for (ranks, chunk) in SHAPES {
        let size = 2 * u64::from(ranks) * chunk;
        let algorithm = "jobs[0].collectives[0].algorithm=bidirectional-ring";
        let trial = single_switch(ranks, "all-reduce", size, &[algorithm]);
        let least = ideal(&kind, ranks, default_wire(chunk) * BYTE, NEAR);
        let steps = 2 * u64::from(ranks - 1);
        let data = 2 * default_wire(chunk) * BYTE;
        let acknowledgements = 2 * chunk.div_ceil(MESSAGE) * ACK;
        let most = steps * (data + acknowledgements + NEAR);
        let found = trial.completion(0);
        let case = format!("{ranks} ranks of {chunk} B");
        assert!((least..=most).contains(&found), "{case}: {found}");
    }
}

#[test]
fn ring_all_reduce_that_no_acknowledgement_disturbs() {
    // Chunks of one message, and a delay before each send in which the ACK goes out:
    // 2(n−1)·(chunk + latency + delay) exactly.
    let kind = CollectiveKind::AllReduceRing(AllReduceRing);
    for (ranks, chunk) in [(2, 4_096), (4, 100_000), (8, 131_072), (16, 9_999)] {
        let size = u64::from(ranks) * chunk;
        let delay = "endpoint.host.step_delay=5ns";
        let trial = single_switch(ranks, "all-reduce", size, &[delay]);
        let expected = ideal(&kind, ranks, default_wire(chunk) * BYTE, NEAR + 5_000);
        assert_eq!(trial.completion(0), expected, "{ranks} ranks of {chunk} B");
    }
}

#[test]
fn one_to_one() {
    // Each rank sends S bytes, and acknowledges what it receives; the last ACK delays nobody.
    for kind in [
        CollectiveKind::Permutation(Permutation { seed: Some(1) }),
        CollectiveKind::SendRecv(SendRecv),
    ] {
        for (ranks, size) in [(2, 4_096), (5, 131_072), (8, 1 << 20), (16, 777_777)] {
            let trial = single_switch(ranks, kind.name(), size, &[]);
            let data = default_wire(size) * BYTE;
            let acknowledgements = (in_the_way(size) - 1) * ACK;
            let expected = ideal(&kind, ranks, data + acknowledgements, NEAR);
            assert_eq!(trial.completion(0), expected, "{ranks} ranks of {size} B");
        }
    }
}

#[test]
fn one_root_and_all_others() {
    // Shares to the root (gather, incast) or from it (scatter), (n−1)·chunk + latency, and whole
    // copies from it (broadcast), (n−1)·S + latency: the root's port is busy from the first packet
    // on. Nobody sends data and acknowledges it, so no ACK is in the way of data. The root of a
    // gather of 8 ranks and 8 MiB receives 7·1,069,696·20 ps and the last of it 650,000 ps later.
    assert_eq!(7 * default_wire(1 << 20) * BYTE + NEAR, 150_407_440);
    for (ranks, share) in SHAPES {
        let root = ranks / 2;
        let shares = u64::from(ranks) * share;
        for (kind, size, chunk) in [
            (
                CollectiveKind::GatherParallel(GatherParallel { root }),
                shares,
                share,
            ),
            (CollectiveKind::Incast(Incast { root }), shares, share),
            (
                CollectiveKind::ScatterParallel(ScatterParallel { root }),
                shares,
                share,
            ),
            (
                CollectiveKind::BroadcastParallel(BroadcastParallel { root }),
                share,
                share,
            ),
        ] {
            let name = kind.name();
            let set = [
                &*format!("jobs[0].collectives[0].root={root}"),
                // The queue before the root of a gather may become as long as it likes.
                "fabric.switch.queue_capacity=none",
            ];
            let trial = single_switch(ranks, name, size, &set);
            let expected = ideal(&kind, ranks, default_wire(chunk) * BYTE, NEAR);
            assert_eq!(trial.completion(0), expected, "{name}, {ranks} · {share} B");
            let port_time = |bytes| Time::from_ps(default_wire(bytes) * BYTE);
            let by_size = completion(&kind, ranks, size, &port_time, NEAR);
            assert_eq!(by_size, expected, "{name}, {ranks} · {share} B");
            if (name, ranks, share) == ("gather", 8, 1 << 20) {
                assert_eq!(expected, 150_407_440);
            }
        }
    }
}

#[test]
fn halving_and_doubling() {
    // Of 2ᵏ ranks each exchange of x bytes takes chunk(x) + M·ACK + latency, as in a ring, and the
    // last ACK delays nobody. All-gather of 8 ranks with blocks of 1 MiB: 8, 16 and 32 messages,
    // 7·21,393,920 + 56·1,720 + 3·650,000 − 1,720 ps.
    //
    // With other ranks beside them, those whose neighbours hand over their data start later, and
    // then have several exchanges under way at once, which share their port. The closed form, which
    // has one after the other, is then a lower bound; how they meet costs less than as much again.
    for (name, algorithm, order) in [
        ("all-reduce", "halving-doubling", Some("halving")),
        ("all-reduce", "halving-doubling", Some("doubling")),
        ("all-gather", "recursive-doubling", None),
        ("reduce-scatter", "recursive-halving", None),
        ("hypercube", "recursive-doubling", None),
    ] {
        let kind = member(name, algorithm);
        let algorithm = format!("jobs[0].collectives[0].algorithm={algorithm}");
        let order = order.map(|order| format!("jobs[0].collectives[0].distances={order}"));
        let set: Vec<&str> = [&algorithm]
            .into_iter()
            .chain(&order)
            .map(String::as_str)
            .collect();
        let kind_ideal = |ranks, size, port_time: &dyn Fn(u64) -> u64| {
            let port_time = |bytes| Time::from_ps(port_time(bytes));
            completion(&kind, ranks, size, &port_time, NEAR)
        };
        for (ranks, share) in SHAPES {
            let size = u64::from(ranks) * share;
            let case = format!("{name}, {ranks} ranks of {share} B");
            if ranks.is_power_of_two() {
                let found = single_switch(ranks, name, size, &set).completion(0);
                let step = |bytes| default_wire(bytes) * BYTE + in_the_way(bytes) * ACK;
                assert_eq!(found, kind_ideal(ranks, size, &step) - ACK, "{case}");
                if (name, ranks, share) == ("all-gather", 8, 1 << 20) {
                    assert_eq!(found, 7 * 21_393_920 + 55 * 1_720 + 3 * 650_000);
                }
            } else if name != "hypercube" {
                let found = single_switch(ranks, name, size, &set).completion(0);
                let least = kind_ideal(ranks, size, &|bytes| default_wire(bytes) * BYTE);
                assert!((least..2 * least).contains(&found), "{case}: {found}");
            }
        }
    }
}

#[test]
fn the_order_of_distances_on_small_leaves() {
    // Four leaves of two ports with one uplink each: only distance 1 stays on the leaf, and at the
    // others two ranks share the uplink. So with the default order the halves and quarters of the
    // vector go at half the rate; with the other one the quarters and eighths do:
    //
    //     2·(2·c(S/2) + 2·c(S/4) + c(S/8)) = 3.25·c(S)
    //     2·(c(S/2) + 2·c(S/4) + 2·c(S/8)) = 2.5·c(S)
    //
    // What comes on top are acknowledgements, 86 bytes for each 128 KiB, and the latency.
    let size: u64 = 64 << 20;
    let whole = default_wire(size) * BYTE;
    assert_eq!(whole, 1_369_210_880);
    for (order, eighths) in [("halving", 26), ("doubling", 20)] {
        let scenario = format!(
            "
fabric:
  kind: leaf-spine
  leaves: 4
  hosts_per_leaf: 2
  spines: 1
  flow_control: pfc
endpoint: {{nic: {{retransmission_timeout: 1s}}}}
jobs:
  - collectives:
      - {{collective: all-reduce, algorithm: halving-doubling, distances: {order}, size: {size}B}}
observe: {{samples: false}}
"
        );
        let found = Trial::run(&scenario, &[]).completion(0);
        let least = whole * eighths / 8;
        let most = least + least / 500 + 6 * 5_000_000;
        let case = format!("{order}: {found}, not {least} to {most}");
        assert!((least..=most).contains(&found), "{case}");
    }
}

/// A collective that goes chunk by chunk, on one switch: how long it took, and its closed form.
fn chunk_by_chunk(kind: &CollectiveKind, ranks: u32, chunk: u64, pieces: u64) -> (u64, u64) {
    let size = chunk * pieces;
    let chunks = [("chunk_size", format!("{chunk}B"))];
    let kind = kind.with(&chunks).expect("it is cut into chunks");
    let set = [
        &*format!("jobs[0].collectives[0].algorithm={}", kind.algorithm()),
        &*format!("jobs[0].collectives[0].chunk_size={chunk}B"),
        // Leaves send as fast as they can to ranks that have two of them.
        "fabric.switch.queue_capacity=none",
    ];
    let trial = single_switch(ranks, kind.name(), size, &set);
    let port_time = |bytes| Time::from_ps(default_wire(bytes) * BYTE);
    let least = completion(&kind, ranks, size, &port_time, NEAR);
    (trial.completion(0), least)
}

fn member(collective: &str, algorithm: &str) -> CollectiveKind {
    CollectiveKind::parse(collective, algorithm).expect("a member")
}

#[test]
fn chains_and_trees() {
    // A chunk of the broadcast ring waits for nothing but the chunk before it: the closed form is
    // exact but for the ACKs in the way, one per message of each chunk that the last but one sends,
    // and of one chunk on each hop before, at the most twice (what is late meets the next one).
    //
    // In a full binary tree both ranks below get their copies of a chunk interleaved, or send them
    // so; each of the h−2 inner hops then takes 2·chunk where the closed form has one. In others
    // some need not share, so they lie between. Interleaving counts in whole packets.
    for kind in [
        member("broadcast", "ring"),
        member("broadcast", "tree"),
        member("reduce", "tree"),
    ] {
        for (ranks, share) in SHAPES {
            for pieces in [1, 4, 16] {
                let (found, least) = chunk_by_chunk(&kind, ranks, share, pieces);
                let acknowledgements = (pieces + 2 * u64::from(ranks)) * share.div_ceil(MESSAGE);
                let (copies, inner) = if kind.algorithm() == "tree" {
                    (2, u64::from((ranks - 1).ilog2().saturating_sub(1)))
                } else {
                    (1, 0)
                };
                let packets = inner * FIRST_WIRE * BYTE;
                let shared = inner * default_wire(share) * BYTE;
                let most = least + shared + copies * acknowledgements * ACK + packets;
                let case = format!("{kind:?}, {ranks} ranks, {pieces} · {share} B");
                assert!((least..=most).contains(&found), "{case}: {found}, {most}");
                if ranks.is_power_of_two() {
                    assert!(found >= least + shared - packets, "{case}: {found}");
                }
            }
        }
    }
}

#[test]
fn double_binary_tree() {
    // The bound has a port that never rests. With few chunks it does, while sums go up and results
    // come down; with many the two trees and the two ways fill each other's pauses.
    let kind = member("all-reduce", "double-binary-tree");
    for (ranks, share) in SHAPES {
        for (pieces, percent) in [(1, 210), (4, 210), (16, 140), (64, 110)] {
            let (found, least) = chunk_by_chunk(&kind, ranks, 2 * share, pieces);
            let case = format!("{ranks} ranks, {pieces} · {share} B");
            assert!(found >= least, "{case}: {found} of {least}");
            assert!(found <= least * percent / 100, "{case}: {found} of {least}");
        }
    }
}
