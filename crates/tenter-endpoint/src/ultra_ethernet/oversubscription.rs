//! Oversubscription control: a receiver grants less while packets arrive marked, or trimmed before
//! the last hop. In that case the network before it is the bottleneck, not its own port.
//!
//! Source: the Ultra Ethernet Consortium's reference simulator (uet-htsim, 2025), whose main
//! program enables it only if the topology is oversubscribed and senders have no window. The
//! simulator's periods vary at random by a quarter; here each is 1.5 round trips. There is no
//! timer: periods are caught up when something next happens.

use tenter_language::units::{Instant, Time};

/// Unit for shares: parts per million.
const WHOLE: i64 = 1_000_000;
/// Share of marked packets above which the receiver grants less.
const TARGET: i64 = 300_000;
/// Growth of the granted share after each period without marks, doubled with each further one.
const STEP: i64 = 10_000;
/// Periods without any arrival after which the state starts anew.
const FORGOTTEN: u64 = 64;

/// Arrivals in the present period, and the granted share of the rate.
#[derive(Clone, Debug)]
pub(super) struct Oversubscription {
    period: Time,
    ends: Instant,
    packets: i64,
    marked: i64,
    /// Packets trimmed at the receiver's own port.
    trimmed_last: i64,
    /// Packets trimmed before the last hop.
    trimmed_before: i64,
    /// Share of packets that are marked, smoothed.
    marks: i64,
    /// Granted share, in parts per million.
    share: i64,
    least: i64,
    /// Periods in a row without a decrease.
    rises: u32,
}

impl Oversubscription {
    /// Creates the state for the longest round trip without load, and for the lowest share to
    /// grant, in parts per million.
    pub(super) fn new(round_trip: Time, least_ppm: u64) -> Oversubscription {
        let period = Time::from_ps(round_trip.ps() / 2 * 3);
        Oversubscription {
            period,
            least: least_ppm.cast_signed(),
            ends: Instant::START + period,
            packets: 0,
            marked: 0,
            trimmed_last: 0,
            trimmed_before: 0,
            marks: 0,
            share: WHOLE,
            rises: 0,
        }
    }

    /// Returns the share that is granted at `now`, in parts per million of the full rate.
    pub(super) fn share(&mut self, now: Instant) -> u64 {
        self.catch_up(now);
        self.share.unsigned_abs()
    }

    /// Counts a data packet that arrived whole.
    pub(super) fn received(&mut self, now: Instant, marked: bool) {
        self.catch_up(now);
        self.packets += 1;
        self.marked += i64::from(marked);
    }

    /// Counts a data packet that arrived trimmed.
    pub(super) fn trimmed(&mut self, now: Instant, at_last_hop: bool) {
        self.catch_up(now);
        self.packets += 1;
        if at_last_hop {
            self.trimmed_last += 1;
        } else {
            self.trimmed_before += 1;
        }
    }

    /// Closes the periods that have ended by `now`.
    fn catch_up(&mut self, now: Instant) {
        let behind = now.saturating_since(self.ends).ps() / self.period.ps().max(1);
        // After a long silence the old state says nothing, and the loop below would take long.
        if behind > FORGOTTEN {
            self.ends = now + self.period;
            (self.packets, self.marked) = (0, 0);
            (self.trimmed_last, self.trimmed_before) = (0, 0);
            (self.marks, self.share, self.rises) = (0, WHOLE, 0);
            return;
        }
        while self.ends <= now {
            self.end_period();
            self.ends += self.period;
        }
    }

    /// Adjusts the share by a period's arrivals.
    fn end_period(&mut self) {
        let whole = self.packets - self.trimmed_last - self.trimmed_before;
        let share = if whole > 0 {
            self.marked * WHOLE / whole
        } else {
            0
        };
        let mut falls = false;
        if self.trimmed_before > 0 {
            // `packets` includes trimmed ones, so it is not zero here.
            self.share -= self.trimmed_before * WHOLE / self.packets;
            falls = true;
        }
        self.marks = i64::midpoint(self.marks, share);
        if self.marks > TARGET {
            let less = (self.marks - TARGET) / 2;
            self.share = self.share * (WHOLE - less) / WHOLE;
            falls = true;
        }
        if falls {
            self.rises = 0;
        } else {
            let doubled = if self.marked == 0 {
                self.rises.min(7)
            } else {
                0
            };
            self.share += STEP << doubled;
            self.rises += 1;
        }
        self.share = self.share.clamp(self.least, WHOLE);
        self.packets = 0;
        self.marked = 0;
        self.trimmed_last = 0;
        self.trimmed_before = 0;
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::{Instant, Time};

    use super::Oversubscription;

    const ROUND_TRIP: Time = Time::from_us(10);
    const PERIOD: Time = Time::from_us(15);

    fn after(periods: u64) -> Instant {
        Instant::START + PERIOD * periods
    }

    #[test]
    fn marks_lower_the_share_and_quiet_raises_it_faster_and_faster() {
        let mut control = Oversubscription::new(ROUND_TRIP, 10_000);
        for _ in 0..10 {
            control.received(Instant::START, true);
        }
        // All marked: smoothed 0.5, 0.2 above the target, half of that less.
        assert_eq!(control.share(after(1)), 900_000);
        // Smoothed 0.25: 0.01 more, then 0.02, 0.04 ...
        assert_eq!(control.share(after(2)), 910_000);
        assert_eq!(control.share(after(3)), 930_000);
        assert_eq!(control.share(after(4)), 970_000);
        assert_eq!(control.share(after(5)), 1_000_000);
    }

    #[test]
    fn the_share_does_not_fall_below_what_hosts_have_of_the_core() {
        let mut control = Oversubscription::new(ROUND_TRIP, 225_000);
        for period in 0..100 {
            for _ in 0..10 {
                control.trimmed(after(period), false);
            }
        }
        assert_eq!(control.share(after(100)), 225_000);
    }

    #[test]
    fn trims_before_the_last_hop_count_and_others_do_not() {
        let mut control = Oversubscription::new(ROUND_TRIP, 10_000);
        for nth in 0..10 {
            control.trimmed(Instant::START, nth > 0);
        }
        assert_eq!(control.share(after(1)), 900_000);
        assert_eq!(control.share(after(100)), 1_000_000);
    }
}
