//! A port of an input-queued switch: its queues list the frames that are to leave through it, and
//! the crossbar decides which one leaves, and when.

use tenter_language::units::Instant;

use crate::net::buffer::{SharedBuffer, Storage};
use crate::net::medium::Medium;
use crate::net::packet::Packet;
use crate::net::port::{Port, PortEnv};

impl Port {
    /// Leaves a stored frame to the crossbar: the port does not send it on its own.
    pub(crate) fn leave_to_crossbar(&mut self, queue: usize) {
        self.waiting &= !(1 << queue);
    }

    /// Returns the earliest start of a queue's frame; [`Instant::NEVER`] if another event must come
    /// first.
    pub(crate) fn free_from(&self, queue: usize) -> Instant {
        let paused = self.queues[queue].paused_until;
        self.transmitter.free_at().max(paused)
    }

    /// Sends a queue's first frame from `input` at `now`; returns the end of the frame on the wire.
    pub(crate) fn send_from(
        &mut self,
        input: u16,
        number: usize,
        now: Instant,
        around: &mut PortEnv<'_, SharedBuffer>,
        medium: &mut impl Medium,
    ) -> Instant {
        let queue = &mut self.queues[number];
        let before = queue.bytes;
        let Some(mut packet) = queue.take_first_from(input) else {
            debug_assert!(false, "the crossbar has granted a frame that is not there");
            return now;
        };
        let frame = u64::from(packet.frame_bytes);
        let late = self.marking_late & (1 << number) != 0;
        let left = before - frame;
        if late && around.rules.marks(&packet, number, left, &self.transmitter) {
            packet.flags |= Packet::CONGESTION_EXPERIENCED;
            queue.counters.marked_frames += 1;
        }
        self.bytes -= frame;
        self.transmitter
            .transmit_queued(&packet, now, before - frame, medium);
        if around.buffer.is_booked(number) {
            // The queue's bytes no longer include the frame.
            let left = self.queued_frame(input, number, &packet);
            around.buffer.release_seldom(left, now);
        }
        let until = self.transmitter.free_at();
        debug_assert!(until < Instant::NEVER, "a dark port has sent");
        until
    }
}
