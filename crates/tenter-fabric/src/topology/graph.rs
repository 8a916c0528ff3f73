//! A fabric's graph: nodes with ports, and cables between them.

use tenter_language::units::{ById, Rate};

use crate::topology::cable::{Cable, CableEnd, PortRef};
use crate::topology::ids::{HostId, NodeId, SwitchId};
use crate::topology::optical::Optics;
use crate::topology::shape::Shape;

/// A fabric as a graph with hosts and switches.
///
/// Made by [`TopologySpec::build`](crate::topology::TopologySpec::build), which guarantees that
/// every reference is in range, every host has [its ports](Topology::nic_ports), every rate is
/// above zero, and every host reaches every other one on its plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Hosts first, then switches by tier.
    pub nodes: ById<NodeId, Node>,
    /// Every cable once; its two directions are two links.
    pub cables: Vec<Cable>,
    /// Number of hosts, which are the first nodes.
    pub hosts: usize,
    /// Routes by which switches deviate from the shortest path.
    pub routes: Vec<StaticRoute>,
    /// Optical circuit switches in the fabric's cables.
    pub optics: Optics,
    /// Region by switch, from 0, in fabrics where packets may take a detour through a third region;
    /// otherwise empty. Shortest paths are then those with the fewest cables between regions, and
    /// among these the ones with the fewest cables.
    pub regions: ById<SwitchId, u32>,
    /// For each cable, true if it is a ring's dateline, behind which packets take the next class.
    /// Empty where packets take the next class in each further region.
    pub datelines: Vec<bool>,
    /// Class counts that keep pauses from waiting for each other in a cycle, if there are regions.
    pub safe_classes: SafeClasses,
    /// Plane by host, in fabrics with several planes that no path joins, such as a rail-only
    /// fabric's rails; otherwise empty.
    pub planes: ById<HostId, u32>,
    /// Ports on each host: 1, or one for each plane in a multi-plane fabric. Port `p` is on plane
    /// `p`. All planes have the same switches and cables, and corresponding switches have
    /// consecutive numbers.
    pub nic_ports: u16,
    /// Arrangement from which routes follow without a search.
    pub(crate) shape: Option<Shape>,
}

/// Counts of lossless classes, each the `next_region` of the one before, that rule out pause
/// cycles; `None` where no number suffices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SafeClasses {
    /// Classes needed if packets take shortest paths only.
    pub shortest: Option<u32>,
    /// Classes needed if packets may take detours.
    pub detours: Option<u32>,
}

/// A route that replaces the shortest path at one switch, for all hosts on another switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticRoute {
    /// Switch that takes the route.
    pub switch: NodeId,
    /// Switch that the destination hosts are on.
    pub destination: NodeId,
    /// Neighbour to which the route leads; all cables to it are equal.
    pub next: NodeId,
}

/// A host (one NIC), or a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique name: `host3`, `leaf0`, `pod1/agg0`.
    pub name: String,
    /// Kind: a host, or a switch with its tier.
    pub kind: NodeKind,
    /// Cable end in each port, by port number.
    pub ports: Vec<PortRef>,
    /// Line rate on the fastest port.
    pub fastest: Rate,
}

/// Kind of a node: host or switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// One NIC, with a single port 0, or with one port on each plane.
    Host,
    /// A packet switch; optical circuit switches are no nodes.
    Switch {
        /// Distance from the hosts: 0 for a leaf (`ToR`), 1 for a spine or aggregation switch, 2
        /// for a core switch.
        tier: u8,
    },
}

impl Topology {
    /// Counts the switches, which follow the hosts.
    pub fn switches(&self) -> usize {
        self.nodes.len() - self.hosts
    }

    /// Lists the switches to which hosts are cabled, ascending.
    pub fn leaves(&self) -> Vec<NodeId> {
        let has_host =
            |&switch: &NodeId| self.neighbours(switch).any(|peer| self.is_host(peer.node));
        self.switch_nodes().filter(has_host).collect()
    }

    /// Returns the highest tier; `None` without switches.
    pub fn top_tier(&self) -> Option<u8> {
        self.switch_nodes().filter_map(|node| self.tier(node)).max()
    }

    /// Returns true if `node` is a host.
    pub fn is_host(&self, node: NodeId) -> bool {
        node.index() < self.hosts
    }

    /// Returns a switch's tier; `None` for a host.
    pub fn tier(&self, node: NodeId) -> Option<u8> {
        match self.nodes[node].kind {
            NodeKind::Host => None,
            NodeKind::Switch { tier } => Some(tier),
        }
    }

    /// Returns the directed link that leaves `node` by `port`: `2 · cable + end`, where `end` is
    /// the sender's.
    pub fn link_id(&self, node: impl Into<NodeId>, port: u16) -> u32 {
        let plugged = self.port(node.into(), port);
        2 * plugged.cable + u32::from(plugged.end)
    }

    /// Returns a directed link's sender and receiver.
    pub fn link_ends(&self, link: u32) -> (CableEnd, CableEnd) {
        let ends = self.cables[link as usize / 2].ends;
        let sender = link as usize % 2;
        (ends[sender], ends[1 - sender])
    }

    /// Returns the cable plugged into a port.
    pub fn cable(&self, node: impl Into<NodeId>, port: u16) -> &Cable {
        &self.cables[self.port(node.into(), port).cable as usize]
    }

    /// Returns the number of the cable in a port.
    pub fn cable_number(&self, node: impl Into<NodeId>, port: u16) -> u32 {
        self.port(node.into(), port).cable
    }

    /// Returns the port at the other end when following a port's cable.
    #[inline]
    pub fn neighbour(&self, node: impl Into<NodeId>, port: u16) -> CableEnd {
        let plugged = self.port(node.into(), port);
        self.cables[plugged.cable as usize].ends[1 - plugged.end as usize]
    }

    /// Iterates over the far ends of a node's cables, in port order.
    pub fn neighbours<N: Into<NodeId>>(
        &self,
        node: N,
    ) -> impl Iterator<Item = CableEnd> + use<'_, N> {
        let ports = self.nodes[node.into()].ports.iter();
        ports.map(|plugged| self.cables[plugged.cable as usize].ends[1 - plugged.end as usize])
    }

    /// Returns a NIC's line rate: the sum over all its ports.
    pub fn line_rate(&self, host: HostId) -> Rate {
        let ports = (0..self.nic_ports).map(|port| self.cable(host, port).rate);
        let rates = ports.map(Rate::bits_per_second);
        Rate::from_bits_per_second(rates.fold(0, u64::saturating_add))
    }

    /// Iterates over the switches that correspond to `first`, a switch on plane 0, on all planes in
    /// order. With a single plane that is `first` alone.
    pub fn on_planes(&self, first: SwitchId) -> impl Iterator<Item = SwitchId> + Clone + use<> {
        first.run(u32::from(self.nic_ports))
    }

    /// Returns true if the fabric has a path between two hosts.
    pub fn joins(&self, a: HostId, b: HostId) -> bool {
        self.planes.get(a.index()) == self.planes.get(b.index())
    }

    /// Returns a switch's region; `None` for a host, and in fabrics without regions.
    pub fn region(&self, node: NodeId) -> Option<u32> {
        let switch = node.index().checked_sub(self.hosts)?;
        self.regions.get(switch).copied()
    }

    /// Returns true if packets take the next class behind a cable: it is a dateline or, where there
    /// are none, joins two regions.
    pub fn is_border(&self, cable: u32) -> bool {
        if let Some(&dateline) = self.datelines.get(cable as usize) {
            return dateline;
        }
        let ends = self.cables[cable as usize].ends;
        let [one, other] = ends.map(|end| self.region(end.node));
        one.is_some() && other.is_some() && one != other
    }

    /// Returns for each port on a switch whether packets take the next class behind its cable.
    pub fn borders(&self, node: NodeId) -> Vec<bool> {
        let ports = self.nodes[node].ports.iter();
        ports.map(|plugged| self.is_border(plugged.cable)).collect()
    }

    /// Returns true if each switch is a region by itself, with its own number.
    pub(crate) fn is_region_each(&self) -> bool {
        let own = self.regions.numbered();
        let mut own = own.map(|(switch, region)| switch.number() == *region);
        !self.regions.is_empty() && own.all(|is_own| is_own)
    }

    /// Returns a port's name for people: `leaf0:3`.
    pub fn port_name(&self, node: impl Into<NodeId>, port: u16) -> String {
        format!("{}:{port}", self.name(node))
    }

    /// Returns a node's unique name, such as `leaf0`.
    pub fn name(&self, node: impl Into<NodeId>) -> &str {
        &self.nodes[node.into()].name
    }

    /// Returns how many ports a node has.
    pub fn ports(&self, node: impl Into<NodeId>) -> u16 {
        self.nodes[node.into()].ports.len() as u16
    }

    /// Returns the node called `name`, if there is one.
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
    use tenter_language::units::{Budget, Rate, Time};

    use crate::topology::{CableEnd, NodeId, SingleSwitch, TopologySpec};

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
