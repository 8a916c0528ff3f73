//! How long links take: from the start of a frame at one end to the event list at the other, and
//! from a pause or a credit to its effect.

use std::collections::HashMap;

use tenter_endpoint::NicSpec;
use tenter_engine::Stream;
use tenter_net::{CreditSpec, Switches};
use tenter_topology::{CableEnd, NodeId, Topology};
use tenter_units::{Rate, SerialisationTime, Time};

/// One link of a path, as the model has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// Its rate.
    pub rate: Rate,
    /// The sender's egress half, the cable and the receiver's ingress half.
    pub latency: Time,
    /// Whether the other end takes frames whole.
    pub stores: bool,
}

/// What decides how long the links of a fabric take.
#[derive(Clone, Copy, Debug)]
pub struct Delays<'p> {
    /// The fabric as a graph.
    pub topology: &'p Topology,
    /// The models of its switches.
    pub switches: &'p Switches,
    /// The model of its NICs.
    pub nic: &'p NicSpec,
    /// What frames need before they are sent, where they are sent by credit.
    pub credit: Option<&'p CreditSpec>,
    /// The seed that the clocks of NICs are drawn from.
    pub seed: u64,
}

/// The leaves of a scheduled fabric in kinds: those of one kind have ways of the same delays to and
/// from the same spines. Most fabrics have one kind, so what is done for each two of them does not
/// grow with the square of the leaves.
#[derive(Debug, Default)]
pub struct LeafKinds {
    /// The kind of each leaf.
    of_leaf: Vec<u32>,
    /// The ways of each kind.
    ways: Vec<Vec<SpineWay>>,
}

/// How long the head of a cell takes on the fastest link from a leaf to a spine, and on the fastest
/// one back, in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SpineWay {
    spine: NodeId,
    up: u64,
    down: u64,
}

impl LeafKinds {
    /// How long a message takes from a leaf to each leaf, in ps: as long as the head of a cell on
    /// the fastest way; `None` to itself, and where the two have no spine in common.
    pub fn times_from(&self, leaf: usize) -> Vec<Option<u64>> {
        let from = &self.ways[self.of_leaf[leaf] as usize];
        let to_kinds: Vec<Option<u64>> = self.ways.iter().map(|to| fastest(from, to)).collect();
        let kinds = self.of_leaf.iter().enumerate();
        let times = kinds.map(|(to, &kind)| to_kinds[kind as usize].filter(|_| to != leaf));
        times.collect()
    }

    /// The shortest and the longest time of a message between two leaves, in ps.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        let mut leaves = vec![0_u32; self.ways.len()];
        for &kind in &self.of_leaf {
            leaves[kind as usize] += 1;
        }
        let kinds = || self.ways.iter().enumerate();
        let times = kinds().flat_map(|(one, from)| {
            let leaves = &leaves;
            let others = kinds().filter(move |&(other, _)| one != other || leaves[one] > 1);
            others.filter_map(move |(_, to)| fastest(from, to))
        });
        times.fold(None, |bounds, time| {
            let (least, most) = bounds.unwrap_or((time, time));
            Some((time.min(least), time.max(most)))
        })
    }
}

/// The time from a leaf to another over the spine that is the fastest, in ps.
fn fastest(from: &[SpineWay], to: &[SpineWay]) -> Option<u64> {
    let mut to = to.iter().peekable();
    let times = from.iter().filter_map(|up| {
        while to.next_if(|down| down.spine < up.spine).is_some() {}
        let down = to.peek().filter(|down| down.spine == up.spine)?;
        Some(up.up + down.down)
    });
    times.min()
}

impl Delays<'_> {
    /// The link that leaves a node by a port.
    pub fn link(&self, end: CableEnd) -> Link {
        let delay = self.topology.cable(end.node, end.port).delay;
        let peer = self.topology.neighbour(end.node, end.port).node;
        self.link_to(end, peer, delay)
    }

    /// The same of a link with a propagation delay that leads to another node.
    pub fn link_to(&self, from: CableEnd, peer: NodeId, delay: Time) -> Link {
        let leave = if self.topology.is_host(from.node) {
            self.nic.transmit_latency
        } else {
            self.switches.of(self.topology, from.node).egress_latency
        };
        let enter = if self.topology.is_host(peer) {
            self.nic.receive_latency
        } else {
            self.switches.of(self.topology, peer).ingress_latency
        };
        let rate = self.topology.cable(from.node, from.port).rate;
        Link {
            rate,
            latency: leave + delay + enter,
            stores: self.arrives_whole_at(peer, rate),
        }
    }

    /// All links that may begin at a port: one, and those of every circuit that an optical switch
    /// may give it.
    pub fn possible_links(&self, from: CableEnd) -> impl Iterator<Item = Link> + '_ {
        let possible = self.topology.optics.possible(from);
        let circuits = possible.map(move |(peer, delay)| self.link_to(from, peer.node, delay));
        std::iter::once(self.link(from)).chain(circuits)
    }

    /// Whether frames of this rate arrive whole at a node.
    pub fn arrives_whole_at(&self, peer: NodeId, rate: Rate) -> bool {
        self.topology.is_host(peer) || self.switches.take_whole(self.topology, peer, rate)
    }

    /// What bytes take at a port of a node that sends at a rate, by the node's clock.
    pub fn serialisation(&self, node: NodeId, rate: Rate) -> SerialisationTime {
        rate.serialisation(self.clock_offset_ppm(node))
    }

    /// Hosts' clocks are off by a random amount; switches' are the standard the others are measured
    /// by.
    fn clock_offset_ppm(&self, node: NodeId) -> i32 {
        let most = self.nic.clock_offset_max_ppm;
        if most == 0 || !self.topology.is_host(node) {
            return 0;
        }
        let name = self.topology.name(node);
        let drawn = Stream::new(self.seed, name, "clock-offset").below(u64::from(2 * most + 1));
        (drawn as u32).cast_signed() - most.cast_signed()
    }

    /// From the end of a pause frame or flow-control packet, sent through a port, to the instant of
    /// its effect at the other end, which it takes so long to.
    pub fn effect(&self, from: CableEnd, delay: Time) -> Time {
        let pause = || {
            let rate = self.topology.cable(from.node, from.port).rate;
            let to = self.topology.neighbour(from.node, from.port).node;
            let of_switches = self.switches.pause_response;
            let response = if self.topology.is_host(to) {
                self.nic.pause_response(of_switches)
            } else {
                of_switches
            };
            response.time(rate)
        };
        delay + self.credit.map_or_else(pause, |spec| spec.delay)
    }

    /// Whether any node of the fabric may send control frames or flow-control packets; `signals`
    /// says whether switches send congestion signals.
    pub fn may_send_control(&self, signals: bool) -> bool {
        let lossless = self.switches.any_class(|class| class.lossless.is_some());
        let nic = self.nic.receive_buffer.as_ref();
        let notices = self.switches.usual.load_balancing.sends_notices();
        self.credit.is_some()
            || signals
            || notices
            || lossless
            || nic.is_some_and(|nic| nic.xoff.is_some())
    }

    /// The leaves of a scheduled fabric in kinds.
    pub fn leaf_kinds(&self, leaves: &[NodeId]) -> LeafKinds {
        let mut kinds = LeafKinds::default();
        // Only looked up, never iterated.
        let mut known: HashMap<Vec<SpineWay>, u32> = HashMap::new();
        for &leaf in leaves {
            let kind = *known
                .entry(self.spine_ways(leaf))
                .or_insert_with_key(|ways| {
                    kinds.ways.push(ways.clone());
                    kinds.ways.len() as u32 - 1
                });
            kinds.of_leaf.push(kind);
        }
        kinds
    }

    /// The fastest way from a leaf to each of its spines, and back, in the order of the spines.
    fn spine_ways(&self, leaf: NodeId) -> Vec<SpineWay> {
        let mut ways: Vec<SpineWay> = Vec::new();
        for end in self.ports(leaf) {
            let back = self.topology.neighbour(leaf, end.port);
            if self.topology.is_host(back.node) {
                continue;
            }
            let (up, down) = (self.link(end).latency.ps(), self.link(back).latency.ps());
            // Ports are in the order of the switches behind them.
            match ways.last_mut() {
                Some(way) if way.spine == back.node => {
                    (way.up, way.down) = (way.up.min(up), way.down.min(down));
                }
                _ => ways.push(SpineWay {
                    spine: back.node,
                    up,
                    down,
                }),
            }
        }
        ways
    }

    /// The ports of a node.
    fn ports(&self, node: NodeId) -> impl Iterator<Item = CableEnd> + use<> {
        let ports = 0..self.topology.ports(node);
        ports.map(move |port| CableEnd { node, port })
    }

    /// The ports of all nodes.
    pub(crate) fn all_ports(&self) -> impl Iterator<Item = CableEnd> + '_ {
        self.topology.node_ids().flat_map(|node| self.ports(node))
    }
}
