//! A switch some of whose links are circuits of optical switches.
//!
//! A port whose circuit is to change is first *held*: it starts no frame any more, and what waits
//! there is routed anew. When the last frame has arrived it is *darkened*. Later it is *joined*
//! with another port. Pauses that the switch has asked for last while the port is dark, for what
//! they were asked for may still be in its buffer; the new peer is told of them before it may send.

use tenter_topology::Routing;
use tenter_units::{Instant, Time};

use crate::buffer::{Buffer, Place, SharedBuffer};
use crate::medium::Medium;
use crate::switch::queued::{QueuedSwitch, Queueing};
use crate::transmitter::FarEnd;

impl<Q> QueuedSwitch<SharedBuffer, Q>
where
    QueuedSwitch<SharedBuffer, Q>: Queueing,
{
    /// Routes anew what waits at a port that is held. Frames stay where they are if no other way
    /// leads to their hosts.
    ///
    /// One frame after the other is taken out and put in again, so that a frame of a lossless class
    /// finds the room that it left. Senders resume only at the end: a sender that is resumed and
    /// paused again for each frame would fill more than its headroom.
    pub(super) fn reroute<M: Medium>(
        &mut self,
        number: u16,
        routing: &Routing,
        now: Instant,
        medium: &mut M,
    ) {
        self.buffer.hold_back();
        for queue in 0..self.chassis.class_of.len() {
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

    /// A dark port leads elsewhere from `now` on. Pauses that last are said first, and frames
    /// follow `guard` later, when those of the other end have acted.
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
        // Before any frame, which would make the other end's wait.
        while let Some(control) = self.buffer.take_pending() {
            self.chassis.send_pending(control, now, medium);
        }
        let port = &mut self.chassis.ports[usize::from(number)];
        port.transmitter_mut().wait_until(now.saturating_add(guard));
        self.settle(now, medium);
    }
}
