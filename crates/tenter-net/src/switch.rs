//! A switch: route, choose, queue.

use tenter_topology::Routing;

use crate::load_balancing::LoadBalancing;
use crate::medium::{Event, EventKind, Medium};
use crate::packet::Packet;
use crate::port::Port;

/// An output-queued switch.
#[derive(Clone, Debug)]
pub struct Switch {
    node: u32,
    /// Its number among the switches.
    index: u32,
    /// Makes its load balancing differ from other switches'.
    seed: u32,
    load_balancing: LoadBalancing,
    ports: Vec<Port>,
    /// Frames and frame bytes that arrived, per port.
    received: Vec<(u64, u64)>,
    /// Ports whose queue may hold something.
    active: Vec<u64>,
}

impl Switch {
    /// The switch at `node` of the topology, number `index` among the switches, with its ports in
    /// order.
    pub fn new(
        node: u32,
        index: u32,
        seed: u32,
        load_balancing: LoadBalancing,
        ports: Vec<Port>,
    ) -> Switch {
        let received = vec![(0, 0); ports.len()];
        let active = vec![0; ports.len().div_ceil(64)];
        Switch {
            node,
            index,
            seed,
            load_balancing,
            ports,
            received,
            active,
        }
    }

    /// The node of the topology it is.
    pub fn node(&self) -> u32 {
        self.node
    }

    /// Its ports, in order.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Frames and frame bytes that arrived through a port.
    pub fn received(&self, port: u16) -> (u64, u64) {
        self.received[usize::from(port)]
    }

    /// Reads what a visit is about to need of deep queues. The reads do not wait for each other, as
    /// the departures of one port after the other would.
    #[inline]
    pub fn touch(&self) {
        let mut seen = 0;
        for (index, &word) in self.active.iter().enumerate() {
            let mut ports = word;
            while ports != 0 {
                seen ^= self.ports[index * 64 + ports.trailing_zeros() as usize].touch();
                ports &= ports - 1;
            }
        }
        std::hint::black_box(seen);
    }

    /// Takes a packet that arrives through `input` at `packet.at`; returns the port it was offered
    /// to.
    #[inline]
    pub fn arrive<M: Medium>(
        &mut self,
        packet: Packet,
        input: u16,
        routing: &Routing,
        medium: &mut M,
    ) -> u16 {
        let now = packet.at;
        let received = &mut self.received[usize::from(input)];
        received.0 += 1;
        received.1 += u64::from(packet.frame_bytes);
        if M::WATCHED {
            let kind = EventKind::Arrived;
            medium.note(Event {
                at: now,
                node: self.node,
                port: input,
                kind,
                packet,
            });
        }
        let candidates = routing.candidates(self.index, packet.destination);
        let chosen = self
            .load_balancing
            .choose(packet.hash, self.seed, candidates.len());
        let port = candidates[chosen];
        self.ports[usize::from(port)].offer(packet, now, medium);
        self.active[usize::from(port) / 64] |= 1 << (port % 64);
        port
    }

    /// Starts every waiting frame whose turn comes before `end`; returns when the next one starts,
    /// if any waits.
    #[inline]
    pub fn advance_to(&mut self, end: u64, medium: &mut impl Medium) -> Option<u64> {
        let mut next = None;
        for (index, word) in self.active.iter_mut().enumerate() {
            let mut ports = *word;
            while ports != 0 {
                let bit = ports & ports.wrapping_neg();
                ports ^= bit;
                let port = &mut self.ports[index * 64 + bit.trailing_zeros() as usize];
                port.advance(end - 1, medium);
                match port.next_departure() {
                    None => *word &= !bit,
                    Some(departure) => {
                        next = Some(next.map_or(departure, |next: u64| next.min(departure)));
                    }
                }
            }
        }
        next
    }

    /// Starts the waiting frames of one port up to and including `now` (for an engine with explicit
    /// departures).
    pub fn advance_port(&mut self, port: u16, now: u64, medium: &mut impl Medium) {
        self.ports[usize::from(port)].advance(now, medium);
    }
}
