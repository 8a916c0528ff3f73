//! A workload's flows as transfers without dependencies.

use super::FlowSchedule;
use crate::{Destination, QueuePairScope, Schedule, Transfer};

impl Schedule for FlowSchedule {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn transfer_count(&self) -> u32 {
        self.count
    }

    fn transfer(&self, id: u32) -> Transfer {
        let (slots, number) = (self.slots(), id / self.slots());
        let (way, lane) = self.way_of(id % slots);
        // Draws belong to the pair of ranks, so other ways do not change its sizes.
        let pair = self
            .workload
            .draws
            .of(u64::from(way.src) << 32 | u64::from(way.dst));
        Transfer {
            src: way.src,
            dst: way.dst,
            bytes: self
                .workload
                .sizes
                .draw(pair.of(u64::from(lane)).at(u64::from(number))),
            chunk: lane,
            channel: lane,
            step: 0,
            reduce: false,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        if self.workload.is_open() {
            return;
        }
        let ways = self.ways_from(rank);
        // A slot beyond the flow limit never starts a flow.
        let (from, to) = (self.first[ways.start], self.first[ways.end]);
        out.extend(from..to.min(self.count).max(from));
    }

    fn released_by(&self, _id: u32, _out: &mut Vec<u32>) {}

    fn dependencies(&self, _id: u32) -> u32 {
        0
    }

    fn pairs(&self, rank: u32, _scope: QueuePairScope, out: &mut Vec<Destination>) {
        for way in &self.workload.ways[self.ways_from(rank)] {
            out.extend((0..way.parallel).map(|lane| Destination { dst: way.dst, lane }));
        }
    }

    fn nth(&self, src: u32, to: Destination, _scope: QueuePairScope, nth: u32) -> Option<u32> {
        let key = (src, to.dst);
        let ways = &self.workload.ways;
        let index = ways
            .binary_search_by_key(&key, |way| (way.src, way.dst))
            .ok()?;
        let slot = self.first[index] + to.lane;
        let id = nth.checked_mul(self.slots())?.checked_add(slot)?;
        // Open loops number flows slot by slot without regard to the limit, which bounds each
        // sender's share.
        let is_one = self.workload.is_open() || id < self.count;
        (to.lane < ways[index].parallel && is_one).then_some(id)
    }

    fn flow_workload(&self) -> Option<&FlowSchedule> {
        Some(self)
    }
}
