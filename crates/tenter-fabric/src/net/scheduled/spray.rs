//! Spray: cells are spread over the links that lead to their leaf.

use tenter_engine::{Stream, mix64};
use tenter_language::config::choice;

use crate::net::load_balancing::view::{Balance, View};
use crate::net::packet::Packet;

/// Choice of the next link for a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SprayKind {
    /// One link after the other, for each destination leaf.
    RoundRobin,
    /// A random link, for every cell anew.
    Random,
}

choice!(SprayKind { "round-robin" => RoundRobin, "random" => Random });

/// Turns of the links at one switch.
#[derive(Clone, Debug)]
pub(crate) struct Spray {
    kind: SprayKind,
    /// Link that had the last turn, for each destination.
    turns: Vec<u32>,
    stream: Stream,
}

impl Spray {
    /// Makes the spray of the switch `name` over `destinations` destinations. Turns begin anywhere,
    /// or all leaves would send to one spine at a time.
    pub(crate) fn new(kind: SprayKind, destinations: usize, seed: u64, name: &str) -> Spray {
        let mut stream = Stream::new(seed, name, "spray");
        let start = stream.below(1 << 31);
        let turns = (0..destinations as u64).map(|place| (mix64(start ^ place << 32) >> 33) as u32);
        Spray {
            kind,
            turns: turns.collect(),
            stream,
        }
    }

    /// Returns the place of the next link, if links take turns.
    pub(crate) fn peek(&self, destination: usize, count: usize) -> usize {
        (self.turns[destination] as usize + 1) % count.max(1)
    }

    /// Returns the place of the next link among `count` that lead to a destination.
    #[inline]
    pub(crate) fn next(&mut self, destination: usize, count: usize) -> usize {
        match self.kind {
            SprayKind::RoundRobin => {
                let turn = &mut self.turns[destination];
                *turn = (*turn + 1) % count.max(1) as u32;
                *turn as usize
            }
            SprayKind::Random => self.stream.below(count as u64) as usize,
        }
    }
}

impl Balance for Spray {
    /// Chooses the next link; the first port that leads to a destination stands for it.
    fn choose(&mut self, _packet: &Packet, view: &View<'_>) -> usize {
        self.next(usize::from(view.candidates[0]), view.candidates.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Spray, SprayKind};

    #[test]
    fn turns_are_even_for_each_destination() {
        let mut spray = Spray::new(SprayKind::RoundRobin, 2, 1, "leaf0");
        let mut counts = [[0; 3]; 2];
        for step in 0..300 {
            let destination = usize::from(step % 7 == 0);
            counts[destination][spray.next(destination, 3)] += 1;
        }
        for counts in counts {
            let (least, most) = (counts.iter().min(), counts.iter().max());
            assert!(
                most.zip(least)
                    .is_some_and(|(most, least)| most - least <= 1)
            );
        }
    }

    #[test]
    fn chance_reaches_every_link_and_is_repeatable() {
        let draw = || {
            let mut spray = Spray::new(SprayKind::Random, 1, 1, "leaf0");
            (0..200).map(|_| spray.next(0, 7)).collect::<Vec<_>>()
        };
        assert_eq!(draw(), draw());
        assert!((0..7).all(|link| draw().contains(&link)));
    }
}
