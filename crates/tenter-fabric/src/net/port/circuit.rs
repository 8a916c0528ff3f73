//! A port on an optical circuit: it stops before the light goes, and later sends to another peer.

use tenter_language::units::Instant;

use crate::net::buffer::{SharedBuffer, Storage};
use crate::net::medium::{EventKind, Medium};
use crate::net::packet::Packet;
use crate::net::port::{Port, PortEnv};
use crate::net::transmitter::WireLosses;

impl Port {
    /// Starts no more frames; those that wait and those that come stay in their queues.
    pub(crate) fn hold(&mut self) {
        self.transmitter.hold();
    }

    /// Returns the number of frames in a queue.
    pub(crate) fn frames_in(&self, queue: usize) -> usize {
        self.queues[queue].iter().count()
    }

    /// Takes the first frame out of a queue at `now`, up to which the port was advanced, to be
    /// routed anew.
    pub(crate) fn take_back(
        &mut self,
        number: usize,
        now: Instant,
        around: &mut PortEnv<'_, SharedBuffer>,
        medium: &mut impl Medium,
    ) -> Option<Packet> {
        let queue = &mut self.queues[number];
        let packet = *queue.front()?;
        let frame = u64::from(packet.frame_bytes);
        queue.remove_front(frame);
        if queue.is_empty() {
            self.waiting &= !(1 << number);
        }
        self.bytes -= frame;
        let left = self.queued_frame(packet.stored_from(), number, &packet);
        around.buffer.release_seldom(left, now);
        self.transmitter
            .note(EventKind::Rerouted, now, &packet, medium);
        Some(packet)
    }

    /// Handles the end of the light at `now` at a held port: the frames `under_way` are lost, and
    /// the other end's pauses are forgotten.
    pub(crate) fn darken(&mut self, now: Instant, under_way: WireLosses) {
        self.transmitter.lose_under_way(under_way);
        for number in 0..self.queues.len() {
            self.restore(number);
            let queue = &mut self.queues[number];
            queue.pause.forget(now, queue.paused_until);
            queue.paused_until = now;
        }
        // Frames wait for the next peer rather than being lost.
        self.closed = 0;
    }
}
