//! A switch in a credit-based fabric.
//!
//! A frame occupies the input buffer of its port and lane from its arrival until its first bit
//! leaves, wherever it waits meanwhile; freed space goes back to the sender as credit. Any
//! departure may do that, so the switch carries departures out in the order of time.

use crate::topology::Routing;
use tenter_engine::EventList;
use tenter_language::units::Instant;

use crate::net::buffer::{CreditBuffer, Place};
use crate::net::credit::{CreditSpec, Lane};
use crate::net::medium::{EventKind, Medium};
use crate::net::packet::{FlowControl, LostCredit, Packet, PacketKind};
use crate::net::switch::parts::{Chassis, SwitchParts};
use crate::net::switch::queued::{CreditSwitch, Outputs, Queueing};
use crate::net::visit_counts::VisitCounts;

impl CreditSwitch {
    /// Makes a switch from its parts. Congestion signals do not exist in such a fabric.
    pub(super) fn new(parts: SwitchParts<'_>, credit: &CreditSpec) -> CreditSwitch {
        let (ports, queues) = (parts.transmitters.len(), parts.spec.classes.len());
        CreditSwitch {
            balancer: parts.balancer(),
            buffer: CreditBuffer::new(credit, ports, queues),
            queues: Outputs::new(ports),
            signals: None,
            visits: VisitCounts::default(),
            chassis: Chassis::new(parts, Some(credit)),
        }
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
        self.prefetch_frames();
        for (packet, input) in arrivals.iter() {
            self.bring_before(packet.at, medium);
            self.arrive(packet, input, routing, medium);
        }
        self.advance_to(end, medium)
    }

    /// Applies a flow-control packet that came through a port, or the report of a lost frame.
    fn on_credit<M: Medium>(&mut self, packet: &Packet, number: u16, medium: &mut M) {
        let now = packet.at;
        self.chassis.note(EventKind::Obeyed, packet, number, medium);
        self.advance_output(number, now, medium);
        let queue = self.chassis.rules.queue(packet);
        if packet.kind == PacketKind::LostCredit {
            let lane = Lane {
                port: number,
                queue,
            };
            let blocks = LostCredit::of(packet).blocks;
            self.buffer.adjust_credit(lane, blocks);
            self.flush_control(now, medium);
        } else {
            let limit = FlowControl::of(packet).limit;
            self.chassis.ports[usize::from(number)].on_credit(queue, limit, now);
        }
        self.enter_departure(number);
    }
}

impl Queueing for CreditSwitch {
    /// Takes space without a test: the sender had credit for the frame.
    #[inline(never)]
    fn offer<M: Medium>(&mut self, packet: &Packet, input: u16, number: u16, medium: &mut M) {
        let now = packet.at;
        let queue = self.chassis.rules.queue(packet);
        let lane = Lane { port: input, queue };
        self.buffer.take_in(lane, packet.frame_bytes);
        self.advance_output(number, now, medium);
        let port = &mut self.chassis.ports[usize::from(number)];
        if port.is_free(queue, now) && port.covers(queue, packet) {
            // Its space is taken and freed at one instant, which counts towards the next
            // flow-control packet like any other.
            port.pass_by_credit(packet, queue, now, medium);
            self.buffer.give_back(lane, packet.frame_bytes);
        } else if port.is_closed(queue) {
            port.lose(packet, now, medium);
            self.buffer.give_back(lane, packet.frame_bytes);
        } else {
            port.store(packet, input, queue, &self.chassis.rules, medium);
            port.look(queue, now);
            self.queues.wake(number);
        }
        self.flush_control(now, medium);
        self.enter_departure(number);
    }

    fn on_control<M: Medium>(&mut self, packet: &Packet, number: u16, medium: &mut M) {
        if packet.kind == PacketKind::Pause {
            self.on_pause(packet, number, medium);
        } else {
            self.on_credit(packet, number, medium);
        }
    }

    fn advance_port<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M) {
        self.advance_output(number, now, medium);
    }

    /// Does nothing, as departures are always carried out in the order of time.
    fn bring_to<M: Medium>(&mut self, _: Instant, _: &mut M) {}

    fn port_changed(&mut self, number: u16) {
        self.output_changed(number);
    }

    fn pause_changed(&mut self, number: u16, _: Instant) {
        self.output_changed(number);
    }

    fn frame_taken(&mut self, _: Place) {}

    fn port_emptied(&mut self, _: u16) {}

    fn settle<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        self.settle_outputs(now, medium);
    }

    fn flush_control<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        self.flush_outputs(false, now, medium);
    }
}
