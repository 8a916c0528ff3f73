//! Choices, as scenarios write them.

use std::ops::RangeInclusive;

use tenter_engine::Stream;

/// A source of choices.
pub(super) struct Draw(Stream);

impl Draw {
    pub(super) fn new(seed: u64) -> Draw {
        Draw(Stream::new(seed, "testkit", "random-scenario"))
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// A number of a range.
    pub(super) fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        range.start() + self.below(range.end() - range.start() + 1)
    }

    /// True so many times in a hundred.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(super) fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Puts things into a random order.
    pub(super) fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// A time between two numbers of ns: mostly a round one, so that ties are likely, at times one
    /// to the picosecond.
    pub(super) fn time(&mut self, least_ns: u64, most_ns: u64) -> String {
        if self.chance(20) {
            format!("{}ps", self.within(least_ns * 1_000..=most_ns * 1_000))
        } else {
            format!("{}ns", self.within(least_ns..=most_ns))
        }
    }

    /// Nothing in most cases, else a time up to a number of ns.
    pub(super) fn seldom_time(&mut self, percent: u64, most_ns: u64) -> String {
        if self.chance(percent) {
            self.time(0, most_ns)
        } else {
            "0ns".to_owned()
        }
    }
}
