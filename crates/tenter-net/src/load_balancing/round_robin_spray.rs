//! Round-robin packet spray: one link after the other.

use crate::load_balancing::view::{Balance, Described, SwitchSite, View};
use crate::packet::Packet;
use tenter_config::component;

component! {
    /// The links in turn, one packet each. It has no parameters.
    pub struct RoundRobinSpray {}
}

/// The turn of one switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Packets that had a choice so far; none before the first.
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
        // Switches begin their turns at different links, or all leaves would send to one spine at a
        // time.
        let turn = self.turn.unwrap_or(u64::from(view.seed));
        self.turn = Some(turn + 1);
        (turn % view.candidates.len() as u64) as usize
    }
}
