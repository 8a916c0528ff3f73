//! Random packet spray: every packet takes any of the links.

use crate::net::load_balancing::view::{Balance, Described, SwitchSite, View};
use crate::net::packet::Packet;
use tenter_language::config::component;

component! {
    /// Every packet by itself, whatever flow it belongs to. It has no parameters and remembers
    /// nothing.
    pub struct RandomSpray {}
}

impl Described for RandomSpray {
    type AtWork = RandomSpray;
    const MAY_REORDER: bool = true;

    fn begin(&self, _: &SwitchSite) -> RandomSpray {
        *self
    }
}

impl Balance for RandomSpray {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        view.any_of(packet, view.candidates.len())
    }
}
