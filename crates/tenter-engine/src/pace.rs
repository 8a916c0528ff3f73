//! Which windows are worth several threads.
//!
//! Whether sharing pays depends on the work of a window and on what else the machine does, and
//! neither is known beforehand. So both ways are tried and timed: a *stint* is a stretch of work
//! that is done in one way. Sharing goes on as long as it is faster, and what a failed try has cost
//! is spread over a rest fifty times as long. Results never depend on any of it.

use crate::balance::{Balance, SHARED_WORK};

/// Reads a clock: nanoseconds since some fixed instant.
pub type Clock = fn() -> u64;

/// Work is counted in visits and arrivals, which take some 50 ns each: a stint takes a millisecond
/// or two.
const STINT_WORK: u64 = 20_000;
/// A stint of sharing is given up when it has taken so many times what one thread would take.
const PATIENCE: u64 = 2;
/// The share of its cost that failed tries may add: one in so many.
const REST_PER_LOSS: u64 = 50;
const REST_NS: std::ops::RangeInclusive<u64> = 20_000_000..=1_000_000_000;
/// Sharing goes on while it saves more than one part in so many.
const LEAST_GAIN: u64 = 10;
/// Stints of sharing after which one thread works alone for a stint, to know what that takes now.
const STINTS_BETWEEN_CHECKS: u32 = 16;
/// Without a clock so many windows are shared, then so many not: tests see both, and the changes.
const WINDOWS_IN_TURN: u64 = 8;

/// Decides which windows are shared, over all of a run.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    clock: Option<Clock>,
    windows: u64,
    /// The work of the last window, by which the next one is judged.
    last_work: u64,
    stint: Stint,
    alone: Cost,
    /// Time spent in stints, in ns, and when of it the next try may be.
    spent_ns: u64,
    rest_until_ns: u64,
    rest_ns: u64,
    stints_shared: u32,
    balance: Balance,
    /// Whether one thread does everything.
    is_alone: bool,
}

/// What is done in one way.
#[derive(Clone, Copy, Debug, Default)]
struct Stint {
    shared: bool,
    work: u64,
    windows: u64,
    /// Its time up to the last edge.
    ns: u64,
    /// When it began or went on after an edge.
    since_ns: u64,
}

/// Time and work of past stints, older ones with less weight.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    ns: u64,
    work: u64,
}

impl Cost {
    fn add(&mut self, ns: u64, work: u64) {
        self.ns = self.ns / 2 + ns;
        self.work = self.work / 2 + work;
    }

    /// What so much work would take, in ns.
    fn of(self, work: u64) -> u64 {
        let ns = u128::from(self.ns) * u128::from(work) / u128::from(self.work.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

impl Pace {
    /// Decides by a clock, or, without one, by turns.
    pub fn new(clock: Option<Clock>) -> Pace {
        Pace {
            clock,
            ..Pace::default()
        }
    }

    /// One thread runs all windows, whatever the number of parts: to see how the work of many
    /// would be spread.
    #[must_use]
    pub fn alone() -> Pace {
        Pace {
            is_alone: true,
            ..Pace::default()
        }
    }

    /// How the work of all windows so far was spread over the parts; nothing with one part.
    pub fn balance(&self) -> Balance {
        self.balance
    }

    /// Whether the next window is to be shared.
    pub(crate) fn shares(&self) -> bool {
        if self.is_alone {
            return false;
        }
        match self.clock {
            None => self.windows / WINDOWS_IN_TURN % 2 == 1,
            Some(_) => self.stint.shared && self.last_work >= SHARED_WORK,
        }
    }

    /// The run goes on after an edge.
    pub(crate) fn resume(&mut self) {
        if let Some(clock) = self.clock {
            self.stint.since_ns = clock();
        }
    }

    /// The run has come to an edge, whose time is not the stint's.
    pub(crate) fn pause(&mut self) {
        if let Some(clock) = self.clock {
            self.stint.ns += clock().saturating_sub(self.stint.since_ns);
        }
    }

    /// Takes note of a window, and of the work that it was for each part.
    pub(crate) fn count(&mut self, work_of_parts: impl Iterator<Item = u64>) {
        let work = self.balance.count(work_of_parts);
        let was_shared = self.shares();
        self.windows += 1;
        self.last_work = work;
        self.stint.work += work;
        self.stint.windows += 1;
        let Some(clock) = self.clock else { return };
        let is_full = self.stint.work >= STINT_WORK;
        if !is_full && !was_shared {
            return;
        }
        let now = clock();
        let ns = self.stint.ns + now.saturating_sub(self.stint.since_ns);
        let is_lost = was_shared && ns > PATIENCE * self.alone.of(STINT_WORK);
        if is_full || is_lost {
            self.end_stint(ns);
            self.stint.since_ns = now;
        }
    }

    fn end_stint(&mut self, ns: u64) {
        let done = std::mem::take(&mut self.stint);
        self.spent_ns += ns;
        if done.shared {
            self.stint.shared = self.goes_on_sharing(ns, done.work);
            return;
        }
        self.alone.add(ns, done.work);
        let is_worth_it = done.work / done.windows.max(1) >= SHARED_WORK;
        self.stint.shared = is_worth_it && self.spent_ns >= self.rest_until_ns;
    }

    /// Whether a stint of sharing was faster than one thread would have been.
    fn goes_on_sharing(&mut self, ns: u64, work: u64) -> bool {
        let alone_ns = self.alone.of(work);
        if ns > alone_ns - alone_ns / LEAST_GAIN {
            let loss = ns.saturating_sub(alone_ns);
            let longer = (2 * self.rest_ns).clamp(*REST_NS.start(), *REST_NS.end());
            self.rest_ns = longer.max(loss.saturating_mul(REST_PER_LOSS));
            self.rest_until_ns = self.spent_ns.saturating_add(self.rest_ns);
            self.stints_shared = 0;
            return false;
        }
        // One stint may have been lucky.
        self.rest_ns /= 2;
        self.stints_shared += 1;
        !self.stints_shared.is_multiple_of(STINTS_BETWEEN_CHECKS)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{Pace, SHARED_WORK};

    thread_local! {
        static NOW: Cell<u64> = const { Cell::new(0) };
    }

    fn now() -> u64 {
        NOW.get()
    }

    /// Runs windows of some work that take so many ns alone and shared; all their time, and how
    /// many of them were shared.
    fn drive(windows: u64, work: u64, alone_ns: u64, shared_ns: u64) -> (u64, u64) {
        NOW.set(0);
        let mut pace = Pace::new(Some(now));
        let mut shared = 0;
        pace.resume();
        for window in 0..windows {
            let shares = pace.shares();
            shared += u64::from(shares);
            NOW.set(NOW.get() + if shares { shared_ns } else { alone_ns });
            pace.count(std::iter::once(work));
            if window % 50 == 49 {
                // An edge, whose time counts for nothing.
                let before = NOW.get();
                pace.pause();
                NOW.set(before + 1_000_000);
                pace.resume();
                NOW.set(before + 1_000_000);
            }
        }
        (NOW.get() - windows / 50 * 1_000_000, shared)
    }

    #[test]
    fn sharing_that_pays_is_kept() {
        // Alone 100 ms. Shared, but for the first stint and one in seventeen: 57 ms.
        let (time, shared) = drive(1_000, 1_000, 100_000, 55_000);
        assert!(time < 62_000_000, "{time}");
        assert!(shared > 850, "{shared}");
    }

    #[test]
    fn sharing_that_does_not_pay_costs_a_fortieth_at_most() {
        for shared_ns in [110_000, 200_000, 1_000_000, 5_000_000] {
            // Alone 1 s; the first try comes free.
            let (time, _) = drive(10_000, 1_000, 100_000, shared_ns);
            assert!(time < 1_025_000_000 + 2 * shared_ns, "{shared_ns}: {time}");
        }
    }

    #[test]
    fn small_windows_are_never_shared() {
        let (_, shared) = drive(10_000, SHARED_WORK - 1, 10_000, 1);
        assert_eq!(shared, 0);
    }

    #[test]
    fn without_a_clock_windows_take_turns() {
        let mut pace = Pace::new(None);
        let shared: Vec<bool> = (0..24)
            .map(|_| {
                let shares = pace.shares();
                pace.count(std::iter::once(1));
                shares
            })
            .collect();
        assert!(
            shared[..8]
                .iter()
                .chain(&shared[16..])
                .all(|shares| !shares)
        );
        assert!(shared[8..16].iter().all(|shares| *shares));
    }
}
