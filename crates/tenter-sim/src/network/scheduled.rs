//! The scheduled fabric as a whole, with its leaves.

use std::sync::Arc;

use crate::plan::{LeafKinds, Plan};
use tenter_fabric::net::scheduled::{HostPlace, ScheduledSpec};
use tenter_fabric::topology::{CableEnd, NodeId};

/// The fabric's parameters and its leaves.
#[derive(Debug)]
pub(crate) struct ScheduledFabric {
    pub(crate) spec: ScheduledSpec,
    /// The leaves' nodes in ascending order; a leaf's number is its index.
    pub(crate) leaves: Vec<NodeId>,
    /// The leaves grouped by their delays to each other.
    pub(super) kinds: LeafKinds,
    /// Each host's leaf and the port there.
    pub(super) places: Arc<[HostPlace]>,
    /// Set if faults or impairments may lose cells.
    pub(super) may_lose: bool,
}

impl ScheduledFabric {
    pub(crate) fn of(plan: &Plan) -> Option<ScheduledFabric> {
        let spec = plan.scheduled.clone()?;
        let topology = &plan.topology;
        let hosts = topology.host_ids();
        let ends: Vec<_> = hosts.map(|host| topology.neighbour(host, 0)).collect();
        let leaves = topology.leaves();
        let place = |end: &CableEnd| HostPlace {
            leaf: leaves.partition_point(|&leaf| leaf < end.node) as u16,
            port: end.port,
        };
        Some(ScheduledFabric {
            places: ends.iter().map(place).collect(),
            spec,
            may_lose: !plan.faults.events.is_empty() || !plan.impairments.is_empty(),
            kinds: plan.delays().leaf_kinds(&leaves),
            leaves,
        })
    }

    /// Returns the number of control links that end at a node: one per leaf at leaves, 0 elsewhere.
    pub(crate) fn control_inputs(&self, node: NodeId) -> u16 {
        self.number(node).map_or(0, |_| self.leaves.len() as u16)
    }

    /// Returns a node's number among the leaves, if it is one.
    pub(super) fn number(&self, node: NodeId) -> Option<u16> {
        self.leaves.binary_search(&node).ok().map(|at| at as u16)
    }
}
