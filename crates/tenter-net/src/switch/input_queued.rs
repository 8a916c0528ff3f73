//! A switch whose frames wait at its inputs.
//!
//! At any instant arrivals come first, and then inputs and outputs that are free are matched. All
//! that is done in the order of time.

use tenter_engine::EventList;
use tenter_topology::Routing;

use crate::medium::Medium;
use crate::packet::Packet;
use crate::port::PortEnv;
use crate::switch::Switch;

impl Switch {
    /// Whether a frame of a queue that came through `input` could be the next to leave through an
    /// output, as far as other frames of that input are concerned: it does not stand behind one
    /// that must leave first.
    pub fn may_come_next(&self, (input, output, queue): (u16, u16, usize)) -> bool {
        let in_order = self.model.crossbar().filter(|of| of.is_in_order());
        in_order.is_none_or(|of| of.heads(input, queue).any(|head| head == output))
    }

    /// As [`Switch::visit`].
    pub(crate) fn visit_inputs<M: Medium>(
        &mut self,
        arrivals: &EventList<Packet>,
        (end, routing): (u64, &Routing),
        medium: &mut M,
    ) -> Option<u64> {
        self.visits.in_time_order += 1;
        for (packet, input) in arrivals.iter() {
            self.fire_before(packet.at, medium);
            self.arrive(packet, input, routing, medium);
        }
        self.fire_before(end, medium);
        self.next_timer()
    }

    /// Does all that is due before an instant.
    pub(super) fn fire_before<M: Medium>(&mut self, before: u64, medium: &mut M) {
        while let Some(at) = self.next_timer().filter(|&at| at < before) {
            self.fire(at, medium);
        }
    }

    /// Stores a frame that came through `input` and leaves through port `number`, or drops it.
    #[inline(never)]
    pub(super) fn offer_to_crossbar<M: Medium>(
        &mut self,
        packet: &Packet,
        (input, number): (u16, u16),
        medium: &mut M,
    ) {
        let queue = self.rules.queue(packet);
        let port = &mut self.ports[usize::from(number)];
        if port.is_closed(queue) {
            port.lose(packet, packet.at, medium);
            return;
        }
        let before = port.bytes_in(queue);
        if let Some(limit) = self.buffer.private_limit(queue) {
            port.store_within(limit, (packet, input, queue), &self.rules, medium);
        } else {
            self.store_shared(packet, (input, number, queue), medium);
        }
        let port = &mut self.ports[usize::from(number)];
        if port.bytes_in(queue) > before {
            port.leave_to_crossbar(queue);
            if let Some(crossbar) = self.model.crossbar_mut() {
                crossbar.push((input, number, queue), packet.at);
            }
        }
    }

    /// Matches inputs and outputs that are free at `now`, and sends.
    #[inline(never)]
    pub(super) fn match_inputs<M: Medium>(&mut self, now: u64, medium: &mut M) {
        let Some(crossbar) = self.model.crossbar_mut() else {
            return;
        };
        // Classes are strict: the highest goes first.
        for queue in (0..self.class_of.len()).rev() {
            let ports = &self.ports;
            let is_free = |output: u16| ports[usize::from(output)].free_from(queue) <= now;
            for (input, output) in crossbar.allocate(queue, now, is_free) {
                let mut around = PortEnv {
                    rules: &self.rules,
                    buffer: &mut self.buffer,
                };
                let port = &mut self.ports[usize::from(output)];
                let until = port.send_from((input, queue), now, &mut around, medium);
                crossbar.occupy(input, until);
            }
        }
        if self.buffer.has_pending() {
            self.flush_control(now, medium);
        }
        let ports = &self.ports;
        if let Some(crossbar) = self.model.crossbar_mut() {
            crossbar.plan(now, |output, queue| {
                ports[usize::from(output)].free_from(queue)
            });
        }
    }

    /// Something has changed from outside at `now`.
    pub(super) fn wake_crossbar(&mut self, now: u64) {
        if let Some(crossbar) = self.model.crossbar_mut() {
            crossbar.wake(now);
        }
    }
}
