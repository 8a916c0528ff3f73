//! The packets that change nothing but counts: most of them, where messages are long.

use tenter_net::{EventKind, Medium, Packet, PacketKind};

use super::Nic;
use crate::receive::latency;
use crate::spec::NicSpec;

impl Nic {
    /// Takes a data packet that is the next one expected and asks for nothing, or an
    /// acknowledgement that neither finishes a request nor changes whose turn it is: they change
    /// neither when the NIC next sends nor when a timer fires. If it is no such packet nothing
    /// happens; says whether it is.
    // Once a packet; a call costs a quarter of it.
    #[inline(always)]
    pub fn receive_fast<M: Medium>(
        &mut self,
        spec: &NicSpec,
        packet: &Packet,
        medium: &mut M,
    ) -> bool {
        const ASKS: u8 =
            Packet::ACK_REQUEST | Packet::END_OF_TRANSFER | Packet::CONGESTION_EXPERIENCED;
        if !self.is_plain || packet.flags & ASKS != 0 {
            return false;
        }
        if packet.kind.is_data() {
            let queue_pair = &mut self.receive[packet.queue_pair as usize];
            if !queue_pair.expects(packet) {
                return false;
            }
            queue_pair.accept(packet.frame_bytes, latency(packet));
            self.counters.accept(packet);
        } else {
            if packet.kind != PacketKind::Ack || self.limits.is_some() {
                return false;
            }
            let queue_pair = &mut self.send[packet.queue_pair as usize];
            if !queue_pair.acknowledge_part(packet.sequence, packet.at, spec.window_packets) {
                return false;
            }
        }
        self.counters.receive(packet);
        self.note(EventKind::Accepted, packet, medium);
        true
    }
}
