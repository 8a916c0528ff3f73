//! Entropy: the choice of each packet's entropy value, and with it the packet's path. There is one
//! file per member; [`EntropyKind`] lists them. NICs of all transports share them.
//!
//! An entropy value changes the hash by which switches choose among links, at every hop. Senders
//! learn about a path from the answers to its packets, and from trims, losses and timeouts.

use tenter_language::config::{Words, choice};
use tenter_language::units::Instant;

mod bitmap;
mod mixed;
mod news;
mod oblivious;
mod planes;
mod reps;
mod split_mix;

pub(crate) use news::PathNews;
pub(crate) use planes::{Choices, Sent};
pub(crate) use split_mix::SplitMix;

use bitmap::Bitmap;
use mixed::Mixed;
use oblivious::Oblivious;
use reps::Reps;

/// Most entropy values that a sender may have: the dynamic UDP port range has 2¹⁴ ports.
pub(crate) const VALUES_MAX: u16 = 1 << 14;

/// Returns the problem and the remedy unless `values` is a power of two. All kinds but `random`
/// require one.
pub(crate) fn no_power_of_two(values: u16) -> Option<(String, String)> {
    let help = "choose one up to 16384, such as 64";
    let wrong = !values.is_power_of_two();
    wrong.then(|| ("is no power of two".to_owned(), help.to_owned()))
}

/// Rule by which senders choose each packet's entropy value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntropyKind {
    /// Draws each value at random.
    Random,
    /// Takes all values in turn, in an order that changes with each round.
    Oblivious,
    /// Takes values in turn and skips those with a penalty for marks, trims, losses or timeouts.
    Bitmap,
    /// REPS: takes recycled values, those acknowledged without a mark, or else a random one.
    Reps,
    /// Takes recycled values, or else one by `bitmap`.
    Mixed,
}

choice!(EntropyKind {
    "random" => Random,
    "oblivious" => Oblivious,
    "bitmap" => Bitmap,
    "reps" => Reps,
    "mixed" => Mixed,
});

/// One sender's choice towards one receiver, with its state.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    Random { values: u16 },
    Oblivious(Oblivious),
    Bitmap(Bitmap),
    Reps(Reps),
    Mixed(Mixed),
}

impl EntropyKind {
    /// Returns the name in scenarios.
    pub fn word(self) -> &'static str {
        Words::word(&self)
    }

    /// Returns true if the kind adapts to packet outcomes, so that receivers must answer each
    /// packet.
    pub fn learns(self) -> bool {
        match self {
            EntropyKind::Random | EntropyKind::Oblivious => false,
            EntropyKind::Bitmap | EntropyKind::Reps | EntropyKind::Mixed => true,
        }
    }

    /// Creates the state for a new sender with `values` entropy values, a power of two.
    pub(crate) fn start(self, values: u16, random: &mut SplitMix) -> Choice {
        match self {
            EntropyKind::Random => Choice::Random { values },
            EntropyKind::Oblivious => Choice::Oblivious(Oblivious::new(values, random)),
            EntropyKind::Bitmap => Choice::Bitmap(Bitmap::new(values, random)),
            EntropyKind::Reps => Choice::Reps(Reps::new(values)),
            EntropyKind::Mixed => Choice::Mixed(Mixed::new(values, random)),
        }
    }
}

impl Choice {
    /// Returns the next packet's value.
    #[inline]
    pub(crate) fn next(&mut self, random: &mut SplitMix) -> u16 {
        match self {
            Choice::Random { values } => random.below(*values),
            Choice::Oblivious(own) => own.next(random),
            Choice::Bitmap(own) => own.next(random),
            Choice::Reps(own) => own.next(random),
            Choice::Mixed(own) => own.next(random),
        }
    }

    /// Learns at `now` how a packet with entropy value `value` fared.
    #[inline]
    pub(crate) fn hear(&mut self, value: u16, news: PathNews, now: Instant) {
        match self {
            Choice::Random { .. } | Choice::Oblivious(_) => {}
            Choice::Bitmap(own) => own.hear(value, news),
            Choice::Reps(own) => own.hear(value, news, now),
            Choice::Mixed(own) => own.hear(value, news),
        }
    }
}

#[cfg(test)]
mod tests;
