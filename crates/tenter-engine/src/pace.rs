//! The choice between one thread and several for each window.
//!
//! Sharing a window pays or does not, depending on the window's work and on what else the machine
//! does, and neither is known beforehand. So both ways are tried and timed in *stints*, each done
//! in one way. Sharing continues as long as it is faster; after a failed try the run stays on one
//! thread for fifty times what the try cost. Results never depend on the choice.

use crate::balance::{Balance, SHARED_WORK};

/// A function that reads a clock: nanoseconds since some fixed instant.
pub type Clock = fn() -> u64;

/// Work in a stint: visits plus arrivals. These take some 50 ns each, so a stint takes a
/// millisecond or two.
const STINT_WORK: u64 = 20_000;
/// A shared stint is given up after `PATIENCE` times the time that one thread would take.
const PATIENCE: u64 = 2;
/// After a failed try the rest lasts `REST_PER_LOSS` times the time lost, so failed tries add at
/// most 2 % to a run.
const REST_PER_LOSS: u64 = 50;
/// Shortest rest, and longest rest that repeated failures alone lead to.
const REST_NS: std::ops::RangeInclusive<u64> = 20_000_000..=1_000_000_000;
/// Sharing continues while it saves more than one part in `LEAST_GAIN`.
const LEAST_GAIN: u64 = 10;
/// After this many shared stints one thread works alone for a stint, to measure again what that
/// takes.
const STINTS_BETWEEN_CHECKS: u32 = 16;
/// Without a clock, as in tests, this many windows run on one thread, then this many are shared:
/// tests cover both and the changes between them.
const WINDOWS_IN_TURN: u64 = 8;

/// Decides throughout a run which windows are shared.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    clock: Option<Clock>,
    windows: u64,
    /// The last window's work, the prediction for the next one.
    last_work: u64,
    stint: Stint,
    /// Recent cost on one thread.
    alone: Cost,
    /// Time spent in stints so far, in ns.
    spent_ns: u64,
    /// Value that `spent_ns` must reach before the next try.
    rest_until_ns: u64,
    /// Length of the last rest, in ns; each success halves it.
    rest_ns: u64,
    /// Consecutive stints in which sharing paid.
    stints_shared: u32,
    balance: Balance,
    /// Set if one thread runs all windows.
    is_alone: bool,
}

/// Consecutive windows that are run in one way.
#[derive(Clone, Copy, Debug, Default)]
struct Stint {
    shared: bool,
    work: u64,
    windows: u64,
    /// Time in ns up to the last sync point.
    ns: u64,
    /// Clock reading when the stint began, or resumed after a sync point.
    since_ns: u64,
}

/// Time and work in past stints; each stint halves the weight that earlier ones have.
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

    /// Estimates the time for `work`, in ns.
    fn of(self, work: u64) -> u64 {
        let ns = u128::from(self.ns) * u128::from(work) / u128::from(self.work.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

impl Pace {
    /// Makes a pace that decides by `clock`, or without one by turns.
    pub fn new(clock: Option<Clock>) -> Pace {
        Pace {
            clock,
            ..Pace::default()
        }
    }

    /// Makes a pace that runs all windows on one thread, however many partitions there are, to
    /// measure how their work is distributed.
    #[must_use]
    pub fn alone() -> Pace {
        Pace {
            is_alone: true,
            ..Pace::default()
        }
    }

    /// Returns how the windows' work so far was distributed over the partitions; zero with a single
    /// partition, whose windows are not counted.
    pub fn balance(&self) -> Balance {
        self.balance
    }

    /// Returns true if the next window should be shared.
    pub(crate) fn shares(&self) -> bool {
        if self.is_alone {
            return false;
        }
        match self.clock {
            None => self.windows / WINDOWS_IN_TURN % 2 == 1,
            Some(_) => self.stint.shared && self.last_work >= SHARED_WORK,
        }
    }

    /// Continues the stint's clock when the run leaves a sync point.
    pub(crate) fn resume(&mut self) {
        if let Some(clock) = self.clock {
            self.stint.since_ns = clock();
        }
    }

    /// Stops the stint's clock at a sync point, whose time must not count.
    pub(crate) fn pause(&mut self) {
        if let Some(clock) = self.clock {
            self.stint.ns += clock().saturating_sub(self.stint.since_ns);
        }
    }

    /// Counts a window, given its work for each partition.
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
            // Reading a clock costs as much as some visits; windows on one thread are timed once a
            // stint.
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

    /// Judges a stint of sharing: true if it was enough faster than one thread. A failure sets the
    /// next rest.
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
        // One failed stint may have been bad luck, so each success halves the next rest.
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

    /// Simulates `windows` windows whose work takes `alone_ns` on one thread or `shared_ns` on
    /// several. Returns the total time, and how many windows `Pace` chose to share.
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
