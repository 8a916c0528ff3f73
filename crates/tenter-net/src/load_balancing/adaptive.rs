//! Adaptive routing: every packet takes the least busy link.

use crate::load_balancing::quality::QualitySpec;
use crate::load_balancing::{Balance, Described, View};
use crate::packet::Packet;

/// Every packet by itself takes the link with the least backlog, as far as the switch knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adaptive {
    /// What the switch knows of its ports.
    pub quality: QualitySpec,
}

impl Described for Adaptive {
    type AtWork = Adaptive;

    fn begin(&self, _: usize) -> Adaptive {
        *self
    }

    fn quality(&self) -> Option<QualitySpec> {
        Some(self.quality)
    }

    fn reorders(&self) -> bool {
        true
    }
}

impl Balance for Adaptive {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        view.best(packet)
    }
}
