//! Flow workloads: flows with sizes from a distribution, in a closed or an open loop.
//!
//! They are no collective: no rank waits for data that others send. Each flow has a number, from
//! which its ends and its size follow, so nothing is stored for flows that are over or have not
//! begun. Sizes come from the published distributions in `flow-sizes/`. Closed loops keep a given
//! number of flows under way for each pair, as load generators do; open loops offer a share of the
//! senders' rate, as simulations of data-centre transports do.

mod transfers;

use std::sync::Arc;

use tenter_engine::Draws;
use tenter_language::units::Time;

use super::{GapLaw, Receivers, SizeDistribution, Weights};
use crate::collective::{CollectiveMember, Factor};

static CLOSED_LOOP: CollectiveMember = CollectiveMember {
    collective: "flows",
    algorithm: "closed-loop",
    summary: "flows of random sizes, so many at a time between two ranks",
    model_page: "docs/models/collective-flow-workload.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

static OPEN_LOOP: CollectiveMember = CollectiveMember {
    collective: "flows",
    algorithm: "open-loop",
    summary: "flows of random sizes at random times, at a share of the senders' rate",
    model_page: "docs/models/collective-flow-workload.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

/// Flows from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowWay {
    /// Sending rank, by its number within the job.
    pub src: u32,
    /// Receiving rank, by its number within the job; never equal to `src`.
    pub dst: u32,
    /// In a closed loop, the flows under way at a time; in an open loop, the queue pairs that flows
    /// use in turn.
    pub parallel: u32,
}

/// Rule that decides when flows start.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// A flow starts when its predecessor in the same slot is acknowledged.
    ClosedLoop,
    /// Each sender starts flows at random times, each to one of its receivers.
    EachSender {
        /// Distribution from which a sender's gaps are drawn.
        gaps: GapLaw,
        /// Each rank's mean gap; unused for ranks that send nothing.
        means: Vec<Time>,
        /// Rule that chooses among a sender's receivers.
        receivers: Receivers,
    },
    /// At random times several senders start a flow to the same receiver. All receivers, and all
    /// choices among their senders, are equally likely.
    Incasts {
        /// Distribution from which gaps between incasts are drawn.
        gaps: GapLaw,
        /// Mean gap between two incasts.
        mean: Time,
        /// Senders in an incast; all, if the receiver has fewer.
        degree: u32,
    },
}

/// A flow workload: senders, receivers, sizes, starting rule and limits.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowWorkload {
    /// Distribution that sizes are drawn from.
    pub sizes: SizeDistribution,
    /// Ways in ascending order by source and destination, each once.
    pub ways: Vec<FlowWay>,
    /// Total flow count, if that is the limit. Each slot (one of a way's parallel flows) starts its
    /// share.
    pub flows: Option<u32>,
    /// Time after the job's start from which no flow starts any more, if that is the limit.
    pub duration: Option<Time>,
    /// Rule that decides when flows start.
    pub arrivals: Arrivals,
    /// Random draws that decide flow sizes.
    pub draws: Draws,
    /// Random draws for arrival times and receivers in an open loop.
    pub arrival_draws: Draws,
}

impl FlowWorkload {
    /// Returns the flows that are under way at a time, over all ways.
    pub fn slots(&self) -> u64 {
        self.ways.iter().map(|way| u64::from(way.parallel)).sum()
    }

    /// Returns the static description: names, limits, bus bandwidth.
    pub(crate) fn member(&self) -> &'static CollectiveMember {
        if self.is_open() {
            &OPEN_LOOP
        } else {
            &CLOSED_LOOP
        }
    }

    /// Returns true if flows start whether earlier flows have ended or not.
    pub fn is_open(&self) -> bool {
        self.arrivals != Arrivals::ClosedLoop
    }

    /// Returns the least time that the workload takes on average: as long as flows arrive, or as
    /// the busiest port needs for its share of them.
    pub(crate) fn ideal_time(&self, ranks: u32, port_time: &dyn Fn(u64) -> Time) -> Time {
        let Some(flows) = self.flows else {
            return self.duration.unwrap_or_default();
        };
        let mut ports = vec![[0_u64; 2]; ranks as usize];
        let mut all = 0;
        for (index, way) in self.ways.iter().enumerate() {
            let weights = self.weights();
            let weight = weights.map_or(u64::from(way.parallel), |weights| weights.of(index));
            ports[way.src as usize][0] += weight;
            ports[way.dst as usize][1] += weight;
            all += weight;
        }
        let busiest = ports.into_iter().flatten().max().unwrap_or_default();
        let share = u128::from(flows) * u128::from(busiest) / u128::from(all.max(1));
        let ps = u128::from(port_time(self.sizes.mean() as u64).ps()) * share;
        let time = Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX));
        let time = self.duration.map_or(time, |limit| time.min(limit));
        time.max(self.arriving().unwrap_or_default())
    }

    /// Returns each way's relative frequency, if the workload gives one per way.
    pub fn weights(&self) -> Option<&Weights> {
        match &self.arrivals {
            Arrivals::EachSender {
                receivers: Receivers::Weighted(weights),
                ..
            } => Some(weights),
            _ => None,
        }
    }

    /// Returns the mean arrival rate in flows per second; `None` for a closed loop.
    pub fn arrivals_per_second(&self) -> Option<f64> {
        let per_second = |mean: Time| 1.0 / mean.as_s().max(1e-12);
        match &self.arrivals {
            Arrivals::ClosedLoop => None,
            Arrivals::EachSender { means, .. } => {
                let senders = self.senders().into_iter();
                Some(senders.map(|rank| per_second(means[rank as usize])).sum())
            }
            Arrivals::Incasts { mean, degree, .. } => Some(per_second(*mean) * f64::from(*degree)),
        }
    }

    /// Returns the mean time for which flows arrive in an open loop.
    fn arriving(&self) -> Option<Time> {
        let flows = u64::from(self.flows?);
        if self.weights().is_some() {
            // Senders with more flows start them faster, so all finish at about the same time.
            let seconds = flows as f64 / self.arrivals_per_second()?;
            let time = Time::from_ps((seconds * 1e12) as u64);
            return Some(self.duration.map_or(time, |limit| time.min(limit)));
        }
        let (turns, mean) = match &self.arrivals {
            Arrivals::ClosedLoop => return None,
            Arrivals::EachSender { means, .. } => {
                let senders = self.senders();
                let slowest = senders.iter().map(|&rank| means[rank as usize]).max()?;
                (flows.div_ceil(senders.len() as u64), slowest)
            }
            Arrivals::Incasts { mean, degree, .. } => (flows / u64::from(*degree).max(1), *mean),
        };
        let time = Time::from_ps(mean.ps().saturating_mul(turns));
        Some(self.duration.map_or(time, |limit| time.min(limit)))
    }

    /// Lists the ranks that send, in ascending order.
    fn senders(&self) -> Vec<u32> {
        let mut senders: Vec<u32> = self.ways.iter().map(|way| way.src).collect();
        senders.dedup();
        senders
    }
}

/// A sender's progress in an open loop.
#[derive(Clone, Debug, Default)]
pub struct Sender {
    /// Number of the sender's next arrival, or of the job's next incast.
    number: u64,
    /// Time from the sender's start to that arrival, in ps.
    at: u64,
    /// Flows that it has started, in total (`started`) and per way (`on_way`).
    started: u64,
    on_way: Vec<u32>,
}

/// The schedule. Slot s has the flows s, s + slots, s + 2·slots and so on.
#[derive(Clone, Debug)]
pub struct FlowSchedule {
    workload: Arc<FlowWorkload>,
    ranks: u32,
    /// Each way's first slot, followed by the slot count.
    first: Vec<u32>,
    /// Total flow count, or the greatest number if there is no limit.
    count: u32,
    /// Ranks that send, in ascending order (`senders`), and the ways that lead to each rank
    /// (`ways_to`). Both are empty in a closed loop, which does not need them.
    senders: Vec<u32>,
    ways_to: Vec<Vec<u32>>,
    /// Ranks that receive, in ascending order.
    receivers: Vec<u32>,
}

impl FlowSchedule {
    pub(crate) fn new(ranks: u32, workload: &Arc<FlowWorkload>) -> FlowSchedule {
        let mut first = vec![0];
        let mut slots = 0_u32;
        for way in &workload.ways {
            slots = slots.saturating_add(way.parallel);
            first.push(slots);
        }
        // A closed loop draws no receivers, so it needs neither list.
        let (mut senders, mut ways_to) = (Vec::new(), Vec::new());
        if workload.is_open() {
            senders = workload.senders();
            ways_to = vec![Vec::new(); ranks as usize];
            for (index, way) in (0..).zip(&workload.ways) {
                ways_to[way.dst as usize].push(index);
            }
        }
        FlowSchedule {
            workload: Arc::clone(workload),
            senders,
            receivers: (0..)
                .zip(&ways_to)
                .filter(|(_, ways)| !ways.is_empty())
                .map(|(rank, _)| rank)
                .collect(),
            ways_to,
            ranks,
            first,
            count: workload.flows.unwrap_or(u32::MAX),
        }
    }

    fn slots(&self) -> u32 {
        self.first.last().copied().unwrap_or(0).max(1)
    }

    /// Returns a slot's way, and its lane on that way.
    fn way_of(&self, slot: u32) -> (FlowWay, u32) {
        let index = self.first.partition_point(|&first| first <= slot) - 1;
        (self.workload.ways[index], slot - self.first[index])
    }

    /// Returns the ways that start at a rank, as an index range.
    fn ways_from(&self, rank: u32) -> std::ops::Range<usize> {
        let ways = &self.workload.ways;
        ways.partition_point(|way| way.src < rank)..ways.partition_point(|way| way.src <= rank)
    }

    /// Returns the workload that this schedule carries out.
    pub fn workload(&self) -> &FlowWorkload {
        &self.workload
    }

    /// Returns the index of a flow's way.
    pub fn way_index(&self, id: u32) -> usize {
        let slot = id % self.slots();
        self.first.partition_point(|&first| first <= slot) - 1
    }

    /// Returns the number of sources that must finish before the workload is complete: slots that
    /// start a flow in a closed loop, senders in an open loop.
    pub fn sources(&self) -> u64 {
        if self.workload.is_open() {
            return self.senders.len() as u64;
        }
        u64::from(self.slots().min(self.count))
    }

    /// Returns the flow after `id` in its slot; `None` if there is none, or if no flow may start
    /// any more. `elapsed` is the time since the start of the job.
    pub fn next_in_slot(&self, id: u32, elapsed: Time) -> Option<u32> {
        if self.workload.is_open() {
            return None;
        }
        let next = id.checked_add(self.slots())?;
        (next < self.count && self.may_start(elapsed)).then_some(next)
    }

    /// Returns a sender's next flow in an open loop, and the time from the sender's start to the
    /// flow's start; `None` if there are no more.
    pub fn next_arrival(&self, rank: u32, sender: &mut Sender) -> Option<(Time, u32)> {
        let ways = self.ways_from(rank);
        sender.on_way.resize(ways.len(), 0);
        let way = match &self.workload.arrivals {
            Arrivals::ClosedLoop => return None,
            Arrivals::EachSender {
                gaps,
                means,
                receivers,
            } => {
                let draws = self.workload.arrival_draws.of(u64::from(rank));
                let gap = gaps.draw(means[rank as usize], draws, sender.number);
                sender.at = sender.at.saturating_add(gap.ps());
                sender.number += 1;
                if ways.is_empty() || sender.started >= self.share(rank) {
                    return None;
                }
                receivers.draw(ways.clone(), draws.of(1), sender.number) - ways.start
            }
            Arrivals::Incasts { .. } => self.next_incast(rank, sender)?,
        };
        let at = Time::from_ps(sender.at);
        if !self.may_start(at) {
            return None;
        }
        sender.started += 1;
        let nth = sender.on_way[way];
        sender.on_way[way] += 1;
        let index = ways.start + way;
        let lanes = self.workload.ways[index].parallel;
        // Flows of a way take its lanes in turn; the identifiers of one slot are `slots()` apart.
        let slot = self.first[index] + nth % lanes;
        let id = (nth / lanes).checked_mul(self.slots())?.checked_add(slot)?;
        Some((at, id))
    }

    /// Returns the most flows that a sender starts in an open loop: its share if there is a limit.
    fn share(&self, rank: u32) -> u64 {
        let Some(all) = self.workload.flows.map(u64::from) else {
            return u64::MAX;
        };
        if let Some(weights) = self.workload.weights() {
            return weights.share(all, &self.ways_from(rank));
        }
        let Ok(place) = self.senders.binary_search(&rank) else {
            return 0;
        };
        let senders = self.senders.len() as u64;
        all / senders + u64::from((place as u64) < all % senders)
    }

    /// Returns a flow on the way before which `place`/2⁶⁴ of all flows lie, if the workload has
    /// weights. Evenly spaced places thus represent all flows.
    pub fn typical(&self, place: u64, number: u32) -> Option<u32> {
        let slots = self.slots();
        let slot = self.first[self.workload.weights()?.at(place)];
        Some(number % (u32::MAX / slots) * slots + slot)
    }

    /// Advances to the next incast that a sender takes part in and returns the index of its way
    /// there.
    ///
    /// Every sender computes the same sequence of incasts, so no state is shared between nodes.
    fn next_incast(&self, rank: u32, sender: &mut Sender) -> Option<usize> {
        let Arrivals::Incasts { gaps, mean, degree } = &self.workload.arrivals else {
            return None;
        };
        let workload = &*self.workload;
        let draws = workload.arrival_draws;
        let ways = self.ways_from(rank);
        let incasts = workload
            .flows
            .map(|flows| u64::from((flows / degree).max(1)));
        loop {
            if incasts.is_some_and(|incasts| sender.number >= incasts) {
                return None;
            }
            // A sequence that no rank's number can name: these draws belong to all senders
            // together.
            let gap = gaps.draw(*mean, draws.of(u64::MAX), sender.number);
            sender.at = sender.at.saturating_add(gap.ps());
            sender.number += 1;
            if !self.may_start(Time::from_ps(sender.at)) {
                return None;
            }
            let own = draws.of(sender.number);
            let receivers: &[Vec<u32>] = &self.ways_to;
            let number = own.below(0, self.receivers.len() as u64);
            let receiver = self.receivers[number as usize];
            let candidates = &receivers[receiver as usize];
            let place = |way: u32| (own.at(1 + u64::from(workload.ways[way as usize].src)), way);
            let Some(&mine) = candidates
                .iter()
                .find(|way| ways.contains(&(**way as usize)))
            else {
                continue;
            };
            let before = candidates
                .iter()
                .filter(|way| place(**way) < place(mine))
                .count();
            // The `degree` senders with the lowest draws take part.
            if before < *degree as usize {
                return Some(mine as usize - ways.start);
            }
        }
    }

    /// Returns true if the rank sends flows.
    pub fn sends(&self, rank: u32) -> bool {
        !self.ways_from(rank).is_empty()
    }

    /// Returns true if a flow may start `elapsed` after the job's start.
    pub fn may_start(&self, elapsed: Time) -> bool {
        self.workload.duration.is_none_or(|limit| elapsed < limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_workload::NamedDistribution;
    use crate::{QueuePairScope, Schedule};

    const SCOPE: QueuePairScope = QueuePairScope::RankPair;

    /// Two flows at a time from 0 to 1, one from 0 to 2, three from 2 to 1: six slots.
    fn schedule(flows: Option<u32>, duration: Option<Time>) -> FlowSchedule {
        let way = |src, dst, parallel| FlowWay { src, dst, parallel };
        let hadoop = NamedDistribution::find("facebook-hadoop-homa").expect("it is known");
        let workload = FlowWorkload {
            sizes: hadoop
                .distribution()
                .expect("a distribution of the program"),
            ways: vec![way(0, 1, 2), way(0, 2, 1), way(2, 1, 3)],
            flows,
            duration,
            arrivals: Arrivals::ClosedLoop,
            draws: Draws::new(1, "job0", "flow sizes"),
            arrival_draws: Draws::new(1, "job0", "flow arrivals"),
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

    /// Four senders to each other, a flow each every 10 us on average.
    fn open(arrivals: Arrivals, flows: Option<u32>, duration: Option<Time>) -> FlowSchedule {
        let pairs = (0..16).map(|pair| (pair / 4, pair % 4));
        let ways = pairs.filter(|(src, dst)| src != dst);
        let way = |(src, dst)| FlowWay {
            src,
            dst,
            parallel: 2,
        };
        let workload = FlowWorkload {
            sizes: SizeDistribution::fixed(1_000),
            ways: ways.map(way).collect(),
            flows,
            duration,
            arrivals,
            draws: Draws::new(1, "job0", "flow sizes"),
            arrival_draws: Draws::new(1, "job0", "flow arrivals"),
        };
        FlowSchedule::new(4, &Arc::new(workload))
    }

    fn all_of(schedule: &FlowSchedule, rank: u32) -> Vec<(Time, u32)> {
        let mut sender = Sender::default();
        std::iter::from_fn(|| schedule.next_arrival(rank, &mut sender)).collect()
    }

    #[test]
    fn senders_of_an_open_loop_draw_by_themselves() {
        let arrivals = Arrivals::EachSender {
            gaps: GapLaw::Exponential,
            means: vec![Time::from_us(10); 4],
            receivers: Receivers::Alike,
        };
        let schedule = open(arrivals.clone(), Some(4_001), None);
        let flows = [0, 1, 2, 3].map(|rank| all_of(&schedule, rank));
        assert_eq!(flows.each_ref().map(Vec::len), [1_001, 1_000, 1_000, 1_000]);
        for (rank, flows) in (0..).zip(&flows) {
            // A thousand gaps of 10 us, give or take four times 10 · √1,000 = 316 us.
            let last = flows.last().map_or(0.0, |(at, _)| at.as_ns() / 1e3);
            assert!((last - 10_000.0).abs() < 4.0 * 320.0, "{last}");
            let mut to = [0; 4];
            for (_, id) in flows {
                let transfer = schedule.transfer(*id);
                assert_eq!(transfer.src, rank);
                to[transfer.dst as usize] += 1;
                let nth = schedule.nth(rank, transfer.way(SCOPE), SCOPE, id / 24);
                assert_eq!(nth, Some(*id));
            }
            // A third each, give or take four times √(1,000 · 2/9) = 15.
            let even = |to: &u32| *to == 0 || (270..395).contains(to);
            assert!(to.iter().all(even), "{to:?}");
        }
        let timed = open(arrivals, None, Some(Time::from_us(5_000)));
        let some = all_of(&timed, 2);
        let before: Vec<_> = flows[2]
            .iter()
            .copied()
            .filter(|(at, _)| *at < Time::from_us(5_000))
            .collect();
        assert_eq!(some, before);
    }

    #[test]
    fn senders_agree_on_incasts_without_a_word() {
        let arrivals = Arrivals::Incasts {
            gaps: GapLaw::LogNormal { sigma: 1.0 },
            mean: Time::from_us(10),
            degree: 2,
        };
        let schedule = open(arrivals, Some(2_000), None);
        let mut incasts: std::collections::BTreeMap<Time, Vec<(u32, u32)>> =
            std::collections::BTreeMap::default();
        for rank in 0..4 {
            for (at, id) in all_of(&schedule, rank) {
                let transfer = schedule.transfer(id);
                incasts
                    .entry(at)
                    .or_default()
                    .push((transfer.src, transfer.dst));
            }
        }
        assert_eq!(incasts.len(), 1_000);
        let mut received = [0; 4];
        for flows in incasts.values() {
            let [(a, to), (b, also)] = flows[..] else {
                panic!("{flows:?}");
            };
            assert!(a != b && to == also);
            received[to as usize] += 1;
        }
        // A quarter each, give or take four times √(1,000 · 3/16) = 14.
        assert!(
            received.iter().all(|count| (195..305).contains(count)),
            "{received:?}"
        );
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
