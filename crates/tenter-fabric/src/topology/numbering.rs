//! Conversions among host, node and switch numbers.

use crate::topology::graph::Topology;
use crate::topology::ids::{HostId, NodeId, SwitchId};

impl Topology {
    /// Iterates over all hosts, ascending.
    pub fn host_ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = HostId> + ExactSizeIterator + Clone + use<> {
        HostId::new(0).run(self.hosts as u32)
    }

    /// Iterates over all nodes, ascending.
    pub fn node_ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone + use<> {
        NodeId::new(0).run(self.nodes.len() as u32)
    }

    /// Iterates over all switches, ascending.
    pub fn switch_ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = SwitchId> + ExactSizeIterator + Clone + use<> {
        SwitchId::new(0).run(self.switches() as u32)
    }

    /// Iterates over the nodes that are switches, ascending.
    pub fn switch_nodes(
        &self,
    ) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone + use<> {
        self.first_switch().run(self.switches() as u32)
    }

    /// Returns the host with this node number; `None` for a switch.
    #[inline]
    pub fn host(&self, node: NodeId) -> Option<HostId> {
        self.is_host(node).then(|| HostId::new(node.number()))
    }

    /// Returns a node's switch number. The node must be a switch.
    #[inline]
    pub fn switch(&self, node: NodeId) -> SwitchId {
        SwitchId::new(node.since(self.first_switch()))
    }

    /// Returns a switch's node number.
    #[inline]
    pub fn switch_node(&self, switch: SwitchId) -> NodeId {
        self.first_switch().after(switch.number())
    }

    /// Returns the switch behind `port`. The port must lead to a switch.
    pub fn switch_behind(&self, switch: SwitchId, port: u16) -> SwitchId {
        self.switch(self.neighbour(self.switch_node(switch), port).node)
    }

    /// Returns the node number of switch 0.
    #[inline]
    fn first_switch(&self) -> NodeId {
        NodeId::new(self.hosts as u32)
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Budget;

    use super::*;
    use crate::topology::{SingleSwitch, TopologySpec};

    #[test]
    fn a_switch_is_the_node_behind_the_hosts() {
        let spec = TopologySpec::SingleSwitch(SingleSwitch::new(3));
        let topology = spec.build(&Budget::unlimited()).expect("it can be built");
        let node = NodeId::new(3);
        assert_eq!(topology.switch(node), SwitchId::new(0));
        assert_eq!(topology.switch_node(SwitchId::new(0)), node);
        assert_eq!(topology.host(node), None);
        assert_eq!(topology.host(NodeId::new(2)), Some(HostId::new(2)));
        assert_eq!(topology.switch_nodes().collect::<Vec<_>>(), [node]);
        assert_eq!(topology.host_ids().count(), 3);
    }
}
