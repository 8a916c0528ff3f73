//! REPS: values that were acknowledged without a mark are used again, once each.
//!
//! Source: Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and
//! Failure Mitigation" (2024). After a timeout it freezes: only values that were good before are
//! used, again and again, so that packets stay off a link that has failed.

use tenter_units::{Instant, Time};

use super::news::PathNews;
use super::split_mix::SplitMix;

/// Values that are kept.
const KEPT: usize = 8;
/// For how long it stays frozen.
const FROZEN: Time = Time::from_us(10_000);
/// Random values after that.
const EXPLORED: u32 = 16;

/// A value that was good.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    value: u16,
    fresh: bool,
}

/// The values that were good last.
#[derive(Clone, Debug)]
pub(crate) struct Reps {
    values: u16,
    kept: [Kept; KEPT],
    /// How many there are, where the next goes, and where the oldest fresh one may be.
    count: usize,
    head: usize,
    fresh: usize,
    explores: u32,
    /// Until when it is frozen, if it is.
    frozen_until: Option<Instant>,
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
            kept.fresh = false;
            return kept.value;
        }
        if self.fresh == 0 {
            return random.below(self.values);
        }
        self.oldest_fresh()
            .unwrap_or_else(|| random.below(self.values))
    }

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
        self.fresh += usize::from(!place.fresh);
        *place = Kept { value, fresh: true };
        self.head = (self.head + 1) % KEPT;
        self.count = (self.count + 1).min(KEPT);
    }
}
