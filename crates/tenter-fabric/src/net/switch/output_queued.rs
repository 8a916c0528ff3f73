//! An output-queued switch with a shared buffer: passes, stores or drops each frame.

use tenter_language::units::Instant;

use crate::net::buffer::{Admission, Buffer, Place, QueuedFrame, SharedBuffer};
use crate::net::load_balancing::Balancer;
use crate::net::medium::Medium;
use crate::net::packet::Packet;
use crate::net::signals::Signals;
use crate::net::switch::parts::{Chassis, SwitchParts};
use crate::net::switch::queued::{OutputQueued, Outputs, Queueing};
use crate::net::visit_counts::VisitCounts;
use crate::net::watchdog::WatchdogSpec;

/// Makes the shared buffer that a switch's parts describe.
pub(super) fn shared_buffer(parts: &SwitchParts<'_>) -> SharedBuffer {
    let spec = parts.spec;
    let mut buffer = SharedBuffer::new(
        &spec.classes,
        &spec.pool_bytes,
        &parts.headrooms,
        parts.quanta_ps(),
        parts.to_host.clone(),
    );
    buffer.share(&spec.sharing, parts.transmitters.len());
    buffer
}

impl OutputQueued {
    /// Makes a switch with the given load balancer.
    pub(crate) fn new(mut parts: SwitchParts<'_>, balancer: Balancer) -> OutputQueued {
        let signals = parts.signals.take();
        OutputQueued {
            balancer,
            buffer: shared_buffer(&parts),
            queues: Outputs::new(parts.transmitters.len()),
            signals: signals.map(|(spec, wiring)| Box::new(Signals::new(&spec, wiring))),
            visits: VisitCounts::default(),
            chassis: Chassis::new(parts, None),
        }
    }

    /// Decides in which space a frame may be stored, after the departures that matter.
    #[inline]
    fn admission<M: Medium>(
        &mut self,
        frame: &QueuedFrame,
        now: Instant,
        medium: &mut M,
    ) -> Admission {
        let admission = self.buffer.admission(frame);
        // A departure only lowers fills: an admission that stands now would stand after all of
        // them. While the buffer is armed, none are outstanding.
        if self.buffer.is_armed() || !self.buffer.needs_exact(admission, frame) {
            return admission;
        }
        self.bring_outputs_to(now, medium);
        self.buffer.admission(frame)
    }

    /// As [`Switch::watch`](crate::net::Switch::watch).
    pub(super) fn watch<M: Medium>(
        &mut self,
        spec: &WatchdogSpec,
        now: Instant,
        medium: &mut M,
    ) -> bool {
        let mut acted = false;
        for port in &mut self.chassis.ports {
            for queue in 0..self.chassis.class_of.len() {
                if self.buffer.is_lossless(queue) {
                    let mut around = self.chassis.rules.around(&mut self.buffer);
                    acted |= spec.look(port, queue, now, &mut around, medium);
                }
            }
        }
        if acted {
            // Frames that were dropped or released may resume senders, and ports send at other
            // instants.
            self.settle_outputs(now, medium);
        }
        acted
    }
}

impl Queueing for OutputQueued {
    #[inline]
    fn offer<M: Medium>(&mut self, packet: &Packet, input: u16, number: u16, medium: &mut M) {
        let now = packet.at;
        let queue = self.chassis.rules.queue(packet);
        let port = &mut self.chassis.ports[usize::from(number)];
        let mut around = self.chassis.rules.around(&mut self.buffer);
        port.advance(now, &mut around, medium);
        if port.is_free(queue, now) {
            // A frame that need not wait is never in the buffer.
            port.pass(packet, now, medium);
        } else if port.is_closed(queue) {
            port.lose(packet, now, medium);
        } else {
            let frame = port.queued_frame(input, queue, packet);
            let admission = self.admission(&frame, now, medium);
            let port = &mut self.chassis.ports[usize::from(number)];
            let mut around = self.chassis.rules.around(&mut self.buffer);
            if port.put(packet, frame, admission, &mut around, medium) {
                self.queues.wake(number);
            }
            if self.buffer.has_pending() {
                self.flush_control(now, medium);
            }
        }
        self.output_changed(number);
    }

    fn on_control<M: Medium>(&mut self, packet: &Packet, number: u16, medium: &mut M) {
        self.on_pause(packet, number, medium);
    }

    fn advance_port<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M) {
        self.advance_output(number, now, medium);
    }

    fn bring_to<M: Medium>(&mut self, until: Instant, medium: &mut M) {
        self.bring_outputs_to(until, medium);
    }

    #[inline]
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
        self.flush_outputs(self.queues.departures.is_empty(), now, medium);
    }
}
