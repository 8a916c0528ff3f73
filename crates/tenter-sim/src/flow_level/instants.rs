//! The event list at flow level.

use std::collections::BTreeMap;
use tenter_language::units::Instant;

/// An event. Events at one instant are handled by kind, then by number, never in the order in which
/// they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Happens {
    /// A packet that ends a transfer within a host leaves its scale-up domain. The number is its
    /// slot in [`UnderWay`](super::domains::UnderWay).
    Carried(u32),
    /// A message's last packet has reached its last queue. The numbers are the message's sequence
    /// number, which decides the order, and its slot.
    Queued(u64, u32),
    /// A message has arrived whole.
    Delivered(u64, u32),
    /// A message's acknowledgement has arrived.
    Acknowledged(u64, u32),
    /// A job's rings end, unless their rates have changed in between.
    Rings(u16),
    /// A node's timer may be due.
    Timer(u32),
}

/// Planned events, by their instant.
#[derive(Debug, Default)]
pub(super) struct Instants(BTreeMap<Instant, Vec<Happens>>);

impl Instants {
    pub(super) fn add(&mut self, at: Instant, happens: Happens) {
        self.0.entry(at).or_default().push(happens);
    }

    /// Returns the next event's instant.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.first_key_value().map(|(at, _)| *at)
    }

    /// Takes the events that are planned for `at`, in order. More may be added for the same
    /// instant.
    pub(super) fn take(&mut self, at: Instant) -> Vec<Happens> {
        let mut all = self.0.remove(&at).unwrap_or_default();
        all.sort_unstable();
        all
    }
}
