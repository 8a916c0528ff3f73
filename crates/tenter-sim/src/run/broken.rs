//! The present faults, as far as other actors must know them.

use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;

/// Links that are down, storms, and whether more faults or repairs are to come.
#[derive(Debug, Default)]
pub(super) struct Broken {
    /// For each cable how often it has gone down without coming up.
    pub(super) down: Vec<u32>,
    /// For each cable when it last went down.
    pub(super) since: Vec<Instant>,
    /// Hosts that pause their leaves.
    pub(super) storms: Vec<HostId>,
    /// Number of storms that have not begun.
    pub(super) storms_to_come: usize,
    /// True if a fault or a repair is still to come.
    pub(super) is_more_to_come: bool,
}

impl Broken {
    /// Returns true if a NIC pauses its leaf, or will: then the network never comes to rest by
    /// itself.
    pub(super) fn has_storms(&self) -> bool {
        !self.storms.is_empty() || self.storms_to_come > 0
    }

    /// Returns the links that are down, with the times since when.
    pub(super) fn links(&self) -> Vec<(u32, Instant)> {
        let cables = (0..).zip(self.down.iter().zip(&self.since));
        let down = cables.filter(|(_, (down, _))| **down > 0);
        down.map(|(cable, (_, since))| (cable, *since)).collect()
    }
}
