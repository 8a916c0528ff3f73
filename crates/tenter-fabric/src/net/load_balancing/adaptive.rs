//! Adaptive routing: every packet takes the least busy link.

use tenter_language::config::component;

use crate::net::load_balancing::quality::QualitySpec;
use crate::net::load_balancing::view::{Balance, Described, SwitchSite, View};
use crate::net::packet::Packet;

component! {
    /// Every packet by itself takes the link with the least backlog, as far as the switch knows it.
    pub struct Adaptive {
        ..quality: QualitySpec, "What the switch knows of its ports.";
    }
}

impl Described for Adaptive {
    type AtWork = Adaptive;
    const MAY_REORDER: bool = true;

    fn begin(&self, _: &SwitchSite) -> Adaptive {
        *self
    }

    fn quality(&self) -> Option<QualitySpec> {
        Some(self.quality)
    }
}

impl Balance for Adaptive {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        // One is drawn among equally busy links, or all packets would take the first while idle.
        view.best(packet)
    }
}
