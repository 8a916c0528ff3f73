//! How long links take: from the start of a frame at one end to the event list at the other, and
//! from a pause or a credit to its effect.

use tenter_endpoint::NicSpec;
use tenter_engine::Stream;
use tenter_net::{CreditSpec, Switches};
use tenter_topology::{CableEnd, NodeId, Topology};
use tenter_units::{ById, Rate, SerialisationTime, Time};

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
            self.switches.response_time(rate)
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

    /// How long the head of a cell takes from a leaf to each spine on the fastest way, in ps, by
    /// node; `u64::MAX` where none leads there.
    pub fn fastest_up(&self, from: NodeId) -> ById<NodeId, u64> {
        let mut times: ById<NodeId, u64> = vec![u64::MAX; self.topology.nodes.len()].into();
        for end in self.ports(from) {
            let spine = self.topology.neighbour(end.node, end.port).node;
            if !self.topology.is_host(spine) {
                let time = &mut times[spine];
                *time = (*time).min(self.link(end).latency.ps());
            }
        }
        times
    }

    /// How long a message takes from one leaf of a scheduled fabric, with its ways up, to another,
    /// in ps: as long as the head of a cell on the fastest way; `None` to itself.
    pub fn between_leaves(&self, from: NodeId, up: &ById<NodeId, u64>, to: NodeId) -> Option<u64> {
        let ends = self.ports(to);
        let ends = ends.map(|end| self.topology.neighbour(end.node, end.port));
        let ways = ends.filter(|end| from != to && up[end.node] < u64::MAX);
        let times = ways.map(|end| up[end.node] + self.link(end).latency.ps());
        times.min()
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
