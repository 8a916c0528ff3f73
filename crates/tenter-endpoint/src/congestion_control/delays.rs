//! The delays that windows follow, as a connection measures them.

use tenter_language::units::Time;

/// One connection's view of delays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    /// Shortest round trip so far; at first the longest through the unloaded network.
    pub(super) base: Time,
    /// Smoothed queueing delay, by which windows fall.
    pub(super) mean: Time,
}

/// Queueing delay below which the network counts as idle.
pub(super) const IDLE_DELAY: Time = Time::from_us(1);

/// Unit for weights: parts per million.
const WHOLE: u64 = 1_000_000;

impl Delays {
    pub(super) fn new(base: Time) -> Delays {
        Delays {
            base,
            mean: Time::ZERO,
        }
    }

    /// Notes a round trip, and returns true if it is the shortest so far.
    pub(super) fn lower(&mut self, round_trip: Time) -> bool {
        let lower = round_trip < self.base;
        if lower {
            self.base = round_trip;
        }
        lower
    }

    /// Moves the mean towards a sample, with a weight in parts per million.
    pub(super) fn draw(&mut self, towards: Time, weight_ppm: u32) {
        let weight = u128::from(weight_ppm);
        let (old, new) = (u128::from(self.mean.ps()), u128::from(towards.ps()));
        let sum = old * (u128::from(WHOLE) - weight) + new * weight;
        self.mean = Time::from_ps((sum / u128::from(WHOLE)) as u64);
    }
}
