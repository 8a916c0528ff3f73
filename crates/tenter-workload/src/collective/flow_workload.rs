//! Flow workloads: flows with sizes by a law, in a closed loop.
//!
//! No collective: nobody waits for what others send. Each flow has a number, from which its ends
//! and its size follow, so nothing is stored for flows that are over or have not begun. Sizes are
//! as published with the laws in `flow-sizes/`; closed loops as load generators have them, so many
//! flows at a time for each pair.

use std::sync::Arc;

use tenter_engine::Draws;
use tenter_units::Time;

use super::{CollectiveKind, CollectiveMember, Factor};
use crate::flow_workload::SizeLaw;
use crate::{Destination, QueuePairScope, Schedule, Transfer};

pub(super) static CLOSED_LOOP: CollectiveMember = CollectiveMember {
    collective: "flows",
    algorithm: "closed-loop",
    summary: "flows of random sizes, so many at a time between two ranks",
    model_page: "docs/models/collective-flow-workload.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
    default: CollectiveKind::AllToAllParallel,
};

/// Flows from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowWay {
    /// The rank that sends.
    pub src: u32,
    /// The rank that receives; never `src`.
    pub dst: u32,
    /// How many flows are under way at a time.
    pub parallel: u32,
}

/// Who sends flows of which sizes to whom, and how many.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowWorkload {
    /// The law of sizes.
    pub sizes: SizeLaw,
    /// The ways, ascending by source and destination, each once.
    pub ways: Vec<FlowWay>,
    /// How many flows there are in all, if that ends it: a slot (one of the parallel flows of a
    /// way) starts its share of them.
    pub flows: Option<u32>,
    /// From the start of the job to when no flow starts any more, if that ends it.
    pub duration: Option<Time>,
    /// Where sizes come from.
    pub draws: Draws,
}

impl FlowWorkload {
    /// How many flows are under way at a time, over all ways.
    pub fn slots(&self) -> u64 {
        self.ways.iter().map(|way| u64::from(way.parallel)).sum()
    }
}

impl FlowWorkload {
    /// How long it takes at least, on average: as long as flows start, or as the busiest port takes
    /// for its share of them.
    pub(crate) fn ideal_time(&self, ranks: u32, port_time: &dyn Fn(u64) -> Time) -> Time {
        let Some(flows) = self.flows else {
            return self.duration.unwrap_or_default();
        };
        let mut slots = vec![[0_u64; 2]; ranks as usize];
        for way in &self.ways {
            slots[way.src as usize][0] += u64::from(way.parallel);
            slots[way.dst as usize][1] += u64::from(way.parallel);
        }
        let busiest = slots.into_iter().flatten().max().unwrap_or_default();
        let share = u128::from(flows) * u128::from(busiest) / u128::from(self.slots().max(1));
        let ps = u128::from(port_time(self.sizes.mean() as u64).ps()) * share;
        let time = Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX));
        self.duration.map_or(time, |limit| time.min(limit))
    }
}

/// The flows of a workload: slot s has those of the numbers s, s + slots, s + 2·slots and so on.
#[derive(Clone, Debug)]
pub struct FlowSchedule {
    workload: Arc<FlowWorkload>,
    ranks: u32,
    /// The first slot of each way, and at the end how many there are.
    first: Vec<u32>,
    /// Flows in all.
    count: u32,
}

impl FlowSchedule {
    pub(crate) fn new(ranks: u32, workload: &Arc<FlowWorkload>) -> FlowSchedule {
        let mut first = vec![0];
        let mut slots = 0_u32;
        for way in &workload.ways {
            slots = slots.saturating_add(way.parallel);
            first.push(slots);
        }
        FlowSchedule {
            workload: Arc::clone(workload),
            ranks,
            first,
            count: workload.flows.unwrap_or(u32::MAX),
        }
    }

    fn slots(&self) -> u32 {
        self.first.last().copied().unwrap_or(0).max(1)
    }

    /// The way and the lane of a slot.
    fn way_of(&self, slot: u32) -> (FlowWay, u32) {
        let index = self.first.partition_point(|&first| first <= slot) - 1;
        (self.workload.ways[index], slot - self.first[index])
    }

    /// The ways of a rank, as a range of indices.
    fn ways_from(&self, rank: u32) -> std::ops::Range<usize> {
        let ways = &self.workload.ways;
        ways.partition_point(|way| way.src < rank)..ways.partition_point(|way| way.src <= rank)
    }

    /// What it is a schedule of.
    pub fn workload(&self) -> &FlowWorkload {
        &self.workload
    }

    /// Slots that start a flow at all: each is done when its last flow is acknowledged.
    pub fn sources(&self) -> u64 {
        u64::from(self.slots().min(self.count))
    }

    /// The flow that follows one in its slot, started so long after the start of the job; none
    /// where that was the last one.
    pub fn next_in_slot(&self, id: u32, elapsed: Time) -> Option<u32> {
        let next = id.checked_add(self.slots())?;
        (next < self.count && self.may_start(elapsed)).then_some(next)
    }

    /// Whether a flow may start so long after the start of the job.
    pub fn may_start(&self, elapsed: Time) -> bool {
        self.workload.duration.is_none_or(|limit| elapsed < limit)
    }
}

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
        let ways = self.ways_from(rank);
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
        (to.lane < ways[index].parallel && id < self.count).then_some(id)
    }

    fn flow_workload(&self) -> Option<&FlowSchedule> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_workload::NamedLaw;

    const SCOPE: QueuePairScope = QueuePairScope::RankPair;

    /// Two flows at a time from 0 to 1, one from 0 to 2, three from 2 to 1: six slots.
    fn schedule(flows: Option<u32>, duration: Option<Time>) -> FlowSchedule {
        let way = |src, dst, parallel| FlowWay { src, dst, parallel };
        let hadoop = NamedLaw::find("facebook-hadoop-homa").expect("it is known");
        let workload = FlowWorkload {
            sizes: hadoop.law().expect("a law of the program"),
            ways: vec![way(0, 1, 2), way(0, 2, 1), way(2, 1, 3)],
            flows,
            duration,
            draws: Draws::new(1, "job0", "flow sizes"),
        };
        FlowSchedule::new(3, &Arc::new(workload))
    }

    #[test]
    fn slots_go_on_until_all_flows_are_started() {
        let schedule = schedule(Some(10), None);
        let mut ids = Vec::new();
        schedule.initial(0, &mut ids);
        assert_eq!(ids, [0, 1, 2]);
        ids.clear();
        schedule.initial(2, &mut ids);
        assert_eq!(ids, [3, 4, 5]);
        let next = |id| schedule.next_in_slot(id, Time::MAX);
        // Ten flows over six slots: two each for the first four, one for the others.
        assert_eq!([next(3), next(4), next(9)], [Some(9), None, None]);
        assert_eq!((schedule.sources(), schedule.transfer_count()), (6, 10));
    }

    #[test]
    fn no_flow_starts_after_the_end() {
        let schedule = schedule(None, Some(Time::from_us(5)));
        let before = Time::from_us(5) - Time::from_ps(1);
        assert_eq!(schedule.next_in_slot(2, before), Some(8));
        assert_eq!(schedule.next_in_slot(2, Time::from_us(5)), None);
        assert!(!schedule.may_start(Time::from_us(5)));
    }

    #[test]
    fn fewer_flows_than_slots() {
        let schedule = schedule(Some(4), None);
        let mut ids = Vec::new();
        schedule.initial(2, &mut ids);
        assert_eq!((ids, schedule.sources()), (vec![3], 4));
        ids = Vec::new();
        schedule.initial(1, &mut ids);
        assert!(ids.is_empty());
    }

    #[test]
    fn a_flow_is_known_by_its_way_and_place() {
        let schedule = schedule(Some(100), None);
        for id in 0..100 {
            let transfer = schedule.transfer(id);
            let way = transfer.way(SCOPE);
            let nth = schedule.nth(transfer.src, way, SCOPE, id / 6);
            assert_eq!(nth, Some(id), "{transfer:?}");
            let mut ways = Vec::new();
            schedule.pairs(transfer.src, SCOPE, &mut ways);
            assert!(ways.contains(&way) && ways.is_sorted());
        }
        // 16 · 6 + 4 is no flow any more.
        let last = schedule.transfer(5).way(SCOPE);
        assert_eq!(schedule.nth(2, last, SCOPE, 16), None);
        assert_eq!(schedule.nth(1, last, SCOPE, 0), None);
    }

    #[test]
    fn sizes_depend_on_the_way_the_lane_and_the_place_alone() {
        let few = schedule(Some(10), None);
        let many = schedule(None, Some(Time::from_us(1)));
        assert_eq!(few.transfer(9), many.transfer(9));
        let sizes: Vec<u64> = (0..4).map(|slot| few.transfer(slot).bytes).collect();
        assert!(sizes.windows(2).any(|pair| pair[0] != pair[1]), "{sizes:?}");
    }
}
