//! Which entropy value a packet gets, and with it its path: one file per member, listed in
//! [`EntropyKind`]. NICs of all transports choose by these.
//!
//! An entropy value changes the hash by which switches choose among links, at every hop. Senders
//! hear of the path of a packet from its answer, and of trims, losses and timeouts.

use tenter_config::{Words, choice};
use tenter_units::Instant;

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

/// Entropy values are source ports of the dynamic range, which has so many.
pub(crate) const VALUES_MAX: u16 = 1 << 14;

/// Why a number of values that is no power of two cannot be, and the remedy.
pub(crate) fn no_power_of_two(values: u16) -> Option<(String, String)> {
    let help = "choose one up to 16384, such as 64";
    let wrong = !values.is_power_of_two();
    wrong.then(|| ("is no power of two".to_owned(), help.to_owned()))
}

/// How the entropy value of a packet is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntropyKind {
    /// Any of them, whatever came before.
    Random,
    /// One after the other, in an order that changes with each round.
    Oblivious,
    /// One after the other without those of which bad news has come.
    Bitmap,
    /// Again what was acknowledged without a mark, else at random: recycled entropies.
    Reps,
    /// Again what was acknowledged without a mark, else as `bitmap`.
    Mixed,
}

choice!(EntropyKind {
    "random" => Random,
    "oblivious" => Oblivious,
    "bitmap" => Bitmap,
    "reps" => Reps,
    "mixed" => Mixed,
});

/// The entropy values of one sender to one receiver.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    Random { values: u16 },
    Oblivious(Oblivious),
    Bitmap(Bitmap),
    Reps(Reps),
    Mixed(Mixed),
}

impl EntropyKind {
    /// Its word in scenarios.
    pub fn word(self) -> &'static str {
        Words::word(&self)
    }

    /// Whether it goes by what becomes of packets.
    pub fn learns(self) -> bool {
        match self {
            EntropyKind::Random | EntropyKind::Oblivious => false,
            EntropyKind::Bitmap | EntropyKind::Reps | EntropyKind::Mixed => true,
        }
    }

    /// The choice of a new sender among so many values, a power of two.
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
    /// The value of the next packet.
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

    /// News of a packet with this value has come at `now`.
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
