//! The numbers of hosts, nodes and switches, each a type of its own.

use tenter_units::id;

id! {
    /// A host, and with it its NIC, by its number in the topology.
    pub struct HostId(u32);
}

id! {
    /// A node by its number in the topology: hosts first, with their own numbers, then switches.
    pub struct NodeId(u32);
}

id! {
    /// A switch by its number among the switches: that of its node less the number of hosts.
    pub struct SwitchId(u32);
}

impl HostId {
    /// The host as a node of the topology, which has the same number.
    #[inline]
    #[must_use]
    pub const fn node(self) -> NodeId {
        NodeId::new(self.number())
    }
}

impl From<HostId> for NodeId {
    #[inline]
    fn from(host: HostId) -> NodeId {
        host.node()
    }
}
