//! Round-robin packet spray: one link after the other.

use crate::load_balancing::{Balance, View};
use crate::packet::Packet;

/// The links in turn, one packet each; where the turn stands is all it remembers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundRobinSpray {
    /// Packets that had a choice so far; none before the first.
    turn: Option<u64>,
}

impl Balance for RoundRobinSpray {
    fn choose(&mut self, _: &Packet, view: &View<'_>) -> usize {
        // Switches begin their turns at different links, or all leaves would send to one spine at a
        // time.
        let turn = self.turn.unwrap_or(u64::from(view.seed));
        self.turn = Some(turn + 1);
        (turn % view.candidates.len() as u64) as usize
    }
}
