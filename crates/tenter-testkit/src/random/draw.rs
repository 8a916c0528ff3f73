//! Random choices in the form that scenarios write them.

use std::ops::RangeInclusive;

use tenter_engine::Stream;

/// A random stream with the choices that scenarios need.
pub(super) struct Draw(Stream);

impl Draw {
    pub(super) fn new(seed: u64) -> Draw {
        Draw(Stream::new(seed, "testkit", "random-scenario"))
    }

    /// Returns a number from 0 to `bound` − 1.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// Returns a number from `range`, both ends included.
    pub(super) fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        range.start() + self.below(range.end() - range.start() + 1)
    }

    /// Returns true with a probability of `percent` in 100.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one among `choices`, all equally likely.
    pub(super) fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Shuffles `things`; all orders are equally likely.
    pub(super) fn shuffle<T>(&mut self, things: &mut [T]) {
        // The shuffle of Fisher and Yates.
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// Returns a time from `least_ns` to `most_ns`: in four of five cases whole nanoseconds, so
    /// that ties are likely, otherwise picoseconds.
    pub(super) fn time(&mut self, least_ns: u64, most_ns: u64) -> String {
        if self.chance(20) {
            format!("{}ps", self.within(least_ns * 1_000..=most_ns * 1_000))
        } else {
            format!("{}ns", self.within(least_ns..=most_ns))
        }
    }

    /// Returns a time up to `most_ns` with a probability of `percent` in 100, otherwise 0.
    pub(super) fn seldom_time(&mut self, percent: u64, most_ns: u64) -> String {
        if self.chance(percent) {
            self.time(0, most_ns)
        } else {
            "0ns".to_owned()
        }
    }
}
