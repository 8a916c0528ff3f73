//! Round-robin packet spray: one link after the other.

use crate::net::load_balancing::view::{Balance, Described, SwitchSite, View};
use crate::net::packet::Packet;
use tenter_language::config::component;

component! {
    /// The links in turn, one packet each. It has no parameters.
    pub struct RoundRobinSpray {}
}

/// Turn of the links at one switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Number of the next packet that has a choice; `None` before the first.
    turn: Option<u64>,
}

impl Described for RoundRobinSpray {
    type AtWork = Turn;
    const MAY_REORDER: bool = true;

    fn begin(&self, _: &SwitchSite) -> Turn {
        Turn { turn: None }
    }

    fn reads_hash(&self) -> bool {
        false
    }
}

impl Balance for Turn {
    fn choose(&mut self, _: &Packet, view: &View<'_>) -> usize {
        // Each switch begins at another link, by its seed, or all leaves would send to one spine at
        // a time.
        let turn = self.turn.unwrap_or(u64::from(view.seed));
        self.turn = Some(turn + 1);
        (turn % view.candidates.len() as u64) as usize
    }
}
