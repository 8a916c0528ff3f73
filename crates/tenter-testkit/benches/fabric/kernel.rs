//! The minimal FIFO model on the engine: what moving packets costs before anything is modelled.
//!
//! Output-queued ports whose departures are known on arrival (start = the later of arrival and the
//! end of the frame before), packets spread over the spines in rotation, hosts that send at line
//! rate to one other host each and answer nothing. No routing table, no counters, no drops, no
//! records. Hosts per leaf and spines are powers of two.

use tenter_engine::{
    Control, EventList, Lane, LaneBuilder, LaneLayout, LocalNode, Nodes, Output, Pace, Part,
    Stream, Visit, Windows, run_windowed,
};
use tenter_fabric::net::{Packet, PacketKind};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};

use crate::cases::Fabric;

/// Propagation of every link, which is the lookahead, in ps.
const LATENCY: Time = Time::from_ns(500);
/// A frame of 4,158 bytes and 20 bytes of preamble and gap at 400 Gb/s, in ps: 4,178 × 20.
const DURATION: Time = Time::from_ps(83_560);
const FRAME_BYTES: u16 = 4_158;
/// The longest a packet is under way from one node to the next, its wait for the wire included.
const FLIGHT: u64 = 4 * LATENCY.ps();

/// An output: when its wire is free, and where it leads.
#[derive(Clone, Copy, Debug)]
struct Wire {
    free: Instant,
    output: Output,
}

#[derive(Debug)]
struct Host {
    wire: Wire,
    destination: HostId,
    /// Packets still to send.
    left: u64,
    /// Which spine is next.
    turn: u32,
}

#[derive(Debug)]
enum Node {
    Host(Host),
    /// Wires down to its hosts, then up to the spines.
    Leaf {
        first_host: u32,
        wires: Vec<Wire>,
    },
    /// Wires to the leaves.
    Spine {
        wires: Vec<Wire>,
    },
}

/// The nodes, and what they have seen.
#[derive(Debug)]
pub(crate) struct Kernel {
    nodes: Vec<Node>,
    fabric: Fabric,
    hops: u64,
    digest: u64,
}

/// A kernel that is ready to run.
#[derive(Debug)]
pub(crate) struct Ready {
    part: Part<Kernel>,
}

/// Packets over links, and a sum over what arrived when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    pub(crate) hops: u64,
    pub(crate) digest: u64,
}

impl Ready {
    /// Every host has `packets` for its destination.
    pub(crate) fn new(fabric: Fabric, packets: u64) -> Ready {
        let (mut lane, nodes) = wire(fabric, packets);
        for (number, node) in LocalNode::first(nodes.len()).zip(&nodes) {
            if matches!(node, Node::Host(_)) {
                lane.wake(number, Instant::START);
            }
        }
        let nodes = Kernel {
            nodes,
            fabric,
            hops: 0,
            digest: 0,
        };
        Ready {
            part: Part { lane, nodes },
        }
    }

    /// Runs until everything has arrived.
    pub(crate) fn run(mut self) -> Moved {
        let parts = std::slice::from_mut(&mut self.part);
        run_windowed(
            parts,
            Instant::START,
            Instant::NEVER,
            Windows::Buckets,
            &NoEdges,
            &mut Pace::default(),
        );
        Moved {
            hops: self.part.nodes.hops,
            digest: self.part.nodes.digest,
        }
    }
}

struct NoEdges;

impl Control for NoEdges {
    fn edge_after(&self, _window_end: Instant) -> Instant {
        Instant::NEVER
    }
}

/// Each leaf followed by its hosts, then the spines.
fn wire(fabric: Fabric, packets: u64) -> (Lane<Packet>, Vec<Node>) {
    let (leaves, per_leaf, spines) = (fabric.leaves, fabric.hosts_per_leaf, fabric.spines);
    let mut builder = LaneBuilder::default();
    let (mut leaf_nodes, mut host_nodes) = (Vec::new(), Vec::new());
    for _ in 0..leaves {
        leaf_nodes.push(builder.add_node(per_leaf + spines));
        host_nodes.extend((0..per_leaf).map(|_| builder.add_node(1)));
    }
    let spine_nodes: Vec<LocalNode> = (0..spines).map(|_| builder.add_node(leaves)).collect();
    let destinations = derangement(fabric.hosts());
    let mut nodes = Vec::new();
    for (leaf, &leaf_node) in (0..leaves).zip(&leaf_nodes) {
        let first_host = u32::from(leaf) * u32::from(per_leaf);
        let hosts = first_host as usize..first_host as usize + usize::from(per_leaf);
        let down = host_nodes[hosts.clone()]
            .iter()
            .map(|&host| wire_to(host, 0));
        let up = spine_nodes.iter().map(|&spine| wire_to(spine, leaf));
        let wires = down.chain(up).collect();
        nodes.push(Node::Leaf { first_host, wires });
        for (port, host) in (0..per_leaf).zip(hosts) {
            nodes.push(Node::Host(Host {
                wire: wire_to(leaf_node, port),
                destination: HostId::new(destinations[host]),
                left: packets,
                turn: host as u32,
            }));
        }
    }
    for spine in 0..spines {
        let port = per_leaf + spine;
        let wires = leaf_nodes.iter().map(|&leaf| wire_to(leaf, port)).collect();
        nodes.push(Node::Spine { wires });
    }
    let layout = LaneLayout {
        parts: 1,
        bucket_ps: LATENCY.ps(),
        flight_ps: FLIGHT,
        central: false,
    };
    (builder.build(0, layout), nodes)
}

fn wire_to(node: LocalNode, input: u16) -> Wire {
    Wire {
        free: Instant::START,
        output: Output {
            part: 0,
            input,
            node,
        },
    }
}

/// For each host another one, no two the same: a random cycle through all (Sattolo's shuffle).
fn derangement(hosts: u32) -> Vec<u32> {
    let mut stream = Stream::new(1, "kernel", "destinations");
    let mut destinations: Vec<u32> = (0..hosts).collect();
    for last in (1..hosts).rev() {
        let other = stream.below(u64::from(last)) as usize;
        destinations.swap(last as usize, other);
    }
    destinations
}

impl Wire {
    #[inline]
    fn send(&mut self, packet: &Packet, visit: &mut Visit<'_, Packet>) {
        let start = self.free.max(packet.at);
        self.free = start + DURATION;
        visit.send(self.output, start + LATENCY, packet);
    }
}

impl Nodes for Kernel {
    type Item = Packet;

    fn visit(
        &mut self,
        node: LocalNode,
        arrivals: &EventList<Packet>,
        visit: &mut Visit<'_, Packet>,
    ) {
        let Fabric {
            hosts_per_leaf,
            spines,
            ..
        } = self.fabric;
        match &mut self.nodes[node.index()] {
            Node::Leaf { first_host, wires } => {
                let per_leaf = u32::from(hosts_per_leaf);
                for (packet, _) in arrivals.iter() {
                    self.hops += 1;
                    let below = packet.destination.number().wrapping_sub(*first_host);
                    let up = per_leaf + (packet.hash & (u32::from(spines) - 1));
                    let port = if below < per_leaf { below } else { up };
                    wires[port as usize].send(packet, visit);
                }
            }
            Node::Spine { wires } => {
                let bits = hosts_per_leaf.trailing_zeros();
                for (packet, _) in arrivals.iter() {
                    self.hops += 1;
                    wires[(packet.destination.number() >> bits) as usize].send(packet, visit);
                }
            }
            Node::Host(host) => {
                for (packet, _) in arrivals.iter() {
                    self.hops += 1;
                    let seen = packet.at.ps() ^ u64::from(packet.hash);
                    self.digest = self.digest.wrapping_add(seen);
                }
                host.send_in(visit);
            }
        }
    }
}

impl Host {
    /// Sends at line rate until the end of the window.
    fn send_in(&mut self, visit: &mut Visit<'_, Packet>) {
        let end = visit.end();
        while self.left > 0 && self.wire.free < end {
            self.left -= 1;
            self.turn = self.turn.wrapping_add(1);
            let packet = Packet {
                at: self.wire.free,
                queue_pair: 0,
                sequence: self.turn,
                destination: self.destination,
                hash: self.turn,
                sent: 0,
                frame_bytes: FRAME_BYTES,
                kind: PacketKind::Middle,
                flags: 0,
            };
            self.wire.send(&packet, visit);
        }
        if self.left > 0 {
            visit.wake(self.wire.free);
        }
    }
}
