//! The data packets that change nothing but counts: most of them, where messages are long.

use tenter_net::{EventKind, Medium, Packet};

use super::Nic;
use crate::receive::latency;

impl Nic {
    /// Takes a data packet that is the next one expected and asks for nothing: it changes neither
    /// when the NIC next sends nor when a timer fires. If it is no such packet nothing happens;
    /// says whether it is.
    // Once a packet; a call costs a quarter of it.
    #[inline(always)]
    pub fn take_quietly<M: Medium>(&mut self, packet: &Packet, medium: &mut M) -> bool {
        const ASKS: u8 =
            Packet::ACK_REQUEST | Packet::END_OF_TRANSFER | Packet::CONGESTION_EXPERIENCED;
        if !self.is_plain || !packet.kind.is_data() || packet.flags & ASKS != 0 {
            return false;
        }
        let queue_pair = &mut self.receive[packet.queue_pair as usize];
        if !queue_pair.expects(packet) {
            return false;
        }
        queue_pair.accept(packet.frame_bytes, latency(packet));
        self.counters.receive(packet);
        self.counters.accept(packet);
        self.note(EventKind::Accepted, packet, medium);
        true
    }
}
