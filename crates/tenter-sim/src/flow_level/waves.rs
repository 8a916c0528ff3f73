//! Rings with one rate per rank, computed step by step for all ranks at once.
//!
//! Since no rate changes, the begin of a transfer depends on two instants only: the arrival from
//! the previous rank, and the end of the rank's own last transfer. After some steps, all ranks of a
//! ring are later by the same time than some steps before. From then on these steps repeat, and are
//! skipped. For rings that have their links to themselves, times are exactly those of the same
//! flows one by one.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use num_integer::gcd;
use tenter_workload::Rings;

/// Transfers between two questions to the caller whether to go on. Tests are small and ask more
/// often.
const TRANSFERS_PER_QUESTION: u64 = if cfg!(debug_assertions) {
    1 << 6
} else {
    1 << 24
};

/// Times for a rank's transfer to the next rank, in ps.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankTimes {
    /// From the transfer's begin to the earliest begin of the next.
    pub(super) sending: u64,
    /// From then to the transfer's arrival.
    pub(super) rest: u64,
}

/// Rings that are being run, step by step.
#[derive(Debug)]
pub(super) struct Waves<'a> {
    rings: Rings,
    ranks: &'a [RankTimes],
    /// Time from an arrival to the transfer that it releases, in ps.
    step_delay: u64,
    /// Instant at which each rank may send its next transfer, by its arrivals and by the end of its
    /// last transfer. `next` is scratch for `ready` after the step.
    ready: Vec<u64>,
    free: Vec<u64>,
    next: Vec<u64>,
    times: TimesByRank,
    done: u32,
}

/// Result after rings have run.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    /// The last arrival, in ps.
    pub(super) last: u64,
    /// Times from posting to arrival, in ps, each with the number of transfers that took it.
    pub(super) times: BTreeMap<u64, u64>,
    /// Steps that were computed; the others repeated them.
    pub(super) computed: u32,
    /// True if the caller stopped the rings before their end.
    pub(super) is_cut: bool,
}

/// Transfer times. A rank's time seldom changes from step to step, so the map is touched only when
/// it does.
#[derive(Debug)]
struct TimesByRank {
    last: Vec<(u64, u64)>,
    counted: BTreeMap<u64, u64>,
}

impl TimesByRank {
    #[inline]
    fn add(&mut self, rank: usize, time: u64) {
        let (last, count) = &mut self.last[rank];
        if *last != time {
            if *count > 0 {
                *self.counted.entry(*last).or_default() += *count;
            }
            (*last, *count) = (time, 0);
        }
        *count += 1;
    }

    fn counted(&mut self) -> &mut BTreeMap<u64, u64> {
        for (last, count) in &mut self.last {
            if *count > 0 {
                *self.counted.entry(*last).or_default() += std::mem::take(count);
            }
        }
        &mut self.counted
    }
}

/// The rings' state at a step, with which later steps are compared.
struct Snapshot {
    step: u32,
    ready: Vec<u64>,
    free: Vec<u64>,
    times: BTreeMap<u64, u64>,
}

impl<'a> Waves<'a> {
    /// Creates rings that begin at `start`, with times for each rank.
    pub(super) fn new(rings: Rings, ranks: &'a [RankTimes], start: u64, step_delay: u64) -> Self {
        Waves {
            rings,
            ranks,
            step_delay,
            ready: vec![start; ranks.len()],
            // Nothing was sent before, so only `ready` decides the first begin.
            free: vec![0; ranks.len()],
            next: vec![0; ranks.len()],
            times: TimesByRank {
                last: vec![(0, 0); ranks.len()],
                counted: BTreeMap::new(),
            },
            done: 0,
        }
    }

    /// Runs the rings to their end, or until the caller stops them.
    pub(super) fn run(mut self, mut goes_on: impl FnMut() -> ControlFlow<()>) -> Taken {
        let mut skipped = 0;
        let ranks = self.ranks.len() as u64;
        let between = (TRANSFERS_PER_QUESTION / ranks.max(1)).max(1) as u32;
        // Brent's search for a period: the step to compare with moves on at powers of two.
        let mut snapshot = self.snapshot();
        let mut is_cut = false;
        while self.done < self.rings.steps && !is_cut {
            self.step();
            if self.done.is_multiple_of(between) {
                is_cut = goes_on().is_break();
            }
            // One period that repeats skips nearly all of the rest; the remaining steps are fewer
            // than a period.
            if skipped > 0 {
                continue;
            }
            if let Some(later) = self.later_than(&snapshot) {
                skipped = self.skip(&snapshot, &later);
            } else if self.done.is_power_of_two() {
                snapshot = self.snapshot();
            }
        }
        let last = self.ready.iter().max().copied().unwrap_or(0);
        // The last arrivals have become the begins of a step that is never sent.
        Taken {
            last: last.saturating_sub(self.step_delay),
            times: std::mem::take(self.times.counted()),
            computed: self.done - skipped,
            is_cut,
        }
    }

    /// Returns when each rank begins its transfer after `steps` steps, or in the last step if there
    /// are fewer.
    pub(super) fn begins(mut self, steps: u32) -> Vec<u64> {
        while self.done < steps.min(self.rings.steps.saturating_sub(1)) {
            self.step();
        }
        let times = self.ready.iter().zip(&self.free);
        times.map(|(ready, free)| *ready.max(free)).collect()
    }

    /// Sends one transfer from every rank.
    fn step(&mut self) {
        let ranks = self.ranks.len();
        let stride = self.rings.stride as usize;
        for rank in 0..ranks {
            let RankTimes { sending, rest } = self.ranks[rank];
            let posted = self.ready[rank];
            let end = posted.max(self.free[rank]).saturating_add(sending);
            self.free[rank] = end;
            let arrival = end.saturating_add(rest);
            self.times.add(rank, arrival - posted);
            let to = rank + stride;
            let to = if to < ranks { to } else { to - ranks };
            self.next[to] = arrival.saturating_add(self.step_delay);
        }
        std::mem::swap(&mut self.ready, &mut self.next);
        self.done += 1;
    }

    fn snapshot(&mut self) -> Snapshot {
        Snapshot {
            step: self.done,
            ready: self.ready.clone(),
            free: self.free.clone(),
            times: self.times.counted().clone(),
        }
    }

    /// Returns for each ring the time by which it is later than `before`, if that is the same for
    /// all its ranks.
    fn later_than(&self, before: &Snapshot) -> Option<Vec<u64>> {
        let rings = ring_count(self.rings, self.ranks.len());
        let first = self.ready.iter().zip(&before.ready).take(rings);
        let later = first.map(|(now, then)| now.checked_sub(*then));
        let later: Vec<u64> = later.collect::<Option<_>>()?;
        let alike = |now: &[u64], then: &[u64]| {
            let pairs = now.iter().zip(then).zip(later.iter().cycle());
            pairs
                .into_iter()
                .all(|((now, then), later)| *now == then.saturating_add(*later))
        };
        let is_alike = alike(&self.ready, &before.ready) && alike(&self.free, &before.free);
        is_alike.then_some(later)
    }

    /// Skips whole repetitions of the steps since a snapshot, and returns how many steps were
    /// skipped.
    fn skip(&mut self, since: &Snapshot, later: &[u64]) -> u32 {
        let period = self.done - since.step;
        let periods = (self.rings.steps - self.done) / period;
        if periods == 0 {
            return 0;
        }
        let times = self.times.counted();
        for (time, count) in times.iter_mut() {
            let before = since.times.get(time).copied().unwrap_or(0);
            *count += (*count - before) * u64::from(periods);
        }
        for times in [&mut self.ready, &mut self.free] {
            for (time, later) in times.iter_mut().zip(later.iter().cycle()) {
                let skipped = later.saturating_mul(u64::from(periods));
                *time = time.saturating_add(skipped);
            }
        }
        self.done += periods * period;
        periods * period
    }
}

/// Returns the ring count for `ranks` ranks. Rank r is in ring r modulo that number.
pub(super) fn ring_count(rings: Rings, ranks: usize) -> usize {
    gcd(ranks, rings.stride as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same without skipping.
    fn one_by_one(rings: Rings, ranks: &[RankTimes], step_delay: u64) -> Taken {
        let mut waves = Waves::new(rings, ranks, 7, step_delay);
        while waves.done < rings.steps {
            waves.step();
        }
        let last = waves.ready.iter().max().copied().unwrap_or(0);
        let steps = rings.steps;
        Taken {
            last: last - step_delay,
            times: std::mem::take(waves.times.counted()),
            computed: steps,
            is_cut: false,
        }
    }

    #[test]
    fn steps_that_repeat_themselves_are_skipped_exactly() {
        let kinds = [(100, 10), (100, 30), (250, 5)];
        for (ranks, pattern, stride, steps) in [
            (8, &[0][..], 1, 14),
            (16, &[0, 0, 0, 1], 1, 30),
            (24, &[0, 1, 0, 2], 2, 1_000),
            (16, &[2, 0, 1, 1], 1, 10_007),
            (6, &[1, 0, 0, 0, 2, 0], 3, 40_000),
        ] {
            let rings = Rings {
                stride,
                steps,
                bytes: 1,
            };
            let times = (0..ranks).map(|rank| {
                let (sending, rest) = kinds[pattern[rank % pattern.len()]];
                RankTimes { sending, rest }
            });
            let times: Vec<RankTimes> = times.collect();
            for step_delay in [0, 40] {
                let waves = Waves::new(rings, &times, 7, step_delay);
                let found = waves.run(|| ControlFlow::Continue(()));
                let expected = one_by_one(rings, &times, step_delay);
                assert_eq!(found.last, expected.last, "{pattern:?}");
                assert_eq!(found.times, expected.times, "{pattern:?}");
                assert!(found.computed * 2 < steps || steps < 100, "{found:?}");
            }
        }
    }
}
