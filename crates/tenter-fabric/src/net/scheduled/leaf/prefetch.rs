//! Prefetching of the data that a leaf is about to need.
//!
//! A leaf of a big fabric has a queue and an assembly for each port of the fabric. The parts that
//! one arrival needs were last used some windows ago, and have left the cache since; so each
//! arrival would wait for the memory several times, one after the other. Instead the memory is
//! requested while earlier arrivals are served.

use std::ops::Range;

use crate::topology::Routing;
use tenter_engine::{EventList, prefetch_at};

use super::{BLOCK, Leaf, Source, VoqLeaf};
use crate::net::medium::Medium;
use crate::net::packet::{Cell, Packet, PacketKind};

/// Number of queues from which a leaf's memory leaves the cache. Tests prefetch for any number.
const MANY_QUEUES: usize = if cfg!(debug_assertions) { 1 } else { 512 };

/// Part of a leaf that an arrival needs.
#[derive(Clone, Copy)]
enum About {
    /// A packet for the virtual output queue with this number.
    Packet(usize),
    /// Credit for a virtual output queue, and the leaf to which its packets go.
    Credit(usize, u16),
    /// A request: its port, its source leaf, and its class.
    Request(u16, u16, usize),
    /// An announced packet, for this assembly.
    Announced(usize),
    /// A cell for an assembly, and the packet's port.
    Cell(usize, u16),
    /// A pause frame, or a cell on a detour.
    Other,
}

impl Leaf {
    /// Returns true if prefetching pays off.
    #[inline]
    pub(super) fn is_large(&self) -> bool {
        self.voqs.len() >= MANY_QUEUES
    }
}

impl VoqLeaf {
    /// Prefetches for arrivals up to three blocks beyond the first `served` ones.
    #[inline(never)]
    pub(super) fn prefetch_ahead<M: Medium>(
        &self,
        arrivals: &EventList<Packet>,
        served: usize,
        routing: &Routing,
        medium: &M,
    ) {
        let all = arrivals.len();
        let range = |from: usize, to: usize| {
            (served + from * BLOCK).min(all)..(served + to * BLOCK).min(all)
        };
        let schedulers = || self.leaf.credits[..self.leaf.host_ports].iter().flatten();
        if served == 0 {
            for credits in schedulers() {
                credits.prefetch_turns();
            }
            self.prefetch_first(arrivals, range(0, 2));
            self.prefetch_second(arrivals, range(0, 1), routing, medium);
        }
        // Each step reads pointers that the one before it has fetched, a block of arrivals earlier.
        self.prefetch_third(arrivals, range(0, 1), medium);
        self.prefetch_second(arrivals, range(1, 2), routing, medium);
        self.prefetch_first(arrivals, range(2, 3));
        if served == 0 {
            for credits in schedulers() {
                credits.prefetch_next();
            }
        }
    }

    /// Prefetches the parts that lead to other memory.
    fn prefetch_first(&self, arrivals: &EventList<Packet>, places: Range<usize>) {
        let leaf = &self.leaf;
        for place in places {
            let (packet, input) = arrivals.get(place);
            if usize::from(input) < self.chassis.received.len() {
                prefetch_at(&self.chassis.received, usize::from(input));
            }
            match self.about(packet, input) {
                About::Packet(queue) | About::Credit(queue, _) => prefetch_at(&leaf.voqs, queue),
                About::Announced(place) => prefetch_at(&leaf.assemblies, place),
                About::Cell(place, port) => {
                    prefetch_at(&leaf.assemblies, place);
                    let port = &self.chassis.ports[usize::from(port)];
                    port.prefetch();
                    port.prefetch_queues();
                }
                About::Request(port, from, class) => {
                    self.chassis.ports[usize::from(port)].prefetch();
                    prefetch_at(&leaf.credits, usize::from(port));
                    if let Some(credits) = leaf.credits[usize::from(port)].as_ref() {
                        credits.prefetch(from, class);
                    }
                }
                About::Other => {}
            }
        }
    }

    /// Prefetches the places to which packets go when their cells are complete.
    fn prefetch_third<M: Medium>(
        &self,
        arrivals: &EventList<Packet>,
        places: Range<usize>,
        medium: &M,
    ) {
        for place in places {
            let (packet, input) = arrivals.get(place);
            if let About::Cell(_, port) = self.about(packet, input) {
                let port = &self.chassis.ports[usize::from(port)];
                port.transmitter().prefetch_room(packet.at, medium);
            }
        }
    }

    /// Prefetches the memory to which the parts fetched first lead.
    fn prefetch_second<M: Medium>(
        &self,
        arrivals: &EventList<Packet>,
        places: Range<usize>,
        routing: &Routing,
        medium: &M,
    ) {
        let leaf = &self.leaf;
        for place in places {
            let (packet, input) = arrivals.get(place);
            match self.about(packet, input) {
                About::Packet(queue) => leaf.voqs[queue].prefetch_back(&leaf.slots),
                About::Credit(queue, to) => {
                    // A credit sends from the front of its queue, over the link that is next in
                    // turn; `peek` does not take the turn.
                    let candidates = routing.candidates(self.chassis.index, packet.destination);
                    let next = leaf.spray.peek(usize::from(to), candidates.len());
                    if let Some(&port) = candidates.get(next) {
                        self.chassis.ports[usize::from(port)].prefetch();
                    }
                    leaf.voqs[queue].prefetch_front(&leaf.slots);
                    if let Some(peer) = leaf.wiring.peers[usize::from(to)] {
                        medium.prefetch_room(peer.output, packet.at + peer.latency);
                    }
                }
                About::Announced(place) => leaf.assemblies[place].prefetch_back(&leaf.slots),
                About::Cell(place, port) => {
                    leaf.assemblies[place].prefetch_front(&leaf.slots);
                    let port = &self.chassis.ports[usize::from(port)];
                    port.prefetch_frames();
                    port.transmitter().prefetch_way(packet.at, medium);
                }
                About::Request(..) | About::Other => {}
            }
        }
    }

    fn about(&self, packet: &Packet, input: u16) -> About {
        let ports = self.chassis.ports.len() as u16;
        let class = self.chassis.rules.queue(packet);
        let queue = packet.destination.index() * self.leaf.classes + class;
        let port = || self.leaf.wiring.places[packet.destination.index()].port;
        let is_cell = input < ports && !self.leaf.is_host_port(input);
        match packet.kind {
            // A cell on a detour may come to a leaf without such a port.
            _ if is_cell && !self.leaf.is_host_port(port()) => About::Other,
            _ if is_cell => {
                let from = Source {
                    leaf: Cell::of(packet).leaf,
                    class,
                };
                About::Cell(self.assembly(port(), from), port())
            }
            _ if input < ports => About::Packet(queue),
            _ if input < 2 * ports => About::Other,
            PacketKind::CreditRequest => About::Request(port(), input - 2 * ports, class),
            PacketKind::Credit => About::Credit(queue, input - 2 * ports),
            _ => {
                let leaf = input - 2 * ports;
                About::Announced(self.assembly(port(), Source { leaf, class }))
            }
        }
    }
}
