//! Wiring: turns wires into numbered cables and ports.

use tenter_language::units::{Budget, ById, Rate, Time};

use crate::topology::optical::Optics;
use crate::topology::{
    Cable, CableEnd, HostId, Node, NodeId, NodeKind, Planes, PortRef, SafeClasses, Topology,
    TopologyError,
};

/// Most hosts that a topology may have.
pub const HOSTS_MAX: u32 = 1 << 20;
/// Most cables that a topology may have.
pub(crate) const CABLES_MAX: u32 = 1 << 24;
/// Work units charged per cable, which is laid, sorted, plugged in and traversed.
const CABLE_UNITS: u64 = 15;
/// Cables after which the time budget is checked.
const CABLES_PER_LOOK: u32 = 1 << 16;
/// Most ports that a node may have.
pub const PORTS_MAX: u32 = u16::MAX as u32;

/// Multiplies counts and saturates on overflow.
pub(crate) fn product(counts: &[u32]) -> u128 {
    counts.iter().fold(1, |total: u128, count| {
        total.saturating_mul(u128::from(*count))
    })
}

/// A topology under construction. Hosts must be added before switches, and lower tiers before upper
/// ones, because their order numbers them.
pub(crate) struct Wiring {
    nodes: ById<NodeId, Node>,
    hosts: usize,
    wires: Vec<Wire>,
    nic_ports: u16,
}

impl Default for Wiring {
    fn default() -> Wiring {
        Wiring {
            nodes: ById::default(),
            hosts: 0,
            wires: Vec::new(),
            nic_ports: 1,
        }
    }
}

#[derive(Clone, Copy)]
struct Wire {
    lower: NodeId,
    upper: NodeId,
    rate: Rate,
    delay: Time,
}

impl Wiring {
    /// Adds a host and returns its number.
    pub(crate) fn host(&mut self, name: String) -> NodeId {
        debug_assert_eq!(self.hosts, self.nodes.len(), "hosts come before switches");
        self.hosts += 1;
        self.node(name, NodeKind::Host)
    }

    /// Adds `count` hosts called `host0`, `host1` and so on.
    pub(crate) fn hosts(&mut self, count: u32) {
        for host in 0..count {
            self.host(format!("host{host}"));
        }
    }

    /// Cables all hosts to switches, `each` hosts to every switch from `first` on.
    pub(crate) fn connect_hosts(&mut self, first: NodeId, each: u32, rate: Rate, delay: Time) {
        for host in 0..self.hosts as u32 {
            self.connect(NodeId::new(host), first.after(host / each), 1, rate, delay);
        }
    }

    /// Adds a switch and returns its number.
    pub(crate) fn switch(&mut self, name: String, tier: u8) -> NodeId {
        self.node(name, NodeKind::Switch { tier })
    }

    fn node(&mut self, name: String, kind: NodeKind) -> NodeId {
        self.nodes.push(Node {
            name,
            kind,
            ports: Vec::new(),
            fastest: Rate::default(),
        });
        NodeId::new((self.nodes.len() - 1) as u32)
    }

    /// Lays `count` parallel cables between two nodes.
    pub(crate) fn connect(&mut self, a: NodeId, b: NodeId, count: u32, rate: Rate, delay: Time) {
        let wire = Wire {
            lower: a.min(b),
            upper: a.max(b),
            rate,
            delay,
        };
        self.wires.extend((0..count).map(|_| wire));
    }

    /// Copies all switches and cables once for each plane; hosts get a port on each. A switch's
    /// copies have consecutive numbers.
    pub(crate) fn on_planes(mut self, planes: Planes) -> Wiring {
        let planes = planes.count();
        if planes == 1 {
            return self;
        }
        let hosts = self.hosts as u32;
        let first = NodeId::new(hosts);
        let on_plane = |node: NodeId, plane: u32| {
            if node < first {
                node
            } else {
                // Copies are next to each other, so that routes to a host are kept once for all
                // planes.
                first.after(node.since(first) * planes + plane)
            }
        };
        let switches = self.nodes.as_mut_slice()[hosts as usize..].to_vec();
        self.nodes = self.nodes.iter().take(hosts as usize).cloned().collect();
        for switch in switches {
            for plane in 0..planes {
                let name = format!("plane{plane}/{}", switch.name);
                self.nodes.push(Node {
                    name,
                    ..switch.clone()
                });
            }
        }
        let wires = std::mem::take(&mut self.wires).into_iter();
        let copies = wires.flat_map(|wire| {
            (0..planes).map(move |plane| Wire {
                lower: on_plane(wire.lower, plane),
                upper: on_plane(wire.upper, plane),
                ..wire
            })
        });
        self.wires = copies.collect();
        self.nic_ports = planes as u16;
        self
    }

    /// Numbers cables and ports, and checks the result.
    pub(crate) fn finish(self, budget: &Budget) -> Result<Topology, TopologyError> {
        self.finish_planes(ById::default(), budget)
    }

    /// Finishes a fabric whose hosts are on separate planes; `planes` has each host's plane.
    pub(crate) fn finish_planes(
        mut self,
        planes: ById<HostId, u32>,
        budget: &Budget,
    ) -> Result<Topology, TopologyError> {
        // Sorted like this, every node sees its cables to lower numbers first, ascending, and then
        // those to higher numbers, ascending: the port order promised on the page of topology.
        // The sort is stable, so parallel cables keep their order.
        self.wires.sort_by_key(|wire| (wire.lower, wire.upper));
        self.reserve_ports()?;
        let Wiring {
            mut nodes,
            hosts,
            wires,
            nic_ports,
        } = self;
        let wired = wires.len() as u64;
        let mut cables = Vec::with_capacity(wires.len());
        for wire in wires {
            let cable = cables.len() as u32;
            // Work is charged in large units, since a charge may read the clock.
            if cable.is_multiple_of(CABLES_PER_LOOK) {
                let units = u64::from(CABLES_PER_LOOK) * CABLE_UNITS;
                budget
                    .work(units)
                    .map_err(|over| TopologyError::OverBudget {
                        hosts: hosts as u64,
                        switches: (nodes.len() - hosts) as u64,
                        cables: wired,
                        over,
                    })?;
            }
            let mut plug = |node: NodeId, end: u8| {
                let plugged = &mut nodes[node];
                plugged.ports.push(PortRef { cable, end });
                plugged.fastest = plugged.fastest.max(wire.rate);
                CableEnd {
                    node,
                    port: (plugged.ports.len() - 1) as u16,
                }
            };
            let ends = [plug(wire.lower, 0), plug(wire.upper, 1)];
            cables.push(Cable {
                ends,
                rate: wire.rate,
                delay: wire.delay,
            });
        }
        let topology = Topology {
            nodes,
            cables,
            hosts,
            routes: Vec::new(),
            optics: Optics::default(),
            regions: ById::default(),
            datelines: Vec::new(),
            safe_classes: SafeClasses::default(),
            shape: None,
            planes,
            nic_ports,
        };
        topology.check(budget)?;
        Ok(topology)
    }

    /// Counts every node's ports before they are filled, which avoids reallocation for millions of
    /// cables. Refuses cables from a node to itself, and nodes with too many ports.
    fn reserve_ports(&mut self) -> Result<(), TopologyError> {
        let mut counts: ById<NodeId, u32> = vec![0; self.nodes.len()].into();
        for wire in &self.wires {
            if wire.lower == wire.upper {
                let node = self.nodes[wire.lower].name.clone();
                return Err(TopologyError::SelfLink { node });
            }
            counts[wire.lower] += 1;
            counts[wire.upper] += 1;
        }
        for (node, count) in self.nodes.iter_mut().zip(counts.iter().copied()) {
            if count > PORTS_MAX {
                let ports = u64::from(count);
                return Err(TopologyError::TooManyPorts {
                    node: node.name.clone(),
                    ports,
                });
            }
            node.ports.reserve_exact(count as usize);
        }
        Ok(())
    }
}
