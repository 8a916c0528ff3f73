//! The graph: nodes with ports, and the cables between them.

use tenter_units::{ById, Rate};

use crate::cable::{Cable, CableEnd, PortRef};
use crate::ids::{HostId, NodeId, SwitchId};
use crate::optical::Optics;
use crate::shape::Shape;

/// A fabric as a graph of hosts and switches.
///
/// Made by [`TopologySpec::build`](crate::TopologySpec::build), which guarantees that every
/// reference is in range, every host has [as many ports](Topology::nic_ports), every rate is above
/// zero and every host reaches every other of its plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Hosts first, then switches by tier.
    pub nodes: ById<NodeId, Node>,
    /// Every cable once; the two directions are its two links.
    pub cables: Vec<Cable>,
    /// Number of hosts among the nodes, which are the first ones.
    pub hosts: usize,
    /// Switches that do not take the shortest path.
    pub routes: Vec<StaticRoute>,
    /// The optical circuit switches in its cables.
    pub optics: Optics,
    /// The region of each switch, from 0 on, where packets may go by a region that is neither
    /// their source's nor their destination's; else empty. Shortest paths are then those with the
    /// fewest cables between regions, and of these those with the fewest cables.
    pub regions: ById<SwitchId, u32>,
    /// By cable: whether it is the dateline of a ring, behind which packets take the next class;
    /// empty where they take it in each further region.
    pub datelines: Vec<bool>,
    /// The classes that keep pauses from waiting for each other in a cycle, where there are
    /// regions.
    pub safe_classes: SafeClasses,
    /// The plane of each host, where the fabric has several without a way between them, as the
    /// rails of a rail-only fabric; else empty.
    pub planes: ById<HostId, u32>,
    /// Ports of each host: 1, or as many as a multi-plane fabric has planes, each of which is a
    /// fabric of its own with the same switches and cables. Port `p` is on plane `p`, and the
    /// switches that are alike in all planes have numbers one after the other.
    pub nic_ports: u16,
    /// The arrangement by which routes are known without a search.
    pub(crate) shape: Option<Shape>,
}

/// Numbers of lossless classes, each the next one of the class before, with which pauses cannot
/// wait for each other in a cycle; none where no number of them is enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SafeClasses {
    /// For packets on shortest paths.
    pub shortest: Option<u32>,
    /// For packets that may take detours.
    pub detours: Option<u32>,
}

/// A way that a switch takes instead of the shortest, to all hosts on another switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticRoute {
    /// The switch that takes it.
    pub switch: NodeId,
    /// The switch that the hosts are on.
    pub destination: NodeId,
    /// The neighbour it leads to; all cables to it are equal.
    pub next: NodeId,
}

/// A host (one NIC) or a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique in the topology: `host3`, `leaf0`, `pod1/agg0`.
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
    /// The cable end in each port.
    pub ports: Vec<PortRef>,
    /// The rate of its fastest port.
    pub fastest: Rate,
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// One NIC; with one port, port 0, or one on each plane.
    Host,
    /// A switch.
    Switch {
        /// Distance from the hosts: 0 for a leaf (`ToR`), 1 for a spine or aggregation switch, 2
        /// for a core switch.
        tier: u8,
    },
}

impl Topology {
    /// Number of switches among the nodes.
    pub fn switches(&self) -> usize {
        self.nodes.len() - self.hosts
    }

    /// The switches that hosts are cabled to, ascending.
    pub fn leaves(&self) -> Vec<NodeId> {
        let has_host =
            |&switch: &NodeId| self.neighbours(switch).any(|peer| self.is_host(peer.node));
        self.switch_nodes().filter(has_host).collect()
    }

    /// The highest tier of any switch.
    pub fn top_tier(&self) -> Option<u8> {
        self.switch_nodes().filter_map(|node| self.tier(node)).max()
    }

    /// Whether `node` is a host.
    pub fn is_host(&self, node: NodeId) -> bool {
        node.index() < self.hosts
    }

    /// The tier of a switch, nothing for a host.
    pub fn tier(&self, node: NodeId) -> Option<u8> {
        match self.nodes[node].kind {
            NodeKind::Host => None,
            NodeKind::Switch { tier } => Some(tier),
        }
    }

    /// The directed link that leaves `node` by `port`: `2 · cable + end of the sender`.
    pub fn link_id(&self, node: impl Into<NodeId>, port: u16) -> u32 {
        let plugged = self.port(node.into(), port);
        2 * plugged.cable + u32::from(plugged.end)
    }

    /// Sender and receiver of a directed link.
    pub fn link_ends(&self, link: u32) -> (CableEnd, CableEnd) {
        let ends = self.cables[link as usize / 2].ends;
        let sender = link as usize % 2;
        (ends[sender], ends[1 - sender])
    }

    /// The cable in a port.
    pub fn cable(&self, node: impl Into<NodeId>, port: u16) -> &Cable {
        &self.cables[self.port(node.into(), port).cable as usize]
    }

    /// The number of the cable in a port.
    pub fn cable_number(&self, node: impl Into<NodeId>, port: u16) -> u32 {
        self.port(node.into(), port).cable
    }

    /// The port at the other end of the cable in a port.
    #[inline]
    pub fn neighbour(&self, node: impl Into<NodeId>, port: u16) -> CableEnd {
        let plugged = self.port(node.into(), port);
        self.cables[plugged.cable as usize].ends[1 - plugged.end as usize]
    }

    /// The ports at the other ends of all cables of a node, in port order.
    pub fn neighbours<N: Into<NodeId>>(
        &self,
        node: N,
    ) -> impl Iterator<Item = CableEnd> + use<'_, N> {
        let ports = self.nodes[node.into()].ports.iter();
        ports.map(|plugged| self.cables[plugged.cable as usize].ends[1 - plugged.end as usize])
    }

    /// The rate of a NIC: that of all its ports together.
    pub fn line_rate(&self, host: HostId) -> Rate {
        let ports = (0..self.nic_ports).map(|port| self.cable(host, port).rate);
        let rates = ports.map(Rate::bits_per_second);
        Rate::from_bits_per_second(rates.fold(0, u64::saturating_add))
    }

    /// The switches that stand in the place of a switch in all planes, plane after plane, where
    /// it is the one of plane 0; itself where there is one plane.
    pub fn on_planes(&self, first: SwitchId) -> impl Iterator<Item = SwitchId> + Clone + use<> {
        first.run(u32::from(self.nic_ports))
    }

    /// Whether the fabric has a way between two hosts.
    pub fn joins(&self, a: HostId, b: HostId) -> bool {
        self.planes.get(a.index()) == self.planes.get(b.index())
    }

    /// The region of a switch; `None` where there are none, and of a host.
    pub fn region(&self, node: NodeId) -> Option<u32> {
        let switch = node.index().checked_sub(self.hosts)?;
        self.regions.get(switch).copied()
    }

    /// Whether packets take the next class behind a cable: it is a dateline, or where there are no
    /// datelines it joins two regions.
    pub fn is_border(&self, cable: u32) -> bool {
        if let Some(&dateline) = self.datelines.get(cable as usize) {
            return dateline;
        }
        let ends = self.cables[cable as usize].ends;
        let [one, other] = ends.map(|end| self.region(end.node));
        one.is_some() && other.is_some() && one != other
    }

    /// By port of a switch: whether packets take the next class behind its cable.
    pub fn borders(&self, node: NodeId) -> Vec<bool> {
        let ports = self.nodes[node].ports.iter();
        ports.map(|plugged| self.is_border(plugged.cable)).collect()
    }

    /// Whether each switch is a region by itself, of its own number.
    pub(crate) fn is_region_each(&self) -> bool {
        let own = self.regions.numbered();
        let mut own = own.map(|(switch, region)| switch.number() == *region);
        !self.regions.is_empty() && own.all(|is_own| is_own)
    }

    /// The name of a port for people: `leaf0:3`.
    pub fn port_name(&self, node: impl Into<NodeId>, port: u16) -> String {
        format!("{}:{port}", self.name(node))
    }

    /// The name of a node.
    pub fn name(&self, node: impl Into<NodeId>) -> &str {
        &self.nodes[node.into()].name
    }

    /// How many ports a node has.
    pub fn ports(&self, node: impl Into<NodeId>) -> u16 {
        self.nodes[node.into()].ports.len() as u16
    }

    /// The number of the node called `name`.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        let mut nodes = self.nodes.numbered();
        let found = nodes.find(|(_, node)| node.name == name);
        found.map(|(node, _)| node)
    }

    #[inline]
    fn port(&self, node: NodeId, port: u16) -> PortRef {
        self.nodes[node].ports[port as usize]
    }
}

#[cfg(test)]
mod tests {
    use tenter_units::{Budget, Rate, Time};

    use crate::{CableEnd, NodeId, SingleSwitch, TopologySpec};

    #[test]
    fn names_links_and_neighbours() {
        let topology = TopologySpec::SingleSwitch(SingleSwitch {
            hosts: 3,
            rate: Rate::from_gbps(400),
            host_delay: Time::from_ns(10),
        })
        .build(&Budget::unlimited())
        .unwrap();
        let switch = topology.find("leaf0").unwrap();
        assert_eq!(
            (switch.number(), topology.switches(), topology.tier(switch)),
            (3, 1, Some(0))
        );
        assert_eq!(topology.port_name(switch, 2), "leaf0:2");
        let last = NodeId::new(2);
        let end = CableEnd {
            node: last,
            port: 0,
        };
        assert_eq!(topology.neighbour(switch, 2), end);
        assert_eq!(
            topology.neighbour(last, 0),
            CableEnd {
                node: switch,
                port: 2
            }
        );
        // Host 2 is the lower end of cable 2, so it sends on link 4 and the switch on link 5.
        assert_eq!(
            (topology.link_id(last, 0), topology.link_id(switch, 2)),
            (4, 5)
        );
        let (sender, receiver) = topology.link_ends(5);
        assert_eq!((sender.node, receiver.node), (switch, last));
        assert_eq!(topology.find("leaf1"), None);
    }
}
