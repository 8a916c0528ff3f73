//! Flows that are to change their way.

use std::collections::{BTreeMap, VecDeque};
use tenter_net::SendSlot;
use tenter_units::Instant;

/// What a NIC has to do with notices.
#[derive(Clone, Debug, Default)]
pub(super) struct Reroutes {
    /// Queue pairs that are to change their source port, and when, ascending.
    pub(super) due: VecDeque<(Instant, SendSlot)>,
    /// Until when a queue pair that has changed it, or is about to, is not to do so again.
    pub(super) held: BTreeMap<SendSlot, Instant>,
    pub(super) received: u64,
    pub(super) moves: u64,
}

impl Reroutes {
    /// When the next queue pair changes its source port; [`Instant::NEVER`] when none is to.
    pub(super) fn next(&self) -> Instant {
        self.due.front().map_or(Instant::NEVER, |&(at, _)| at)
    }
}
