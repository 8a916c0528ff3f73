//! Transfers within hosts, which travel through a scale-up domain and not the fabric.

use tenter_engine::{LocalNode, Output};
use tenter_fabric::net::{Event, Medium, Packet};
use tenter_language::units::Instant;

use super::instants::{Happens, Instants};

/// Packets that end transfers within hosts, on their way through a domain. `free` holds reusable
/// slots.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    pub(super) packets: Vec<(LocalNode, Packet)>,
    pub(super) free: Vec<u32>,
}

/// Takes what hosts send past their NICs, through their scale-up domains.
pub(super) struct Domains<'a> {
    pub(super) instants: &'a mut Instants,
    pub(super) under_way: &'a mut UnderWay,
}

impl Medium for Domains<'_> {
    const WATCHED: bool = false;

    fn send(&mut self, output: Output, at: Instant, packet: &Packet) {
        let sent = (output.node, Packet { at, ..*packet });
        let UnderWay { packets, free } = self.under_way;
        let place = if let Some(place) = free.pop() {
            packets[place as usize] = sent;
            place
        } else {
            packets.push(sent);
            packets.len() as u32 - 1
        };
        self.instants.add(at, Happens::Carried(place));
    }

    fn note(&mut self, _: Event) {}
}
