//! The leaves of a fabric.

use tenter_record::FlowRow;
use tenter_topology::{HostId, NodeId, Topology};

/// A leaf of a fabric: its hosts and the ports towards other switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) name: String,
    pub(crate) node: NodeId,
    pub(crate) hosts: Vec<HostId>,
    pub(crate) uplinks: Vec<u16>,
}

impl Leaf {
    /// Whether a flow leaves it: from one of its hosts to a host elsewhere.
    pub(crate) fn is_left_by(&self, from: HostId, to: HostId) -> bool {
        self.hosts.contains(&from) && !self.hosts.contains(&to)
    }

    /// The same of a flow that has been recorded.
    pub(crate) fn is_left_by_recorded(&self, flow: &FlowRow) -> bool {
        let [from, to] = [flow.src_host, flow.dst_host].map(HostId::new);
        self.is_left_by(from, to)
    }
}

/// The switches with hosts, in the order of the topology.
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
