//! The links from the view of flow control, and the headroom behind each. Links that are alike are
//! evaluated once.

use std::collections::HashMap;

use tenter_endpoint::NicSpec;
use tenter_fabric::net::headroom::{PausedLink, Senders, incoming, into_host};
use tenter_fabric::net::{CLASSES, SwitchSpec, Switches};
use tenter_fabric::topology::{CableEnd, NodeId, Topology};
use tenter_language::units::ById;

/// A link with the headroom that its receiver keeps for it. Many links are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IncomingLink {
    /// The link, whose receiver may pause its sender.
    pub paused: PausedLink,
    /// The headroom for each traffic class in bytes; 0 for lossy classes, and at NICs.
    pub headroom: [u64; CLASSES],
}

/// The links into all ports of all nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The distinct links, each once.
    kinds: Vec<IncomingLink>,
    /// Distinct nodes: runs of ports whose links have one kind, as (port count, kind), in port
    /// order. Nodes that are alike share a row.
    rows: Vec<Vec<(u16, u32)>>,
    /// Each node's row, as an index into `rows`.
    of_node: ById<NodeId, u32>,
}

impl Links {
    /// Evaluates the links of a fabric in which all hosts have the NIC model `nic`.
    pub fn of(topology: &Topology, switches: &Switches, nic: &NicSpec) -> Links {
        let senders = Senders {
            frame_bytes: nic.longest_frame_bytes(),
            transmit_latency: nic.transmit_latency,
            fast_ppm: nic.clock_offset_max_ppm,
            pause_response: nic.pause_response(switches.pause_response),
        };
        let mut found = Found::default();
        for node in topology.node_ids() {
            if let Some(host) = topology.host(node) {
                let (latency, frame_bytes) = (nic.receive_latency, senders.frame_bytes);
                let ports = 0..topology.ports(node);
                found.add_node(ports.map(|port| IncomingLink {
                    paused: into_host(topology, switches, (host, port), latency, frame_bytes),
                    headroom: [0; CLASSES],
                }));
            } else {
                let model = switches.of(topology, node);
                let links = incoming(topology, switches, node, &senders);
                found.add_node(links.map(|paused| kept(model, paused)));
            }
        }
        found.links
    }

    /// Iterates over the links into the ports of `node`, in port order.
    pub fn incoming(&self, node: NodeId) -> impl Iterator<Item = &IncomingLink> {
        let row = &self.rows[self.of_node[node] as usize];
        row.iter().flat_map(|&(ports, kind)| {
            let kind = &self.kinds[kind as usize];
            std::iter::repeat_n(kind, usize::from(ports))
        })
    }

    /// Iterates over all links, each with the port that it enters; links into hosts come first.
    pub fn all(&self) -> impl Iterator<Item = (CableEnd, &IncomingLink)> {
        self.of_node.ids().flat_map(|node| {
            let links = (0..).zip(self.incoming(node));
            links.map(move |(port, link)| (CableEnd { node, port }, link))
        })
    }
}

/// Returns a link into a switch of model `model`, with its headroom.
fn kept(model: &SwitchSpec, paused: PausedLink) -> IncomingLink {
    let mut headroom = [0; CLASSES];
    for class in &model.classes {
        if let Some(lossless) = &class.lossless {
            headroom[usize::from(class.class)] = lossless.headroom.bytes(&paused);
        }
    }
    IncomingLink { paused, headroom }
}

/// Links while they are being collected.
#[derive(Default)]
struct Found {
    links: Links,
    // Both maps are only looked up, never iterated, so their order does not matter.
    kinds: HashMap<IncomingLink, u32>,
    rows: HashMap<Vec<(u16, u32)>, u32>,
}

impl Found {
    fn add_node(&mut self, incoming: impl IntoIterator<Item = IncomingLink>) {
        let mut row: Vec<(u16, u32)> = Vec::new();
        for link in incoming {
            // Most links are like the one before, and hashing takes longer than comparing.
            if let Some((ports, last)) = row.last_mut()
                && self.links.kinds[*last as usize] == link
            {
                *ports += 1;
                continue;
            }
            let kind = *self.kinds.entry(link).or_insert_with(|| {
                self.links.kinds.push(link);
                self.links.kinds.len() as u32 - 1
            });
            row.push((1, kind));
        }
        let rows = &mut self.links.rows;
        let number = *self.rows.entry(row).or_insert_with_key(|row| {
            rows.push(row.clone());
            rows.len() as u32 - 1
        });
        self.links.of_node.push(number);
    }
}
