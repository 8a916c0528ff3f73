//! What is broken, as far as others than the faults must know.

use tenter_topology::HostId;
use tenter_units::Instant;

/// What is broken now, and whether anything is to come.
#[derive(Debug, Default)]
pub(super) struct Broken {
    /// By cable: how often it has gone down and not come up, and when it last did.
    pub(super) down: Vec<u32>,
    pub(super) since: Vec<Instant>,
    /// Hosts that pause their leaves.
    pub(super) storms: Vec<HostId>,
    /// Storms that are to begin.
    pub(super) storms_to_come: usize,
    /// Whether something is to break or to be mended.
    pub(super) is_more_to_come: bool,
}

impl Broken {
    /// Whether a NIC pauses its leaf, or will: then the network never stands still by itself.
    pub(super) fn has_storms(&self) -> bool {
        !self.storms.is_empty() || self.storms_to_come > 0
    }

    /// The links that are down, and since when.
    pub(super) fn links(&self) -> Vec<(u32, Instant)> {
        let cables = (0..).zip(self.down.iter().zip(&self.since));
        let down = cables.filter(|(_, (down, _))| **down > 0);
        down.map(|(cable, (_, since))| (cable, *since)).collect()
    }
}
