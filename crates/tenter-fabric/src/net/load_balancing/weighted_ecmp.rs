//! Weighted ECMP: the hash picks a link in proportion to its rate.

use num_integer::gcd;
use tenter_language::config::component;

use crate::net::load_balancing::hash::{Ecmp, HashSeeding};
use crate::net::load_balancing::view::{Balance, Described, SwitchSite, Target, View};
use crate::net::packet::Packet;

component! {
    /// As [`Ecmp`], with a weight for each link: its rate.
    pub struct WeightedEcmp {
        ..ecmp: Ecmp, "The hash.";
    }
}

impl Described for WeightedEcmp {
    type AtWork = WeightedEcmp;
    const MAY_REORDER: bool = false;

    fn begin(&self, _: &SwitchSite) -> WeightedEcmp {
        *self
    }

    fn ecmp(&self) -> Option<&Ecmp> {
        Some(&self.ecmp)
    }
}

impl Balance for WeightedEcmp {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        self.place(packet.hash, view)
    }

    fn fixed(&self, Target { hash, .. }: Target, view: &View<'_>) -> Option<usize> {
        Some(self.place(hash, view))
    }
}

impl WeightedEcmp {
    /// Returns the place of the link that packets with this hash take.
    pub(crate) fn place(self, hash: u32, view: &View<'_>) -> usize {
        let rate = |port: &u16| view.ports[usize::from(*port)].bits_per_second();
        // In units of the greatest common divisor: a raw hash of 16 bits would never get beyond the
        // first of several weights in bits per second.
        let unit = match self.ecmp.seeding {
            HashSeeding::Mixed => 1,
            HashSeeding::Raw => view.candidates.iter().map(rate).fold(0, gcd),
        };
        let weight = |port: &u16| rate(port) / unit;
        let all: u64 = view.candidates.iter().map(weight).sum();
        let mut rest = match self.ecmp.seeding {
            HashSeeding::Mixed => {
                let mixed = self.ecmp.placing().place(hash, view.seed, u32::MAX);
                // The hash is a fraction of 32 bits: that part of the whole weight.
                ((u128::from(mixed) * u128::from(all)) >> 32) as u64
            }
            HashSeeding::Raw => u64::from(hash) % all,
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
