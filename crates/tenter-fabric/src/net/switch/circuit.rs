//! A switch with links that are circuits of optical switches.
//!
//! A port whose circuit will change is first *held*: it starts no more frames, and those that wait
//! are routed anew. The port is *darkened* when the last frame has arrived. Later it is *joined*
//! with another port. Pauses by this switch stay in force while the port is dark, because the
//! frames that caused them may still be in its buffer; the new peer is sent these pauses before it
//! may send frames.

use crate::topology::Routing;
use tenter_language::units::{Instant, Time};

use crate::net::buffer::{Buffer, Place, SharedBuffer};
use crate::net::medium::Medium;
use crate::net::switch::queued::{QueuedSwitch, Queueing};
use crate::net::transmitter::FarEnd;

impl<Q> QueuedSwitch<SharedBuffer, Q>
where
    QueuedSwitch<SharedBuffer, Q>: Queueing,
{
    /// Routes anew the frames that wait at a held port. They stay there if no other path leads to
    /// their hosts.
    ///
    /// Frames are taken out and put in again one by one, so that a frame of a lossless class finds
    /// the room that it left. Senders resume only at the end: a sender that resumed and paused
    /// again for each frame would overrun its headroom.
    pub(super) fn reroute<M: Medium>(
        &mut self,
        number: u16,
        routing: &Routing,
        now: Instant,
        medium: &mut M,
    ) {
        self.buffer.hold_back();
        for queue in 0..self.chassis.class_of.len() {
            // Counted first: a frame without another path comes back to the end of this queue.
            for _ in 0..self.chassis.ports[usize::from(number)].frames_in(queue) {
                let mut around = self.chassis.rules.around(&mut self.buffer);
                let port = &mut self.chassis.ports[usize::from(number)];
                let Some(mut packet) = port.take_back(queue, now, &mut around, medium) else {
                    break;
                };
                let input = packet.stored_from();
                self.frame_taken(Place {
                    input,
                    output: number,
                    queue,
                });
                packet.at = now;
                let chosen = self.port_of(&packet, routing);
                self.offer(&packet, input, chosen, medium);
            }
        }
        self.buffer.stop_holding_back(now);
        self.settle(now, medium);
    }

    /// Joins a dark port with the peer `far` from `now` on. The pauses in force are sent first, and
    /// frames start `guard` later, when the peer's own pauses have taken effect.
    pub(super) fn join<M: Medium>(
        &mut self,
        number: u16,
        far: &FarEnd,
        guard: Time,
        now: Instant,
        medium: &mut M,
    ) {
        let port = &mut self.chassis.ports[usize::from(number)];
        port.transmitter_mut().lead_to(far);
        port.link_up(now);
        self.buffer.repeat_pauses(number, now);
        // Pauses go before any frame, which would delay them.
        while let Some(control) = self.buffer.take_pending() {
            self.chassis.send_pending(control, now, medium);
        }
        let port = &mut self.chassis.ports[usize::from(number)];
        port.transmitter_mut().wait_until(now.saturating_add(guard));
        self.settle(now, medium);
    }
}
