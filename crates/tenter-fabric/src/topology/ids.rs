//! Number types for hosts, nodes and switches.

use tenter_language::units::id;

id! {
    /// A host, and with it its NIC, by its number in the topology.
    pub struct HostId(u32);
}

id! {
    /// A node by its number in the topology: hosts first, with their own numbers, then switches.
    pub struct NodeId(u32);
}

id! {
    /// A switch by its number among the switches: its node number minus the host count.
    pub struct SwitchId(u32);
}

impl HostId {
    /// Returns the host as a node, which has the same number.
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
