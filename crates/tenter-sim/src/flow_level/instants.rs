//! What happens at flow level, instant by instant.

use std::collections::BTreeMap;
use tenter_units::Instant;

/// Something that happens; the order is that of events at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Happens {
    /// The end of a transfer within hosts comes out of their domain; its place among those under
    /// way.
    Carried(u32),
    /// The last packet of a message, by its number and its place, has come to its last queue.
    Queued(u64, u32),
    /// A message has arrived whole.
    Delivered(u64, u32),
    /// Its acknowledgement has arrived.
    Acknowledged(u64, u32),
    /// The rings of a job, run as a whole, are done.
    Rings(u16),
    /// A timer of a node of the fabric may be due.
    Timer(u32),
}

/// What is to happen.
#[derive(Debug, Default)]
pub(super) struct Instants(BTreeMap<Instant, Vec<Happens>>);

impl Instants {
    pub(super) fn add(&mut self, at: Instant, happens: Happens) {
        self.0.entry(at).or_default().push(happens);
    }

    /// When something next happens.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.first_key_value().map(|(at, _)| *at)
    }

    /// All that is known to happen at an instant, in order.
    pub(super) fn take(&mut self, at: Instant) -> Vec<Happens> {
        let mut all = self.0.remove(&at).unwrap_or_default();
        all.sort_unstable();
        all
    }
}
