//! Which entropy value a packet gets, and with it its path: one file per member, listed in
//! [`EntropyKind`].
//!
//! An entropy value changes the hash by which switches choose among links, at every hop. Senders
//! hear of the path of a packet from its acknowledgement, and of trims and timeouts.

use tenter_config::{choice, component};
use tenter_units::Instant;

mod bitmap;
mod draws;
mod mixed;
mod news;
mod oblivious;
mod reps;

pub(crate) use draws::Draws;
pub(crate) use news::PathNews;

use bitmap::Bitmap;
use mixed::Mixed;
use oblivious::Oblivious;
use reps::Reps;

component! {
    /// How senders choose entropy values.
    pub struct EntropySpec as "`endpoint.nic.transport.entropy`" {
        /// Which choice.
        kind: EntropyKind = "mixed", from "the Ultra Ethernet Consortium's simulator";
        /// How many entropy values a connection has: a power of two.
        values: u16 = "64", in 1..=VALUES_MAX, unless no_power_of_two, from "the Ultra Ethernet Consortium's simulator";
    }
}

/// Entropy values are source ports of the dynamic range.
const VALUES_MAX: u16 = 1 << 14;

fn no_power_of_two(values: u16) -> Option<(String, String)> {
    let help = "choose 1, 2, 4, ... up to 16384";
    let wrong = !values.is_power_of_two();
    wrong.then(|| ("is no power of two".to_owned(), help.to_owned()))
}

/// How the entropy value of a packet is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntropyKind {
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
    "oblivious" => Oblivious,
    "bitmap" => Bitmap,
    "reps" => Reps,
    "mixed" => Mixed,
});

/// The entropy values of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    Oblivious(Oblivious),
    Bitmap(Bitmap),
    Reps(Reps),
    Mixed(Mixed),
}

impl EntropySpec {
    /// Those of a new connection.
    pub(crate) fn start(self, draws: &mut Draws) -> Choice {
        let values = self.values;
        match self.kind {
            EntropyKind::Oblivious => Choice::Oblivious(Oblivious::new(values, draws)),
            EntropyKind::Bitmap => Choice::Bitmap(Bitmap::new(values, draws)),
            EntropyKind::Reps => Choice::Reps(Reps::new(values)),
            EntropyKind::Mixed => Choice::Mixed(Mixed::new(values, draws)),
        }
    }
}

/// An entropy value of a packet that has left, and the plane it left on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) value: u16,
    pub(crate) plane: u8,
}

/// The entropy values of a connection on each plane: news of a path is about its plane alone.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    first: Choice,
    further: Box<[Choice]>,
}

impl Choices {
    /// Those of a new connection on so many planes.
    pub(crate) fn start(spec: EntropySpec, planes: u16, draws: &mut Draws) -> Choices {
        let first = spec.start(draws);
        let further = (1..planes).map(|_| spec.start(draws)).collect();
        Choices { first, further }
    }

    #[inline]
    fn on(&mut self, plane: u8) -> &mut Choice {
        match usize::from(plane).checked_sub(1) {
            None => &mut self.first,
            Some(further) => &mut self.further[further],
        }
    }

    /// The value of the next packet, on a plane.
    #[inline]
    pub(crate) fn next(&mut self, plane: u8, draws: &mut Draws) -> Sent {
        let value = self.on(plane).next(draws);
        Sent { value, plane }
    }

    /// News of a packet has come at `now`.
    #[inline]
    pub(crate) fn hear(&mut self, sent: Sent, news: PathNews, now: Instant) {
        self.on(sent.plane).hear(sent.value, news, now);
    }
}

impl Choice {
    /// The value of the next packet.
    #[inline]
    pub(crate) fn next(&mut self, draws: &mut Draws) -> u16 {
        match self {
            Choice::Oblivious(own) => own.next(draws),
            Choice::Bitmap(own) => own.next(draws),
            Choice::Reps(own) => own.next(draws),
            Choice::Mixed(own) => own.next(draws),
        }
    }

    /// News of a packet with this value has come at `now`.
    #[inline]
    pub(crate) fn hear(&mut self, value: u16, news: PathNews, now: Instant) {
        match self {
            Choice::Oblivious(_) => {}
            Choice::Bitmap(own) => own.hear(value, news),
            Choice::Reps(own) => own.hear(value, news, now),
            Choice::Mixed(own) => own.hear(value, news),
        }
    }
}

#[cfg(test)]
mod tests;
