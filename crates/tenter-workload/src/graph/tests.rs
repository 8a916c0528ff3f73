//! Graphs by hand, run on a network that delivers every message after a fixed time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use proptest::prelude::*;
use tenter_language::units::{Instant, Time};

use super::*;
use crate::collective::tests::members;
use crate::collective::{AllReduceRing, CollectiveKind};
use crate::{Destination, QueuePairScope, Schedule};

fn compute(us: u64) -> Operation {
    Operation::Compute {
        time: Time::from_us(us),
    }
}

fn send(peer: u32, bytes: u64, tag: u32) -> Operation {
    Operation::Send { peer, bytes, tag }
}

fn receive(peer: u32, tag: u32) -> Operation {
    Operation::Receive {
        peer: Some(peer),
        bytes: 1,
        tag: Some(tag),
    }
}

fn rank(operations: &[(Operation, u32)], after: &[(u32, u32)]) -> RankBuilder {
    let mut rank = RankBuilder::default();
    for &(operation, stream) in operations {
        rank.add(operation, stream);
    }
    for &(operation, other) in after {
        rank.after(operation, other);
    }
    rank
}

fn graph(ranks: Vec<RankBuilder>) -> Result<Graph, GraphError> {
    let mut builder = GraphBuilder::default();
    for rank in ranks {
        builder.add(rank)?;
    }
    builder.finish()
}

/// Event on the network or at a rank, in a heap by time in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happens {
    Arrives { to: Destination, nth: u32, src: u32 },
    Acknowledged { rank: u32, transfer: u32 },
    Woken { rank: u32, operation: u32 },
}

/// Runs a graph on a network where a message takes 10 us, and its acknowledgement 10 us more.
/// Returns when each rank was done, in us (`None` if it never was), and the number of operations
/// left.
fn run(graph: Graph, timing: Timing) -> (Vec<Option<u64>>, u32) {
    const WAY: Time = Time::from_us(10);
    let schedule = GraphSchedule::new(Arc::new(graph), timing).expect("it can be run");
    let ranks = schedule.ranks();
    let mut runs: Vec<RankRun> = (0..ranks)
        .map(|rank| RankRun::new(&schedule, rank))
        .collect();
    let mut done = vec![None; ranks as usize];
    let mut sent: BTreeMap<(u32, Destination), u32> = BTreeMap::new();
    let mut heap = BinaryHeap::new();
    let mut act = |now: Instant, rank: u32, out: &mut Vec<Action>, heap: &mut BinaryHeap<_>| {
        for action in out.drain(..) {
            match action {
                Action::Post(transfer) => {
                    let of = schedule.transfer(transfer);
                    assert_eq!(of.src, rank);
                    let to = of.way(QueuePairScope::RankPair);
                    let mut ways = Vec::new();
                    schedule.pairs(rank, QueuePairScope::RankPair, &mut ways);
                    assert!(ways.binary_search(&to).is_ok(), "{to:?} of {ways:?}");
                    let nth = sent.entry((rank, to)).or_default();
                    let arrives = Happens::Arrives {
                        to,
                        nth: *nth,
                        src: rank,
                    };
                    *nth += 1;
                    heap.push(Reverse((now + WAY, arrives)));
                    let acknowledged = Happens::Acknowledged { rank, transfer };
                    heap.push(Reverse((now + WAY * 2, acknowledged)));
                }
                Action::Wake(time, operation) => {
                    let woken = Happens::Woken { rank, operation };
                    heap.push(Reverse((now + time, woken)));
                }
                Action::Done => {
                    assert_eq!(done[rank as usize], None);
                    done[rank as usize] = Some(now.ps() / 1_000_000);
                }
            }
        }
    };
    let mut out = Consequences::default();
    for rank in 0..ranks {
        runs[rank as usize].hear(&schedule, News::Start, Instant::START, &mut out);
        act(Instant::START, rank, &mut out.actions, &mut heap);
    }
    while let Some(Reverse((now, happens))) = heap.pop() {
        let rank = match happens {
            Happens::Arrives { to, nth, src } => {
                let rank = to.dst;
                let id = schedule.nth(src, to, QueuePairScope::RankPair, nth);
                let id = id.expect("it was posted");
                runs[rank as usize].hear(&schedule, News::Arrived(id), now, &mut out);
                rank
            }
            Happens::Acknowledged { rank, transfer } => {
                runs[rank as usize].hear(&schedule, News::Acknowledged(transfer), now, &mut out);
                rank
            }
            Happens::Woken { rank, operation } => {
                runs[rank as usize].hear(&schedule, News::Woken(operation), now, &mut out);
                rank
            }
        };
        act(now, rank, &mut out.actions, &mut heap);
    }
    (done, runs.iter().map(RankRun::left).sum())
}

#[test]
fn streams_overlap_and_a_stream_does_not() {
    // 5 us on stream 0, then 7; 9 us on stream 1 beside them, then a message that takes 10.
    let busy = rank(
        &[
            (compute(5), 0),
            (compute(7), 0),
            (compute(9), 1),
            (send(1, 4, 0), 1),
        ],
        &[(3, 2)],
    );
    let waits = rank(&[(receive(0, 0), 0), (compute(1), 0)], &[(1, 0)]);
    let (done, left) = run(graph(vec![busy, waits]).unwrap(), Timing::default());
    assert_eq!((done, left), (vec![Some(12), Some(20)], 0));
}

#[test]
fn a_send_is_done_when_posted_or_when_acknowledged() {
    let ranks = || {
        let sends = rank(&[(send(1, 100, 0), 0), (compute(3), 0)], &[(1, 0)]);
        graph(vec![sends, rank(&[(receive(0, 0), 0)], &[])]).unwrap()
    };
    assert_eq!(run(ranks(), Timing::default()).0[0], Some(3));
    let rendezvous = Timing {
        eager_bytes: 99,
        ..Timing::default()
    };
    assert_eq!(run(ranks(), rendezvous).0[0], Some(23));
}

#[test]
fn overheads_occupy_the_stream_of_both_ends() {
    let timing = Timing {
        overhead: Time::from_us(2),
        ..Timing::default()
    };
    // Two sends one after the other: 4 us. The first is there at 12, and taken when the receiver
    // has computed, at 20; the second behind it.
    let sends = rank(&[(send(1, 1, 0), 0), (send(1, 1, 0), 0)], &[]);
    let takes = rank(
        &[(compute(20), 0), (receive(0, 0), 0), (receive(0, 0), 0)],
        &[],
    );
    let (done, left) = run(graph(vec![sends, takes]).unwrap(), timing);
    assert_eq!((done, left), (vec![Some(4), Some(24)], 0));
}

#[test]
fn an_operation_may_wait_for_the_start_of_another() {
    let mut first = rank(&[(compute(50), 0), (send(1, 1, 0), 1)], &[]);
    first.after_start(1, 0);
    let (done, _) = run(
        graph(vec![first, rank(&[(receive(0, 0), 0)], &[])]).unwrap(),
        Timing::default(),
    );
    assert_eq!(done, [Some(50), Some(10)]);
}

#[test]
fn messages_to_oneself_take_no_time() {
    let own = rank(
        &[(receive(0, 5), 0), (compute(4), 1), (send(0, 9, 5), 1)],
        &[(2, 1)],
    );
    let other = rank(&[(send(0, 1, 6), 0)], &[]);
    let graph = graph(vec![own, other]).unwrap();
    assert_eq!(graph.messages(), 1);
    assert_eq!(run(graph, Timing::default()), (vec![Some(4), Some(0)], 0));
}

#[test]
fn what_nobody_sends_is_waited_for() {
    let waits = rank(&[(receive(1, 5), 0)], &[]);
    let sends = rank(&[(send(0, 1, 6), 0)], &[]);
    let graph = graph(vec![waits, sends]).unwrap();
    let error = graph.unmatched()[0].to_string();
    assert!(
        error.starts_with("rank 1 sends 0 message(s) with tag 5 to rank 0"),
        "{error}"
    );
    assert_eq!(run(graph, Timing::default()), (vec![None, Some(0)], 1));
}

#[test]
fn graphs_without_sense_are_refused() {
    let fails = |ranks: Vec<RankBuilder>| graph(ranks).unwrap_err();
    let receives = || rank(&[(receive(0, 0), 0)], &[]);
    assert_eq!(
        fails(vec![receives()]),
        GraphError::TooFewRanks { ranks: 1 }
    );
    let nothing = || vec![RankBuilder::default(); 2];
    assert_eq!(fails(nothing()), GraphError::NoOperations);
    let circle = rank(
        &[(compute(1), 0), (compute(1), 0), (send(1, 1, 0), 0)],
        &[(0, 1), (1, 0)],
    );
    let found = fails(vec![circle, receives()]);
    assert_eq!(
        found,
        GraphError::Circle {
            rank: 0,
            operation: 0
        }
    );
    let far = rank(&[(compute(1), 0), (send(7, 1, 0), 0)], &[]);
    let found = fails(vec![far, receives()]);
    let expected = GraphError::NoSuchPeer {
        rank: 0,
        operation: 1,
        peer: 7,
        ranks: 2,
    };
    assert_eq!(found, expected);
    let tag = rank(&[(send(1, 1, u32::MAX), 0)], &[]);
    let found = fails(vec![tag, receives()]);
    assert_eq!(
        found,
        GraphError::TagOfAny {
            rank: 0,
            operation: 0
        }
    );
}

/// Two groups run a collective each, and then all ranks run one, to which one rank comes late.
#[test]
fn groups_run_their_collectives_in_order() {
    let mut builder = GraphBuilder::default();
    let all = builder.collectives.add_group(vec![0, 1, 2, 3]).unwrap();
    let pairs = [[0, 2], [3, 1]].map(|pair| builder.collectives.add_group(pair.to_vec()).unwrap());
    let ring: CollectiveKind = AllReduceRing.into();
    for rank in 0..4 {
        let mut of = RankBuilder::default();
        let pair = pairs[usize::from(rank % 2 == 1)];
        for (group, nth, bytes) in [(pair, 0, 100), (pair, 1, 70), (all, 0, 400)] {
            let which = builder
                .collectives
                .add(group, nth, rank, &ring, bytes)
                .unwrap();
            let place = of.add_collective(group, which, 0);
            if place > 0 {
                of.after(place, place - 1);
            }
            if rank == 3 && group == all {
                let late = of.add(compute(1_000), 1);
                of.after(place, late);
            }
        }
        builder.add(of).unwrap();
    }
    let graph = builder.finish().unwrap();
    let (done, left) = run(graph, Timing::default());
    assert_eq!(left, 0);
    // A ring of two has 2 steps of 10 us, and the last acknowledgement 10 more; that of four 6
    // steps, once the last rank has come.
    assert!(
        done.iter()
            .all(|done| done.is_some_and(|done| (1_050..=1_070).contains(&done))),
        "{done:?}"
    );
}

#[test]
fn ranks_of_a_group_run_the_same() {
    let mut builder = GraphBuilder::default();
    let group = builder.collectives.add_group(vec![0, 1]).unwrap();
    let ring: CollectiveKind = AllReduceRing.into();
    let which = builder.collectives.add(group, 0, 0, &ring, 8).unwrap();
    let differs = builder
        .collectives
        .add(group, 0, 1, &ring, 9)
        .unwrap_err()
        .to_string();
    assert!(
        differs.contains("all-reduce (ring) of 9 bytes at rank 1"),
        "{differs}"
    );
    let outside = builder.collectives.add(group, 0, 2, &ring, 8).unwrap_err();
    assert_eq!(outside, GraphError::NotInGroup { rank: 2, group });
    let twice = builder.collectives.add_group(vec![1, 1]).unwrap_err();
    assert_eq!(twice, GraphError::TwiceInGroup { rank: 1 });
    let mut alone = RankBuilder::default();
    alone.add_collective(group, which, 0);
    builder.add(alone).unwrap();
    builder.add(RankBuilder::default()).unwrap();
    let missing = builder.finish().unwrap_err();
    assert_eq!(
        missing,
        GraphError::NotAllTakePart {
            which,
            ranks: 1,
            group_size: 2
        }
    );
}

/// If the algorithm and chunks of a collective do not depend on its size, neither does the number
/// of transfers on any queue pair. Collectives of one group rely on this to share queue pairs.
#[test]
fn transfers_on_a_way_do_not_depend_on_the_size() {
    for kind in members() {
        if kind.counts_depend_on_size() || kind.own_size().is_some() {
            continue;
        }
        let of = |bytes: u64| {
            let schedule = kind.schedule(16, bytes).expect("sixteen suit all");
            let mut ways: BTreeMap<(u32, Destination), u32> = BTreeMap::new();
            for id in 0..schedule.transfer_count() {
                let transfer = schedule.transfer(id);
                let way = transfer.way(QueuePairScope::RankPair);
                *ways.entry((transfer.src, way)).or_default() += 1;
            }
            ways
        };
        let few = of(1);
        for bytes in [2, 15, 1_000, 1 << 20, 1 << 30] {
            assert_eq!(of(bytes), few, "{} of {bytes}", kind.member());
        }
    }
}

proptest! {
    /// Every operation is done exactly once, in whatever order ranks proceed, if each message has
    /// its receive later in one common order.
    #[test]
    fn matched_graphs_are_carried_out(
        messages in prop::collection::vec((0_u32..5, 0_u32..5, 0_u32..3, 0_u32..3), 1..60),
        times in prop::collection::vec((0_u32..5, 0_u64..20, 0_u32..3), 0..30),
        chained in any::<bool>(),
        eager in any::<bool>(),
    ) {
        let mut ranks = vec![RankBuilder::default(); 5];
        let mut add = |at: u32, operation: Operation, stream: u32| {
            let rank = &mut ranks[at as usize];
            let place = rank.add(operation, stream);
            if chained && place > 0 {
                rank.after(place, place - 1);
            }
        };
        let mut times = times.into_iter();
        for &(src, dst, tag, stream) in &messages {
            if let Some((at, us, stream)) = times.next() {
                add(at, compute(us), stream);
            }
            add(src, send(dst, 64, tag), stream);
            add(dst, receive(src, tag), stream);
        }
        let sent = messages.iter().filter(|of| of.0 != of.1).count();
        let graph = graph(ranks).expect("it makes sense");
        prop_assert_eq!(graph.unmatched(), []);
        prop_assert_eq!(graph.messages() as usize, sent);
        let eager_bytes = if eager { 64 } else { 0 };
        let timing = Timing { eager_bytes, ..Timing::default() };
        prop_assert_eq!(run(graph, timing).1, 0);
    }
}
