//! The kind `reps`, recycled entropies: values that were acknowledged without a mark are reused
//! once each.
//!
//! Source: Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and
//! Failure Mitigation" (2024). After a timeout the choice freezes: it cycles through the values
//! that were good before, so that packets avoid a failed link.

use tenter_language::units::{Instant, Time};

use super::news::PathNews;
use super::split_mix::SplitMix;

/// Recycled values that are remembered.
const KEPT: usize = 8;
/// Time for which a freeze lasts.
const FROZEN: Time = Time::from_us(10_000);
/// Random values after a freeze, before any is recycled again.
const EXPLORED: u32 = 16;

/// A value that was acknowledged without a mark; `fresh` until it is reused.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    value: u16,
    fresh: bool,
}

/// Ring of the latest good values.
#[derive(Clone, Debug)]
pub(crate) struct Reps {
    values: u16,
    kept: [Kept; KEPT],
    /// Number of valid entries in `kept`.
    count: usize,
    /// Place of the next entry in `kept`.
    head: usize,
    /// Number of entries that are fresh.
    fresh: usize,
    /// Random values still to be drawn after a freeze.
    explores: u32,
    /// End of the freeze, while there is one.
    frozen_until: Option<Instant>,
    /// Place in `kept` of the next value during a freeze.
    turn: usize,
}

impl Reps {
    pub(super) fn new(values: u16) -> Reps {
        Reps {
            values,
            kept: [Kept::default(); KEPT],
            count: 0,
            head: 0,
            fresh: 0,
            explores: 0,
            frozen_until: None,
            turn: 0,
        }
    }

    #[inline]
    pub(super) fn next(&mut self, random: &mut SplitMix) -> u16 {
        if self.explores > 0 {
            self.explores -= 1;
            return random.below(self.values);
        }
        if self.frozen_until.is_some() && self.count > 0 {
            let kept = &mut self.kept[self.turn];
            self.turn = (self.turn + 1) % self.count;
            self.fresh -= usize::from(kept.fresh);
            // A reused value is no longer fresh, so it is not recycled once more after the freeze.
            kept.fresh = false;
            return kept.value;
        }
        if self.fresh == 0 {
            return random.below(self.values);
        }
        self.oldest_fresh()
            .unwrap_or_else(|| random.below(self.values))
    }

    /// Takes out the oldest fresh value.
    fn oldest_fresh(&mut self) -> Option<u16> {
        let first = (self.head + KEPT - self.count.min(KEPT)) % KEPT;
        let mut places = (0..self.count).map(|nth| (first + nth) % KEPT);
        let place = places.find(|&place| self.kept[place].fresh)?;
        self.kept[place].fresh = false;
        self.fresh -= 1;
        Some(self.kept[place].value)
    }

    pub(super) fn hear(&mut self, value: u16, news: PathNews, now: Instant) {
        if news == PathNews::TimedOut && self.frozen_until.is_none() && self.explores == 0 {
            self.frozen_until = Some(now + FROZEN);
            self.turn = 0;
        }
        // The end of a freeze is noticed with the next outcome, which spares a timer. Values from
        // before say nothing about the repaired network, so start anew.
        if self.frozen_until.is_some_and(|until| now > until) {
            *self = Reps {
                explores: EXPLORED,
                ..Reps::new(self.values)
            };
        }
        if news == PathNews::Good {
            self.keep(value);
        }
    }

    fn keep(&mut self, value: u16) {
        let place = &mut self.kept[self.head];
        // An entry that is overwritten while fresh leaves the count as it was.
        self.fresh += usize::from(!place.fresh);
        *place = Kept { value, fresh: true };
        self.head = (self.head + 1) % KEPT;
        self.count = (self.count + 1).min(KEPT);
    }
}
