//! The size of a fabric from its counts, before any of it is built.

use tenter_units::{Budget, OverBudget};

use crate::wiring::{CABLES_MAX, HOSTS_MAX};
use crate::{RoutingError, Topology, TopologyError};

/// The counts from which the memory of a fabric and of its routes follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Hosts.
    pub hosts: u64,
    /// Switches of all planes.
    pub switches: u64,
    /// Switches that have hosts, or may have, in one plane.
    pub leaves: u64,
    /// Cables of all planes.
    pub cables: u64,
    /// Regions for which ways are kept beside the routes to hosts; 0 where none are.
    pub regions: u64,
}

/// The most entries of a table of routes (2 GiB of them).
const ENTRIES_MAX: u64 = 1 << 28;
/// A node: its record, its name, and its place among the names while they are checked.
const NODE_BYTES: u64 = 180;
/// A cable while it is laid: its wire in a list that has just doubled, its record and its ports.
const CABLE_BYTES: u64 = 105;
/// A way from a switch to the hosts of a leaf, or into a region.
const WAY_BYTES: u64 = 8;
/// The length of the path between two leaves.
const DISTANCE_BYTES: u64 = 1;
/// What a search keeps of a switch, and its list of ports.
const SEARCHED_SWITCH_BYTES: u64 = 120;
/// Both ends of a cable in a search.
const SEARCHED_CABLE_BYTES: u64 = 36;
/// The further memory of a cable that leads through an optical switch: its second fibre, its ports
/// and their places.
const FIBRE_BYTES: u64 = 200;
/// The place of a host in the table of routes.
const PLACE_BYTES: u64 = 22;

/// Counts of a description, which may be as large as a product of any keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) hosts: u128,
    pub(crate) switches: u128,
    pub(crate) leaves: u128,
    pub(crate) cables: u128,
    pub(crate) regions: u128,
}

impl Counts {
    /// The size, unless it is too large to simulate; `parameters` names the keys to reduce.
    pub(crate) fn size(self, parameters: &'static str) -> Result<Size, TopologyError> {
        let (hosts, cables) = (self.hosts, self.cables);
        if hosts > u128::from(HOSTS_MAX) {
            return Err(TopologyError::TooManyHosts { hosts, parameters });
        }
        if cables > u128::from(CABLES_MAX) {
            return Err(TopologyError::TooManyCables { cables, parameters });
        }
        let count = |count: u128| u64::try_from(count).unwrap_or(u64::MAX);
        Ok(Size {
            hosts: count(hosts),
            switches: count(self.switches),
            leaves: count(self.leaves.min(hosts)),
            cables: count(cables),
            regions: count(self.regions),
        })
    }
}

impl Size {
    /// The size of a fabric that is there.
    pub fn of(topology: &Topology) -> Size {
        let regions = topology.regions.iter().max().map_or(0, |last| last + 1);
        let mut has_hosts = vec![false; topology.switches()];
        for host in topology.host_ids() {
            let first = topology.neighbours(host).next();
            let place = first.and_then(|peer| peer.node.index().checked_sub(topology.hosts));
            if let Some(known) = place.and_then(|place| has_hosts.get_mut(place)) {
                *known = true;
            }
        }
        let leaves = has_hosts.iter().filter(|has| **has).count();
        Size {
            hosts: topology.hosts as u64,
            switches: topology.switches() as u64,
            leaves: leaves as u64,
            cables: topology.cables.len() as u64,
            regions: if topology.is_region_each() {
                0
            } else {
                regions.into()
            },
        }
    }

    /// The memory that the graph takes while it is built, at most, in bytes.
    pub fn topology_bytes(&self) -> u64 {
        let nodes = self.hosts.saturating_add(self.switches);
        let cables = self.cables.saturating_mul(CABLE_BYTES);
        nodes.saturating_mul(NODE_BYTES).saturating_add(cables)
    }

    /// The memory of the table of its routes while they are found, in bytes.
    pub fn routing_bytes(&self) -> u64 {
        let ways = self.leaves.saturating_add(self.regions);
        // Searches leave the cables of hosts out.
        let between = self.cables.saturating_sub(self.hosts);
        let parts = [
            self.switches.saturating_mul(ways).saturating_mul(WAY_BYTES),
            self.leaves
                .saturating_mul(self.leaves)
                .saturating_mul(DISTANCE_BYTES),
            self.switches.saturating_mul(SEARCHED_SWITCH_BYTES),
            between.saturating_mul(SEARCHED_CABLE_BYTES),
            self.hosts.saturating_mul(PLACE_BYTES),
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// Whether there is room for a table of its routes, which every plan needs.
    ///
    /// # Errors
    /// When it would have more entries than a table may, or take more memory than is left.
    pub(crate) fn may_route(&self, budget: &Budget) -> Result<(), RoutingError> {
        let (switches, groups) = (self.switches, self.leaves);
        if switches.saturating_mul(groups) > ENTRIES_MAX {
            return Err(RoutingError::TooLarge { switches, groups });
        }
        budget
            .may_take(self.routing_bytes())
            .map_err(|over| RoutingError::OverBudget {
                switches,
                groups,
                over,
            })
    }

    /// Takes the memory of fibres in place of all cables from a budget.
    pub(crate) fn take_fibres(&self, budget: &Budget) -> Result<(), TopologyError> {
        let bytes = self.cables.saturating_mul(FIBRE_BYTES);
        budget.take(bytes).map_err(|over| self.refused(over))
    }

    fn refused(&self, over: OverBudget) -> TopologyError {
        TopologyError::OverBudget {
            hosts: self.hosts,
            switches: self.switches,
            cables: self.cables,
            over,
        }
    }

    /// Takes the memory of the graph from a budget, before it is built.
    ///
    /// # Errors
    /// When there are more hosts than allowed, or the graph would take more memory than is left.
    pub(crate) fn take(&self, budget: &Budget) -> Result<(), TopologyError> {
        let refused = |over| self.refused(over);
        budget.ranks(self.hosts).map_err(refused)?;
        budget.take(self.topology_bytes()).map_err(refused)
    }
}
