//! Weighted ECMP: the hash picks a link in proportion to its rate.

use crate::load_balancing::{Balance, Ecmp, HashSeeding, View};
use crate::packet::Packet;

/// As [`Ecmp`], with a weight for each link: its rate.
#[derive(Clone, Debug)]
pub(crate) struct WeightedEcmp {
    pub(crate) ecmp: Ecmp,
}

impl Balance for WeightedEcmp {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        // The time of a bit is what a port knows, so a weight is the bits of a microsecond.
        let weight = |port: &u16| view.ports[usize::from(*port)].megabits_per_second();
        let all: u64 = view.candidates.iter().map(weight).sum();
        let mut rest = match self.ecmp.seeding {
            HashSeeding::Mixed => {
                let mixed = self.ecmp.choose(packet.hash, view.seed, u32::MAX);
                ((u128::from(mixed) * u128::from(all)) >> 32) as u64
            }
            HashSeeding::Raw => u64::from(packet.hash) % all,
        };
        for (place, port) in view.candidates.iter().enumerate() {
            let own = weight(port);
            if rest < own {
                return place;
            }
            rest -= own;
        }
        view.candidates.len() - 1
    }
}
