//! Link delays: from the start of a frame at one end to the event list at the other, and from a
//! pause or a credit to its effect.

use std::collections::HashMap;

use tenter_endpoint::NicSpec;
use tenter_engine::Stream;
use tenter_fabric::net::{CreditSpec, Switches};
use tenter_fabric::topology::{CableEnd, NodeId, Topology};
use tenter_language::units::{Rate, SerialisationTime, Time};

/// A link as the models see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// Line rate of the link.
    pub rate: Rate,
    /// The sum of the sender's egress latency, the cable delay and the receiver's ingress latency.
    pub latency: Time,
    /// True if the receiver takes frames whole (store-and-forward), which adds the time on the
    /// wire.
    pub stores: bool,
}

/// The parts of a plan that determine link delays.
#[derive(Clone, Copy, Debug)]
pub struct Delays<'p> {
    /// The fabric as a graph.
    pub topology: &'p Topology,
    /// The switch models, by tier.
    pub switches: &'p Switches,
    /// The NIC model, one for all hosts.
    pub nic: &'p NicSpec,
    /// Credit-based flow control, if the fabric uses it: its delay replaces the pause response.
    pub credit: Option<&'p CreditSpec>,
    /// Seed from which the NICs' clock offsets are drawn.
    pub seed: u64,
}

/// A scheduled fabric's leaves, grouped into kinds: leaves of one kind have paths with the same
/// delays to and from the same spines. Most fabrics have one kind, so computations for pairs of
/// kinds do not grow with the square of the leaf count.
#[derive(Debug, Default)]
pub(crate) struct LeafKinds {
    /// Each leaf's kind, as an index into `ways`.
    of_leaf: Vec<u32>,
    /// Each kind's paths, in the order of the spines.
    ways: Vec<Vec<SpineWay>>,
}

/// Time for a cell's head on the fastest link from a leaf to a spine, and on the fastest one back,
/// in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SpineWay {
    spine: NodeId,
    up: u64,
    down: u64,
}

impl LeafKinds {
    /// Returns a message's time from `leaf` to each leaf, in ps: that of a cell's head on the
    /// fastest path. `None` for the leaf itself, and for leaves without a common spine.
    pub(crate) fn times_from(&self, leaf: usize) -> Vec<Option<u64>> {
        let from = &self.ways[self.of_leaf[leaf] as usize];
        let to_kinds: Vec<Option<u64>> = self.ways.iter().map(|to| fastest(from, to)).collect();
        let kinds = self.of_leaf.iter().enumerate();
        let times = kinds.map(|(to, &kind)| to_kinds[kind as usize].filter(|_| to != leaf));
        times.collect()
    }

    /// Returns the shortest and the longest time that a message takes between two leaves, in ps.
    pub(crate) fn bounds(&self) -> Option<(u64, u64)> {
        let mut leaves = vec![0_u32; self.ways.len()];
        for &kind in &self.of_leaf {
            leaves[kind as usize] += 1;
        }
        let kinds = || self.ways.iter().enumerate();
        let times = kinds().flat_map(|(one, from)| {
            let leaves = &leaves;
            // A kind counts towards itself only if a second leaf has it.
            let others = kinds().filter(move |&(other, _)| one != other || leaves[one] > 1);
            others.filter_map(move |(_, to)| fastest(from, to))
        });
        times.fold(None, |bounds, time| {
            let (least, most) = bounds.unwrap_or((time, time));
            Some((time.min(least), time.max(most)))
        })
    }
}

/// Returns the time from one leaf to another over the fastest common spine, in ps.
fn fastest(from: &[SpineWay], to: &[SpineWay]) -> Option<u64> {
    // Both lists are sorted by spine, so one pass merges them.
    let mut to = to.iter().peekable();
    let times = from.iter().filter_map(|up| {
        while to.next_if(|down| down.spine < up.spine).is_some() {}
        let down = to.peek().filter(|down| down.spine == up.spine)?;
        Some(up.up + down.down)
    });
    times.min()
}

impl Delays<'_> {
    /// Returns the link that starts at port `end`.
    pub(crate) fn link(&self, end: CableEnd) -> Link {
        let delay = self.topology.cable(end.node, end.port).delay;
        let peer = self.topology.neighbour(end.node, end.port).node;
        self.link_to(end, peer, delay)
    }

    /// Returns the link that starts at port `from`, if it led to `peer` over a cable with `delay`.
    pub(crate) fn link_to(&self, from: CableEnd, peer: NodeId, delay: Time) -> Link {
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
        // Another circuit gives a port another peer, but no other rate.
        let rate = self.topology.cable(from.node, from.port).rate;
        Link {
            rate,
            latency: leave + delay + enter,
            stores: self.arrives_whole_at(peer, rate),
        }
    }

    /// Returns all links that may start at a port: the present one, and one for each circuit that
    /// an optical switch can set there.
    pub(crate) fn possible_links(&self, from: CableEnd) -> impl Iterator<Item = Link> + '_ {
        let possible = self.topology.optics.possible(from);
        let circuits = possible.map(move |(peer, delay)| self.link_to(from, peer.node, delay));
        std::iter::once(self.link(from)).chain(circuits)
    }

    /// Returns true if frames at `rate` arrive at `peer` whole, as at hosts and store-and-forward
    /// switches.
    pub(crate) fn arrives_whole_at(&self, peer: NodeId, rate: Rate) -> bool {
        self.topology.is_host(peer) || self.switches.take_whole(self.topology, peer, rate)
    }

    /// Returns the time per byte at a port of `node` with line rate `rate`, by the node's clock.
    pub(crate) fn serialisation(&self, node: NodeId, rate: Rate) -> SerialisationTime {
        rate.serialisation(self.clock_offset_ppm(node))
    }

    /// Returns a node's clock offset. Hosts have random offsets; switches have none, and are the
    /// reference for the others.
    fn clock_offset_ppm(&self, node: NodeId) -> i32 {
        let most = self.nic.clock_offset_max_ppm;
        if most == 0 || !self.topology.is_host(node) {
            return 0;
        }
        // Drawn by name: adding a host leaves the other hosts' offsets as they are.
        let name = self.topology.name(node);
        let drawn = Stream::new(self.seed, name, "clock-offset").below(u64::from(2 * most + 1));
        // From −`most` to +`most`, both included.
        (drawn as u32).cast_signed() - most.cast_signed()
    }

    /// Returns the time from the end of a pause frame or flow-control packet that is sent through
    /// `from` to its effect at the other end; `delay` is the cable's.
    pub(crate) fn effect(&self, from: CableEnd, delay: Time) -> Time {
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

    /// Returns true if any node may send control frames or flow-control packets. `signals` is true
    /// if switches send congestion signals.
    pub(crate) fn may_send_control(&self, signals: bool) -> bool {
        let lossless = self.switches.any_class(|class| class.lossless.is_some());
        let nic = self.nic.receive_buffer.as_ref();
        let notices = self.switches.usual.load_balancing.sends_notices();
        self.credit.is_some()
            || signals
            || notices
            || lossless
            // A NIC sends pauses only if its receive buffer has a threshold for them.
            || nic.is_some_and(|nic| nic.xoff.is_some())
    }

    /// Groups the leaves of a scheduled fabric into kinds.
    pub(crate) fn leaf_kinds(&self, leaves: &[NodeId]) -> LeafKinds {
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

    /// Returns the fastest path from a leaf to each of its spines and back, in the order of the
    /// spines.
    fn spine_ways(&self, leaf: NodeId) -> Vec<SpineWay> {
        let mut ways: Vec<SpineWay> = Vec::new();
        for end in self.ports(leaf) {
            let back = self.topology.neighbour(leaf, end.port);
            if self.topology.is_host(back.node) {
                continue;
            }
            let (up, down) = (self.link(end).latency.ps(), self.link(back).latency.ps());
            // Ports are in the order of the switches behind them, so parallel links follow each
            // other.
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

    /// Returns the ports of a node.
    fn ports(&self, node: NodeId) -> impl Iterator<Item = CableEnd> + use<> {
        let ports = 0..self.topology.ports(node);
        ports.map(move |port| CableEnd { node, port })
    }

    /// Returns the ports of all nodes.
    pub(crate) fn all_ports(&self) -> impl Iterator<Item = CableEnd> + '_ {
        self.topology.node_ids().flat_map(|node| self.ports(node))
    }
}
