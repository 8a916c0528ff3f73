//! Reading what a leaf is about to need.
//!
//! A leaf of a big fabric has a queue here and an assembly there for each port of the fabric. What
//! one arrival needs of them was last used some windows ago, and has left the cache since; so each
//! arrival would wait for the memory several times, one after the other. Reads that do not depend
//! on each other are under way together.

use std::ops::Range;

use tenter_engine::Agenda;
use tenter_topology::Routing;

use super::{AtWork, Leaf};
use crate::packet::{Packet, PacketKind};
use crate::scheduled::voq::Voq;

/// How many arrivals are looked at together.
const BLOCK: usize = 32;

/// What a leaf needs for fewer queues stays in the cache. Tests read ahead for any.
const MANY_QUEUES: usize = if cfg!(debug_assertions) { 1 } else { 512 };

/// What an arrival is about.
#[derive(Clone, Copy)]
enum About {
    /// A packet for a virtual output queue.
    Packet(usize),
    /// Credit for one, and the leaf it is for.
    Credit(usize, u16),
    /// A request: the port it is for, the leaf it is from, its class.
    Request(u16, u16, usize),
    /// A packet that was announced.
    Announced(usize),
    /// A cell of one, and the port it is for.
    Cell(usize, u16),
    /// A pause frame.
    Other,
}

impl Leaf {
    /// Up to which arrival to read ahead when everything before `place` was served: none where it
    /// is not worth it.
    #[inline]
    pub(super) fn read_until(&self, place: usize) -> usize {
        if self.voqs.len() < MANY_QUEUES {
            usize::MAX
        } else {
            place + BLOCK
        }
    }
}

impl AtWork<'_> {
    /// Reads what some of the arrivals need.
    #[inline(never)]
    pub(super) fn read_ahead(
        &self,
        arrivals: &Agenda<Packet>,
        places: Range<usize>,
        routing: &Routing,
    ) {
        let mut abouts = [About::Other; BLOCK];
        let mut seen = 0;
        for (about, place) in abouts.iter_mut().zip(places.clone()) {
            *about = self.about(arrivals.get(place));
            seen ^= self.first_read(*about);
        }
        // What is behind that can be read when it is there.
        for (&about, place) in abouts.iter().zip(places) {
            seen ^= self.second_read(about, arrivals.get(place).0, routing);
        }
        std::hint::black_box(seen);
    }

    fn about(&self, (packet, input): (&Packet, u16)) -> About {
        let ports = self.ports.len() as u16;
        let class = self.rules.queue(packet);
        let queue = packet.destination as usize * self.leaf.classes + class;
        let port = || self.leaf.wiring.places[packet.destination as usize].port;
        let is_cell = input < ports && !self.leaf.is_host_port(input);
        match packet.kind {
            _ if is_cell => {
                let from = (packet.queue_pair as u16, class);
                About::Cell(self.assembly(port(), from), port())
            }
            _ if input < ports => About::Packet(queue),
            _ if input < 2 * ports => About::Other,
            PacketKind::CreditRequest => About::Request(port(), input - 2 * ports, class),
            PacketKind::Credit => About::Credit(queue, input - 2 * ports),
            _ => About::Announced(self.assembly(port(), (input - 2 * ports, class))),
        }
    }

    fn first_read(&self, about: About) -> u64 {
        let leaf = &self.leaf;
        match about {
            About::Packet(queue) | About::Credit(queue, _) => {
                leaf.voqs.get(queue).map_or(0, Voq::bytes)
            }
            About::Announced(place) | About::Cell(place, _) => {
                let assembly = leaf.assemblies.get(place);
                assembly.map_or(0, |assembly| assembly.len() as u64)
            }
            About::Request(port, from, class) => {
                let credits = leaf.credits[usize::from(port)].as_ref();
                credits.map_or(0, |credits| credits.touch(from, class))
            }
            About::Other => 0,
        }
    }

    fn second_read(&self, about: About, packet: &Packet, routing: &Routing) -> u64 {
        let leaf = &self.leaf;
        match about {
            About::Credit(queue, to) => {
                let candidates = routing.candidates(self.index, packet.destination);
                let next = leaf.spray.peek(usize::from(to), candidates.len());
                let port = candidates.get(next).map_or(0, |&port| usize::from(port));
                let voq = leaf.voqs.get(queue);
                voq.map_or(0, |voq| voq.touch(&leaf.slots)) ^ self.ports[port].touch_wire()
            }
            About::Cell(place, port) => {
                let assembly = leaf.assemblies.get(place);
                let first = assembly.map_or(0, |assembly| assembly.touch(&leaf.slots));
                let port = self.ports.get(usize::from(port));
                first ^ port.map_or(0, |port| port.touch() ^ port.touch_wire())
            }
            About::Request(port, _, _) => self.ports[usize::from(port)].touch(),
            About::Packet(_) | About::Announced(_) | About::Other => 0,
        }
    }
}
