//! Frames from the wire: the fast path, and the stages of the others.
//!
//! ```text
//!   wire ──▶ fast path: data that is expected next, part of an acknowledgement
//!     │
//!     └──▶ MAC control ──▶ input buffer of its lane ──▶ receive buffer ──▶ protocol
//! ```
//!
//! Which of the two a frame takes is decided by the [`Features`](super::features::Features) of its
//! NIC and by the frame itself.

use tenter_net::{EventKind, Medium, Packet, PacketKind, Pause, Signal};
use tenter_units::Instant;

use super::RoceNic;
use crate::nic::context::{Directory, RxContext};
use crate::receive::{Delivery, latency};
use crate::spec::NicSpec;

impl RoceNic {
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
        if !self.features.are_none() || packet.flags & ASKS != 0 {
            return false;
        }
        if packet.kind.is_data() {
            let queue_pair = &mut self.receive[packet.receive_slot()];
            if !queue_pair.expects(packet) {
                return false;
            }
            queue_pair.accept(packet.frame_bytes, latency(packet));
            self.counters.accept(packet);
        } else {
            if packet.kind != PacketKind::Ack || self.limits.is_some() {
                return false;
            }
            let queue_pair = &mut self.send[packet.send_slot()];
            if !queue_pair.acknowledge_part(packet.sequence, packet.at, spec.window_packets) {
                return false;
            }
        }
        self.counters.receive(packet);
        self.note(EventKind::Accepted, packet, medium);
        true
    }

    /// Takes a packet; returns the transfer it completes, if any, and puts the work requests it
    /// acknowledges into `done`.
    #[inline]
    pub fn arrive<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        if self.features.are_none()
            && packet.kind.is_data()
            && !packet.has(Packet::CONGESTION_EXPERIENCED)
        {
            self.counters.receive(packet);
            return self.on_data(packet, cx);
        }
        self.arrive_staged(packet, cx)
    }

    /// As [`RoceNic::arrive`], for everything but data without a mark that may be taken at once.
    #[inline(never)]
    pub(super) fn arrive_staged<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        if packet.kind.is_mac_control() {
            self.obey(packet, cx.medium);
            return None;
        }
        self.counters.receive(packet);
        if packet.kind == PacketKind::Signal {
            self.on_signal(packet, cx.medium);
            return None;
        }
        if self.lanes.is_some() {
            self.take_in(packet, cx.medium);
        }
        if self.receive_buffer.is_some() {
            self.buffer(cx.spec, *packet, cx.medium);
            return None;
        }
        self.process(packet, cx)
    }

    /// Obeys a pause frame of the leaf, or goes by its credit.
    pub(super) fn obey<M: Medium>(&mut self, packet: &Packet, medium: &mut M) {
        if packet.kind != PacketKind::Pause {
            self.on_credit(packet, medium);
            return;
        }
        self.note(EventKind::Obeyed, packet, medium);
        let pause = self.transmitter.pause_time(Pause::of(packet).quanta);
        if let Some(signal) = Signal::of(packet) {
            self.pauses.reactions.note(&signal, packet.at);
        }
        self.pauses.obey(packet.class(), packet.at, pause);
    }

    /// Puts a frame into the receive buffer.
    pub(super) fn buffer<M: Medium>(&mut self, spec: &NicSpec, packet: Packet, medium: &mut M) {
        let (Some(buffer), Some(spec)) = (&mut self.receive_buffer, &spec.receive_buffer) else {
            return;
        };
        let dropped = buffer.counters().dropped_frames;
        let pauses = buffer.take(spec, packet);
        if buffer.counters().dropped_frames > dropped {
            self.note(EventKind::Dropped, &packet, medium);
        }
        if pauses {
            self.notify_leaf(spec.quanta, packet.at, medium);
        }
    }

    /// Tells the leaf to pause, or to go on, in every class that it may pause.
    pub(super) fn notify_leaf(&mut self, quanta: u16, now: Instant, medium: &mut impl Medium) {
        self.note_departure(now);
        for class in (0..8).filter(|class| self.classes.lossless & (1 << class) != 0) {
            self.transmitter.pause(class, quanta, now, medium);
        }
    }
}
