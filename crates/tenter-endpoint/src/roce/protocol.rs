//! The `RoCEv2` protocol: packets that have reached host memory, and the answers to them.

use tenter_fabric::net::{CONNECT_FRAME_BYTES, EventKind, Medium, Packet, PacketKind, ReceiveSlot};

use super::RoceNic;
use crate::nic::context::{Directory, RxContext};
use crate::receive::{Delivery, ReplyPath, Verdict};
use crate::spec::NicSpec;

impl RoceNic {
    /// Handles a packet that has reached host memory, as [`RoceNic::arrive`] does.
    #[expect(
        clippy::inline_always,
        reason = "once a packet that is no data; a call costs a fifth of it"
    )]
    #[inline(always)]
    pub(super) fn process<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        if packet.has(Packet::CONGESTION_EXPERIENCED) {
            self.on_mark(packet, cx.directory);
        }
        if packet.kind.is_data() {
            if self
                .limits
                .as_ref()
                .is_some_and(|limits| limits.in_band.is_some())
            {
                return self.on_recorded(packet, cx);
            }
            return self.on_delayed(packet, cx);
        }
        self.note(EventKind::Accepted, packet, cx.medium);
        match packet.kind {
            PacketKind::Ack => self.on_ack(cx.spec, packet, cx.done),
            PacketKind::Nak => self.on_nak(cx.spec, packet, cx.done),
            PacketKind::ConnectRequest => {
                let reply = self.reply_path(packet.receive_slot(), cx.directory);
                let packet = reply.packet(PacketKind::ConnectReply, CONNECT_FRAME_BYTES);
                self.control.push(packet);
            }
            PacketKind::Cnp => self.on_cnp(packet),
            PacketKind::SelectiveNak => self.on_selective_nak(cx.spec, packet),
            PacketKind::Reroute => self.on_notice(packet),
            PacketKind::EndOfData => return self.on_end_of_data(cx.spec, packet, cx.directory),
            // Connection replies are the only other kind that reaches this NIC.
            _ => self.on_connect_reply(cx.spec, packet.send_slot(), packet.at),
        }
        None
    }

    /// Handles a data packet like [`RoceNic::on_data`], out of line for those that do not come
    /// straight from the wire.
    #[inline(never)]
    pub(super) fn on_delayed<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        self.on_data(packet, cx)
    }

    /// Handles a data packet in its receive queue pair.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a quarter of it"
    )]
    #[inline(always)]
    pub(super) fn on_data<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        let slot = packet.receive_slot();
        let queue_pair = &mut self.receive[slot];
        if !queue_pair.open {
            queue_pair.open(cx.directory.reply_path(self.host, slot));
        }
        let verdict = queue_pair.take(packet);
        if verdict != Verdict::Accepted {
            return self.on_out_of_order(packet, verdict, cx);
        }
        self.accept(cx.spec, packet, cx.medium)
    }

    /// Counts the accepted packet, which was expected next, and answers it if that is due.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a quarter of it"
    )]
    #[inline(always)]
    pub(super) fn accept<M: Medium>(
        &mut self,
        spec: &NicSpec,
        packet: &Packet,
        medium: &mut M,
    ) -> Option<Delivery> {
        self.counters.accept(packet);
        if packet.flags & (Packet::ACK_REQUEST | Packet::END_OF_TRANSFER) == 0 {
            self.note(EventKind::Accepted, packet, medium);
            return None;
        }
        self.answer(spec, packet, medium)
    }

    /// Answers an accepted packet that asks for an acknowledgement or ends a transfer.
    #[inline(never)]
    pub(super) fn answer<M: Medium>(
        &mut self,
        spec: &NicSpec,
        packet: &Packet,
        medium: &mut M,
    ) -> Option<Delivery> {
        let slot = packet.receive_slot();
        let queue_pair = &mut self.receive[slot];
        let ends = packet.has(Packet::END_OF_TRANSFER);
        let delivery = ends.then(|| queue_pair.deliver(slot, packet.at));
        if packet.has(Packet::ACK_REQUEST) {
            self.acknowledge(spec, packet);
        }
        self.note(EventKind::Accepted, packet, medium);
        delivery
    }

    /// Queues an acknowledgement in answer to a packet, for everything before the expected one.
    pub(super) fn acknowledge(&mut self, spec: &NicSpec, packet: &Packet) {
        let (sent, flags) = (self.answer_to(packet), self.echo(packet));
        self.counters.acknowledgements_sent += 1;
        let queue_pair = &self.receive[packet.receive_slot()];
        let blank = queue_pair
            .reply
            .packet(PacketKind::Ack, RoceNic::ack_frame_bytes(spec));
        self.control.push(Packet {
            sequence: queue_pair.expected,
            sent,
            flags,
            ..blank
        });
    }

    /// Returns the flags by which an answer reports marks: one for earlier marks on the queue pair,
    /// and, if senders learn from paths, one for a mark on the answered packet itself.
    pub(super) fn echo(&mut self, packet: &Packet) -> u8 {
        let of_queue_pair = self.marks.on_echo(packet.receive_slot());
        let tells = packet.has(Packet::CONGESTION_EXPERIENCED) && self.answers_each();
        of_queue_pair | (u8::from(tells) * Packet::ANSWERS_MARKED)
    }

    /// Returns true if senders learn from the answer to each packet.
    pub(super) fn answers_each(&self) -> bool {
        let limits = self.limits.as_ref();
        limits.is_some_and(|limits| limits.answers_each())
    }

    /// Returns the way back to the sender, which is looked up with the first packet.
    pub(super) fn reply_path(
        &mut self,
        slot: ReceiveSlot,
        directory: &impl Directory,
    ) -> ReplyPath {
        let queue_pair = &mut self.receive[slot];
        if !queue_pair.open {
            queue_pair.open(directory.reply_path(self.host, slot));
        }
        queue_pair.reply
    }
}
