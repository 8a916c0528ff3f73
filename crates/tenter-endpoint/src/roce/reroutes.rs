//! Moves of flows that are due, and their history.

use std::collections::{BTreeMap, VecDeque};
use tenter_fabric::net::SendSlot;
use tenter_language::units::Instant;

/// State of a NIC that moves flows at congestion notices.
#[derive(Clone, Debug, Default)]
pub(super) struct Reroutes {
    /// Queue pairs that will change their source port, with the instant, in ascending order.
    pub(super) due: VecDeque<(Instant, SendSlot)>,
    /// For each queue pair that has moved or is about to, the instant before which it must not move
    /// again.
    pub(super) held: BTreeMap<SendSlot, Instant>,
    pub(super) received: u64,
    pub(super) moves: u64,
}

impl Reroutes {
    /// Returns the instant of the next move, or [`Instant::NEVER`] if none is due.
    pub(super) fn next(&self) -> Instant {
        self.due.front().map_or(Instant::NEVER, |&(at, _)| at)
    }
}
