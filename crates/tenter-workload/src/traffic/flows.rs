//! Streams: endless flows between pairs of ranks, as a traffic generator sends them.
//!
//! Origin: the background traffic in "AI Fabric Test Methodology" (Keysight), which may come from a
//! generator as continuous flows. Streams are no collective: no rank waits for another, no size is
//! ever complete, and only background jobs have them.

use tenter_language::units::{Rate, Time};

use crate::collective::{CollectiveMember, Factor};
use crate::{Destination, QueuePairScope, Schedule, Transfer};

pub(super) static MEMBER: CollectiveMember = CollectiveMember {
    collective: "flows",
    algorithm: "continuous",
    summary: "streams between pairs of ranks that never end",
    model_page: "docs/models/collective-flows.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

/// A stream from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Sending rank, by its number within the job.
    pub src: u32,
    /// Receiving rank, by its number within the job; never equal to `src`.
    pub dst: u32,
    /// Payload rate at which messages are posted, at equal intervals.
    pub rate: Rate,
}

/// The schedule. Message k of flow f is transfer `f · messages + k`, and is posted k message times
/// after the start.
pub(super) struct Flows {
    ranks: u32,
    message_bytes: u64,
    /// Each flow, with its channel: the count of earlier flows between the same two ranks.
    streams: Vec<(Flow, u32)>,
    /// Each flow's ((source, destination, channel), index), in ascending order.
    sorted: Vec<((u32, u32, u32), u32)>,
}

impl Flows {
    pub(super) fn new(ranks: u32, message_bytes: u64, flows: &[Flow]) -> Flows {
        let mut sorted: Vec<((u32, u32, u32), u32)> = Vec::with_capacity(flows.len());
        for (flow, index) in flows.iter().zip(0..) {
            // The index keeps flows between the same ranks in their order; the loop below replaces
            // it by the flow's number among these.
            sorted.push(((flow.src, flow.dst, index), index));
        }
        sorted.sort_unstable();
        let mut numbered: Vec<(Flow, u32)> = flows.iter().map(|&flow| (flow, 0)).collect();
        for pair in sorted.chunk_by_mut(|a, b| (a.0.0, a.0.1) == (b.0.0, b.0.1)) {
            for (number, (key, index)) in (0..).zip(pair) {
                key.2 = number;
                numbered[*index as usize].1 = number;
            }
        }
        Flows {
            ranks,
            message_bytes,
            streams: numbered,
            sorted,
        }
    }

    /// Returns the messages that each flow can number; no simulation needs as many.
    fn messages(&self) -> u32 {
        u32::MAX / self.streams.len().max(1) as u32
    }

    /// Returns the time in ps from the start to message `number`. Counting from the start, rather
    /// than adding up intervals, keeps rounding errors from accumulating.
    fn posted_after(&self, flow: Flow, number: u32) -> u64 {
        // 128 bits, because bits times 10¹² exceed 64 bits after 18 Mbit.
        let bits = u128::from(self.message_bytes) * 8 * u128::from(number);
        let ps = bits * 1_000_000_000_000 / u128::from(flow.rate.bits_per_second().max(1));
        u64::try_from(ps).unwrap_or(u64::MAX)
    }

    fn find(&self, src: u32, to: Destination, scope: QueuePairScope) -> Option<u32> {
        match scope {
            QueuePairScope::RankPair => {
                let key = (src, to.dst, to.lane);
                let found = self.sorted.binary_search_by_key(&key, |(key, _)| *key);
                found.ok().map(|place| self.sorted[place].1)
            }
            QueuePairScope::Chunk => {
                let (flow, _) = self.streams.get(to.lane as usize)?;
                ((flow.src, flow.dst) == (src, to.dst)).then_some(to.lane)
            }
        }
    }
}

impl Schedule for Flows {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn transfer_count(&self) -> u32 {
        self.messages() * self.streams.len() as u32
    }

    fn transfer(&self, id: u32) -> Transfer {
        let index = id / self.messages();
        let (flow, channel) = self.streams[index as usize];
        Transfer {
            src: flow.src,
            dst: flow.dst,
            bytes: self.message_bytes,
            chunk: index,
            channel,
            step: 0,
            reduce: false,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        let own = (0..)
            .zip(&self.streams)
            .filter(|(_, (flow, _))| flow.src == rank);
        out.extend(own.map(|(index, _): (u32, _)| index * self.messages()));
    }

    fn released_by(&self, _id: u32, _out: &mut Vec<u32>) {}

    fn dependencies(&self, _id: u32) -> u32 {
        0
    }

    fn followed_by(&self, id: u32) -> Option<(u32, Time)> {
        let number = id % self.messages();
        let (flow, _) = self.streams[(id / self.messages()) as usize];
        let more = number + 1 < self.messages();
        let wait = self.posted_after(flow, number + 1) - self.posted_after(flow, number);
        // At least 1 ps, so that a stream of tiny messages cannot post without end at one instant.
        more.then(|| (id + 1, Time::from_ps(wait.max(1))))
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let start = out.len();
        for (index, (flow, channel)) in (0..).zip(&self.streams) {
            if flow.src == rank {
                out.push(Destination {
                    dst: flow.dst,
                    lane: scope.lane(*channel, index),
                });
            }
        }
        out[start..].sort_unstable();
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let index = self.find(src, to, scope)?;
        (nth < self.messages()).then(|| index * self.messages() + nth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(src: u32, dst: u32, gbps: u64) -> Flow {
        Flow {
            src,
            dst,
            rate: Rate::from_gbps(gbps),
        }
    }

    #[test]
    fn messages_follow_each_other_at_the_rate() {
        // 3 flows: 1,431,655,765 messages each. 1,000 bytes at 3 Gb/s are 2,666.67 ns.
        let flows = Flows::new(3, 1_000, &[flow(0, 1, 3), flow(2, 1, 8), flow(0, 1, 8)]);
        let mut ids = Vec::new();
        flows.initial(0, &mut ids);
        let third = u32::MAX / 3;
        assert_eq!(ids, [0, 2 * third]);
        let wait = |id| {
            flows
                .followed_by(id)
                .map(|(next, wait)| (next - id, wait.ps()))
        };
        assert_eq!(wait(0), Some((1, 2_666_666)));
        assert_eq!(wait(1), Some((1, 2_666_667)));
        assert_eq!(wait(third), Some((1, 1_000_000)));
        assert_eq!(wait(third - 1), None);
        let transfer = flows.transfer(2 * third + 7);
        assert_eq!((transfer.src, transfer.dst, transfer.channel), (0, 1, 1));
    }

    #[test]
    fn flows_between_the_same_ranks_are_told_apart() {
        let flows = Flows::new(3, 1_000, &[flow(0, 1, 3), flow(2, 1, 8), flow(0, 1, 8)]);
        let third = u32::MAX / 3;
        for scope in [QueuePairScope::RankPair, QueuePairScope::Chunk] {
            for (index, nth) in [(0, 5), (1, 0), (2, 9)] {
                let id = index * third + nth;
                let transfer = flows.transfer(id);
                let way = transfer.way(scope);
                assert_eq!(flows.nth(transfer.src, way, scope, nth), Some(id));
                let mut ways = Vec::new();
                flows.pairs(transfer.src, scope, &mut ways);
                assert!(ways.contains(&way) && ways.is_sorted());
            }
            let elsewhere = Destination { dst: 2, lane: 0 };
            assert_eq!(flows.nth(0, elsewhere, scope, 0), None);
        }
    }
}
