//! Network for tests on which transfers take a time by their bytes and never wait.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use tenter_language::units::{Instant, Time};

use super::{Action, Consequences, Graph, GraphSchedule, Marks, Metered, News, RankRun, Timing};
use crate::{Destination, QueuePairScope, Schedule};

/// Event on the network or at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happens {
    Arrives { to: Destination, nth: u32, src: u32 },
    Acknowledged { rank: u32, transfer: u32 },
    Woken { rank: u32, operation: u32 },
}

/// Runs a graph on a network on which a transfer of `n` bytes takes `takes(n)` ps. Returns the time
/// of the whole run in ps, and the attributed time of each rank.
pub(crate) fn run(graph: Graph, marks: Marks, takes: impl Fn(u64) -> u64) -> (u64, Vec<Metered>) {
    let timing = Timing {
        eager_bytes: 0,
        ..Timing::default()
    };
    let schedule = GraphSchedule::new(Arc::new(graph), timing).expect("it can be run");
    let schedule = schedule.metered(marks);
    let ranks = 0..schedule.ranks();
    let mut runs: Vec<RankRun> = ranks.map(|rank| RankRun::new(&schedule, rank)).collect();
    let mut sent: BTreeMap<(u32, Destination), u32> = BTreeMap::new();
    let mut heap = BinaryHeap::new();
    let mut out = Consequences::default();
    let mut end = Instant::START;
    let mut act = |now: Instant, rank: u32, out: &mut Vec<Action>, heap: &mut BinaryHeap<_>| {
        for action in out.drain(..) {
            match action {
                Action::Post(transfer) => {
                    let of = schedule.transfer(transfer);
                    let to = of.way(QueuePairScope::RankPair);
                    let nth = sent.entry((rank, to)).or_default();
                    let arrives = Happens::Arrives {
                        to,
                        nth: *nth,
                        src: rank,
                    };
                    *nth += 1;
                    let at = now + Time::from_ps(takes(of.bytes));
                    heap.push(Reverse((at, arrives)));
                    heap.push(Reverse((at, Happens::Acknowledged { rank, transfer })));
                }
                Action::Wake(time, operation) => {
                    let woken = Happens::Woken { rank, operation };
                    heap.push(Reverse((now + time, woken)));
                }
                Action::Done => end = end.max(now),
            }
        }
    };
    for rank in 0..schedule.ranks() {
        runs[rank as usize].hear(&schedule, News::Start, Instant::START, &mut out);
        act(Instant::START, rank, &mut out.actions, &mut heap);
    }
    while let Some(Reverse((now, happens))) = heap.pop() {
        let (rank, news) = match happens {
            Happens::Arrives { to, nth, src } => {
                let id = schedule.nth(src, to, QueuePairScope::RankPair, nth);
                (to.dst, News::Arrived(id.expect("it was posted")))
            }
            Happens::Acknowledged { rank, transfer } => (rank, News::Acknowledged(transfer)),
            Happens::Woken { rank, operation } => (rank, News::Woken(operation)),
        };
        runs[rank as usize].hear(&schedule, news, now, &mut out);
        act(now, rank, &mut out.actions, &mut heap);
    }
    assert_eq!(
        runs.iter().map(RankRun::left).sum::<u32>(),
        0,
        "all is done"
    );
    let metered = runs.iter().filter_map(RankRun::metered).cloned();
    (end.ps(), metered.collect())
}
