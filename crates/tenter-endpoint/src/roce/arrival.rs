//! Arrivals from the wire: the fast path, and the stages of all other frames.
//!
//! ```text
//!   wire ──▶ fast path: data that is expected next, part of an acknowledgement
//!     │
//!     └──▶ MAC control ──▶ input buffer of its lane ──▶ receive buffer ──▶ protocol
//! ```
//!
//! The NIC's [`Features`](super::features::Features) and the frame itself decide which way it
//! takes.

use tenter_fabric::net::{EventKind, Medium, Packet, PacketKind, Pause, Signal};
use tenter_language::units::Instant;

use super::RoceNic;
use crate::nic::context::{Directory, RxContext};
use crate::receive::{Delivery, latency};
use crate::spec::NicSpec;

impl RoceNic {
    /// Takes a frame on the fast path and returns true, or returns false without any effect. The
    /// fast path is for data packets that are expected next and ask for nothing, and for
    /// acknowledgements that finish no request and leave the round as it is. Neither kind changes
    /// the next departure or a timer.
    // Runs once per packet; a call would cost a quarter of it.
    #[inline(always)]
    pub(crate) fn receive_fast<M: Medium>(
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
            // With limits an acknowledgement may open a window or change a rate.
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

    /// Handles a packet. Returns the transfer that it completes, if any, and appends acknowledged
    /// work requests to the context's `done`.
    #[inline]
    pub(crate) fn arrive<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        // A mark needs a notification, and any feature a stage between wire and protocol.
        if self.features.are_none()
            && packet.kind.is_data()
            && !packet.has(Packet::CONGESTION_EXPERIENCED)
        {
            self.counters.receive(packet);
            return self.on_data(packet, cx);
        }
        self.arrive_staged(packet, cx)
    }

    /// Handles the packets that [`RoceNic::arrive`] does not take at once, stage by stage.
    #[inline(never)]
    pub(super) fn arrive_staged<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        // Pause frames and credit belong to the link: they wait in no buffer and count for no queue
        // pair.
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

    /// Applies a pause frame from the leaf, or a flow-control packet.
    pub(super) fn obey<M: Medium>(&mut self, packet: &Packet, medium: &mut M) {
        if packet.kind != PacketKind::Pause {
            self.on_credit(packet, medium);
            return;
        }
        self.note(EventKind::Obeyed, packet, medium);
        let pause = self.transmitter.pause_time(Pause::of(packet).quanta);
        // A leaf may pause because of a congestion signal, which the pause frame then names.
        if let Some(signal) = Signal::of(packet) {
            self.pauses.reactions.note(&signal, packet.at);
        }
        self.pauses.obey(packet.class(), packet.at, pause);
    }

    /// Stores a frame in the receive buffer, and pauses the leaf if that is due.
    pub(super) fn buffer<M: Medium>(&mut self, spec: &NicSpec, packet: Packet, medium: &mut M) {
        let (Some(buffer), Some(spec)) = (&mut self.receive_buffer, &spec.receive_buffer) else {
            return;
        };
        // The buffer counts drops itself; the capture of frames needs to know of this one.
        let dropped = buffer.counters().dropped_frames;
        let pauses = buffer.take(spec, packet);
        if buffer.counters().dropped_frames > dropped {
            self.note(EventKind::Dropped, &packet, medium);
        }
        if pauses {
            self.notify_leaf(spec.quanta, packet.at, medium);
        }
    }

    /// Sends a pause frame for every lossless class: XOFF for `quanta`, or XON if they are 0.
    pub(super) fn notify_leaf(&mut self, quanta: u16, now: Instant, medium: &mut impl Medium) {
        // Control frames occupy the wire, so idle time must be counted up to here.
        self.note_departure(now);
        for class in (0..8).filter(|class| self.classes.lossless & (1 << class) != 0) {
            self.transmitter.pause(class, quanta, now, medium);
        }
    }
}
