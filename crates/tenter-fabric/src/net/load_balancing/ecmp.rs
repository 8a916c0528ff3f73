//! Equal-cost multi-path: the hash of a packet's 5-tuple picks the link.
//!
//! Every packet carries a 32-bit hash of its 5-tuple without any switch's seed; a switch reduces it
//! to one of its links. CRC and XOR are linear: another seed only XORs a constant to all hashes, so
//! with a power of two of links the choices of leaf and spine stay correlated. Therefore the
//! default sends the hash through a non-linear mix with a seed of each switch (decision 0007).

use crate::net::load_balancing::hash::{Ecmp, Placing};
use crate::net::load_balancing::view::{Balance, Described, SwitchSite, Target, View};
use crate::net::packet::Packet;

impl Described for Ecmp {
    type AtWork = Placing;
    const MAY_REORDER: bool = false;

    fn begin(&self, _: &SwitchSite) -> Placing {
        self.placing()
    }

    fn ecmp(&self) -> Option<&Ecmp> {
        Some(self)
    }
}

impl Balance for Placing {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        self.place(packet.hash, view.seed, view.candidates.len() as u32) as usize
    }

    fn fixed(&self, Target { hash, .. }: Target, view: &View<'_>) -> Option<usize> {
        Some(self.place(hash, view.seed, view.candidates.len() as u32) as usize)
    }
}
