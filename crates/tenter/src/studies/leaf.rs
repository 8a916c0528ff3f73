//! Leaves, with their hosts and uplinks.

use tenter_fabric::topology::{HostId, NodeId, Topology};
use tenter_results::FlowRow;

/// A switch with hosts, its hosts, and its ports towards other switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) name: String,
    pub(crate) node: NodeId,
    pub(crate) hosts: Vec<HostId>,
    pub(crate) uplinks: Vec<u16>,
}

impl Leaf {
    /// Returns true if a flow leaves the leaf: it goes from a host at the leaf to a host elsewhere.
    pub(crate) fn is_left_by(&self, from: HostId, to: HostId) -> bool {
        self.hosts.contains(&from) && !self.hosts.contains(&to)
    }

    /// Does what [`is_left_by`](Self::is_left_by) does, for a row of `flows.parquet`.
    pub(crate) fn is_left_by_recorded(&self, flow: &FlowRow) -> bool {
        let [from, to] = [flow.src_host, flow.dst_host].map(HostId::new);
        self.is_left_by(from, to)
    }
}

/// Returns all switches with hosts, in topology order.
pub(crate) fn leaves(topology: &Topology) -> Vec<Leaf> {
    let switches = topology.switch_nodes();
    let leaf = |node: NodeId| {
        let ports = 0..topology.ports(node);
        let host = |port: u16| topology.host(topology.neighbour(node, port).node);
        let (down, uplinks): (Vec<u16>, Vec<u16>) = ports.partition(|&port| host(port).is_some());
        Leaf {
            name: topology.name(node).to_owned(),
            node,
            hosts: down.into_iter().filter_map(host).collect(),
            uplinks,
        }
    };
    switches
        .map(leaf)
        .filter(|leaf| !leaf.hosts.is_empty())
        .collect()
}
