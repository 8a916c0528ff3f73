//! A fabric's size, computed from counts before any part is built.

use tenter_language::units::{Budget, OverBudget};

use crate::topology::wiring::{CABLES_MAX, HOSTS_MAX};
use crate::topology::{RoutingError, Topology, TopologyError};

/// Counts that determine how much memory a fabric and its routes take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Number of hosts, each a NIC.
    pub hosts: u64,
    /// Number of switches on all planes.
    pub switches: u64,
    /// Switches on one plane that have hosts, or may have.
    pub leaves: u64,
    /// Number of cables on all planes.
    pub cables: u64,
    /// Regions with their own routes; 0 if there are none.
    pub regions: u64,
}

/// Most entries in a routing table. They take 2 GiB.
const ENTRIES_MAX: u64 = 1 << 28;
/// Bytes per node: record, name, and an entry in the name set during the check.
const NODE_BYTES: u64 = 180;
/// Bytes per cable during wiring: a wire in a list that has just doubled, the record and two ports.
const CABLE_BYTES: u64 = 105;
/// Bytes per table entry: the route from a switch to the hosts on a leaf, or into a region.
const WAY_BYTES: u64 = 8;
/// Bytes for the path length between two leaves.
const DISTANCE_BYTES: u64 = 1;
/// Bytes that a search keeps per switch, with its port list.
const SEARCHED_SWITCH_BYTES: u64 = 120;
/// Bytes per cable for both its ends in a search graph.
const SEARCHED_CABLE_BYTES: u64 = 36;
/// Additional bytes for a cable through an optical switch: its second fibre, ports and their
/// places.
const FIBRE_BYTES: u64 = 200;
/// Bytes per host for its place in the routing table.
const PLACE_BYTES: u64 = 22;

/// Counts in a description, which may be products over any keys and thus exceed 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) hosts: u128,
    pub(crate) switches: u128,
    pub(crate) leaves: u128,
    pub(crate) cables: u128,
    pub(crate) regions: u128,
}

impl Counts {
    /// Converts the counts unless they exceed the limits; `parameters` names the keys to reduce.
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
            // Switches without hosts need no routes to them.
            leaves: count(self.leaves.min(hosts)),
            cables: count(cables),
            regions: count(self.regions),
        })
    }
}

impl Size {
    /// Counts a fabric that has been built.
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
            // If each switch is a region, routes to hosts serve, and no table is added.
            regions: if topology.is_region_each() {
                0
            } else {
                regions.into()
            },
        }
    }

    /// Returns an upper bound for the bytes that the graph takes while it is built.
    pub fn topology_bytes(&self) -> u64 {
        let nodes = self.hosts.saturating_add(self.switches);
        let cables = self.cables.saturating_mul(CABLE_BYTES);
        nodes.saturating_mul(NODE_BYTES).saturating_add(cables)
    }

    /// Returns the bytes that the routing table takes while it is computed.
    pub fn routing_bytes(&self) -> u64 {
        let ways = self.leaves.saturating_add(self.regions);
        // Searches leave out the cables of hosts.
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

    /// Checks that a routing table, which every plan needs, has room in the budget.
    ///
    /// # Errors
    /// A table with more entries than allowed, or with more memory than is left.
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

    /// Takes the bytes for fibres, in case all cables are fibres, from the budget.
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

    /// Takes the graph's memory from the budget, before it is built.
    ///
    /// # Errors
    /// More hosts than allowed, or more memory than is left.
    pub(crate) fn take(&self, budget: &Budget) -> Result<(), TopologyError> {
        let refused = |over| self.refused(over);
        budget.ranks(self.hosts).map_err(refused)?;
        budget.take(self.topology_bytes()).map_err(refused)
    }
}
