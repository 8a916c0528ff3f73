//! A switch in a fabric that sends by credit.
//!
//! A frame is in the input buffer of its port and lane from its arrival until its first bit leaves,
//! wherever it waits meanwhile; what has become free goes back to the sender. As every departure
//! may do that, the switch carries them out in the order of time.

use crate::credit::LaneBuffer;
use crate::medium::{EventKind, Medium};
use crate::packet::{Packet, PacketKind};
use crate::switch::Switch;

impl Switch {
    /// The input buffer of a port and a queue, where senders go by credit.
    pub fn input_buffer(&self, port: u16, queue: usize) -> Option<&LaneBuffer> {
        self.buffer.input(port, queue)
    }

    /// Sends a frame that came through `input` through port `number`, or stores it: there is room.
    #[inline(never)]
    pub(super) fn offer_by_credit<M: Medium>(
        &mut self,
        packet: &Packet,
        (input, number): (u16, u16),
        medium: &mut M,
    ) {
        let now = packet.at;
        let queue = self.rules.queue(packet);
        self.buffer.take_in((input, queue), packet.frame_bytes);
        self.advance_port(number, now, medium);
        let port = &mut self.ports[usize::from(number)];
        if port.is_free(queue, now) && port.covers(queue, packet) {
            port.pass_by_credit(packet, queue, now, medium);
            self.buffer.give_back((input, queue), packet.frame_bytes);
        } else if port.is_closed(queue) {
            port.lose(packet, now, medium);
            self.buffer.give_back((input, queue), packet.frame_bytes);
        } else {
            port.store((packet, input, queue), &self.rules, medium);
            port.look(queue, now);
            self.active[usize::from(number) / 64] |= 1 << (number % 64);
        }
        if self.buffer.has_pending() {
            self.flush_control(now, medium);
        }
        self.enter_departure(number);
    }

    /// Goes by a flow-control packet that came through a port, or by word of a lost frame.
    pub(super) fn on_credit<M: Medium>(&mut self, packet: &Packet, number: u16, medium: &mut M) {
        let now = packet.at;
        self.note(EventKind::Obeyed, packet, number, medium);
        self.advance_port(number, now, medium);
        let queue = self.rules.queue(packet);
        if packet.kind == PacketKind::LostCredit {
            self.buffer.adjust_credit((number, queue), packet.sequence);
            self.flush_control(now, medium);
        } else {
            self.ports[usize::from(number)].hear(queue, packet.sequence, now);
        }
        self.enter_departure(number);
    }
}
