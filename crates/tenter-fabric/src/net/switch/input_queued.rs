//! A switch whose frames wait at its inputs.
//!
//! At any instant arrivals come first; then free inputs and outputs are matched. All events are
//! handled in the order of time.

use crate::topology::Routing;
use tenter_engine::EventList;
use tenter_language::units::Instant;

use crate::net::buffer::{Buffer, Place};
use crate::net::input_queued::{Crossbar, InputQueuedSpec};
use crate::net::medium::Medium;
use crate::net::packet::Packet;
use crate::net::signals::Signals;
use crate::net::switch::output_queued::shared_buffer;
use crate::net::switch::parts::{Chassis, SwitchParts};
use crate::net::switch::queued::{InputQueued, Queueing};
use crate::net::visit_counts::VisitCounts;

impl InputQueued {
    /// Makes a switch from its parts.
    pub(super) fn new(mut parts: SwitchParts<'_>, spec: InputQueuedSpec) -> InputQueued {
        let signals = parts.signals.take();
        let (ports, queues) = (parts.transmitters.len(), parts.spec.classes.len());
        InputQueued {
            balancer: parts.balancer(),
            buffer: shared_buffer(&parts),
            queues: Crossbar::new(spec, ports, queues),
            signals: signals.map(|(spec, wiring)| Box::new(Signals::new(&spec, wiring))),
            visits: VisitCounts::default(),
            chassis: Chassis::new(parts, None),
        }
    }

    /// Implements [`Switch::may_come_next`](crate::net::Switch::may_come_next).
    pub(super) fn may_come_next(&self, place: Place) -> bool {
        let crossbar = &self.queues;
        !crossbar.is_in_order()
            || crossbar
                .heads(place.input, place.queue)
                .any(|head| head == place.output)
    }

    /// Implements [`Switch::visit`](crate::net::Switch::visit).
    pub(super) fn visit<M: Medium>(
        &mut self,
        arrivals: &EventList<Packet>,
        end: Instant,
        routing: &Routing,
        medium: &mut M,
    ) -> Option<Instant> {
        self.visits.in_time_order += 1;
        for (packet, input) in arrivals.iter() {
            self.fire_before(packet.at, medium);
            self.arrive(packet, input, routing, medium);
        }
        self.advance_to(end, medium)
    }

    /// Implements [`Switch::advance_to`](crate::net::Switch::advance_to).
    pub(super) fn advance_to<M: Medium>(
        &mut self,
        end: Instant,
        medium: &mut M,
    ) -> Option<Instant> {
        self.fire_before(end, medium);
        let next = self.next_timer();
        (!next.is_never()).then_some(next)
    }

    /// Returns the instant of the next timer or matching; [`Instant::NEVER`] if there is none.
    pub(super) fn next_timer(&self) -> Instant {
        self.next_common_timer().min(self.queues.next())
    }

    /// Fires all timers and matchings before an instant.
    fn fire_before<M: Medium>(&mut self, before: Instant, medium: &mut M) {
        loop {
            let at = self.next_timer();
            if at >= before {
                return;
            }
            self.fire(at, medium);
        }
    }

    /// Fires the timers due at `now`, then matches if a matching is due.
    pub(super) fn fire<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        self.fire_common(now, medium);
        if self.queues.next() == now {
            self.match_inputs(now, medium);
        }
    }

    /// Matches inputs and outputs that are free at `now`, and sends the matched frames.
    #[inline(never)]
    fn match_inputs<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        // Classes are strict: the highest goes first.
        for queue in (0..self.chassis.class_of.len()).rev() {
            let ports = &self.chassis.ports;
            let is_free = |output: u16| ports[usize::from(output)].free_from(queue) <= now;
            for (input, output) in self.queues.allocate(queue, now, is_free) {
                let mut around = self.chassis.rules.around(&mut self.buffer);
                let port = &mut self.chassis.ports[usize::from(output)];
                let until = port.send_from(input, queue, now, &mut around, medium);
                self.queues.occupy(input, until);
            }
        }
        self.flush_control(now, medium);
        let ports = &self.chassis.ports;
        self.queues.plan(now, |output, queue| {
            ports[usize::from(output)].free_from(queue)
        });
    }
}

impl Queueing for InputQueued {
    /// Stores every frame: even one that finds its output idle has to pass the crossbar.
    #[inline(never)]
    fn offer<M: Medium>(&mut self, packet: &Packet, input: u16, number: u16, medium: &mut M) {
        let queue = self.chassis.rules.queue(packet);
        let port = &mut self.chassis.ports[usize::from(number)];
        if port.is_closed(queue) {
            port.lose(packet, packet.at, medium);
            return;
        }
        let frame = port.queued_frame(input, queue, packet);
        let admission = self.buffer.admission(&frame);
        let mut around = self.chassis.rules.around(&mut self.buffer);
        if port.put(packet, frame, admission, &mut around, medium) {
            // Control frames go out behind frames that the port has started, but before this one.
            port.leave_to_crossbar(queue);
            self.flush_control(packet.at, medium);
            self.queues.push(frame.place(), packet.at);
        }
    }

    fn on_control<M: Medium>(&mut self, packet: &Packet, number: u16, medium: &mut M) {
        self.on_pause(packet, number, medium);
    }

    /// Does nothing: ports send no frame on their own.
    fn advance_port<M: Medium>(&mut self, number: u16, _: Instant, _: &mut M) {
        debug_assert!(
            !self.chassis.ports[usize::from(number)].has_waiting(),
            "a frame waits that the crossbar does not know of"
        );
    }

    fn bring_to<M: Medium>(&mut self, _: Instant, _: &mut M) {}

    fn port_changed(&mut self, _: u16) {}

    fn pause_changed(&mut self, _: u16, now: Instant) {
        self.queues.wake(now);
    }

    fn frame_taken(&mut self, place: Place) {
        self.queues.take_away(place);
    }

    fn port_emptied(&mut self, number: u16) {
        self.queues.clear(number);
    }

    fn settle<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        self.queues.wake(now);
        self.flush_control(now, medium);
    }

    fn flush_control<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        while let Some(mut control) = self.buffer.take_pending() {
            let class = self.chassis.class_of[usize::from(control.queue)];
            if let Some(signals) = &mut self.signals {
                signals.extend(&mut control, class, now);
            }
            self.chassis.send_pending(control, now, medium);
        }
    }
}
