//! Data packets that are not expected next, or that close a gap.

use tenter_fabric::net::{ACK_FRAME_BYTES, EventKind, Medium, Missing, Packet, PacketKind};

use super::RoceNic;
use crate::loss_recovery::selective_repeat::{Placed, Stored};
use crate::loss_recovery::{LossRecovery, SelectiveRepeat};
use crate::nic::context::{Directory, RxContext};
use crate::receive::{Delivery, Verdict, latency};
use crate::spec::NicSpec;

impl RoceNic {
    /// Handles a data packet that is not the expected one, or that closes a gap.
    #[inline(never)]
    pub(super) fn on_out_of_order<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        verdict: Verdict,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        let (spec, medium) = (cx.spec, &mut *cx.medium);
        match (verdict, &spec.loss_recovery) {
            (Verdict::ClosesGap, LossRecovery::SelectiveRepeat(repeat)) => {
                self.close_gap(spec, *repeat, packet, medium);
            }
            (Verdict::Accepted | Verdict::ClosesGap, _) => {
                self.receive[packet.receive_slot()].gap = false;
                return self.accept(spec, packet, medium);
            }
            (Verdict::Duplicate, _) => self.discard_duplicate(spec, packet, medium),
            (Verdict::Ahead, LossRecovery::GoBackN) => self.discard_ahead(spec, packet, medium),
            (Verdict::Ahead, LossRecovery::SelectiveRepeat(repeat)) => {
                self.place(spec, *repeat, packet, medium);
            }
            (Verdict::Ahead, LossRecovery::None) => {
                self.give_up_before(packet, cx.directory);
                // The packet is now the expected one.
                self.receive[packet.receive_slot()].take(packet);
                let delivery = self.accept(spec, packet, medium);
                // Transfers that the loss ended come first, in their order; the packet may end one
                // more.
                self.delivered.extend(delivery);
            }
        }
        self.delivered.pop_front()
    }

    /// Drops a packet that was received before, and acknowledges again if it asks for it.
    fn discard_duplicate<M: Medium>(&mut self, spec: &NicSpec, packet: &Packet, medium: &mut M) {
        self.counters.duplicate_request += 1;
        if packet.has(Packet::ACK_REQUEST) {
            self.acknowledge(spec, packet);
        }
        self.ask_for(packet, Vec::new());
        self.note(EventKind::Discarded, packet, medium);
    }

    /// Drops a packet beyond the missing one, and asks for that once per gap.
    fn discard_ahead<M: Medium>(&mut self, spec: &NicSpec, packet: &Packet, medium: &mut M) {
        self.counters.out_of_sequence += 1;
        let queue_pair = &mut self.receive[packet.receive_slot()];
        if queue_pair.opens_gap() {
            let (expected, reply) = (queue_pair.expected, queue_pair.reply);
            let (sent, flags) = (self.answer_to(packet), self.echo(packet));
            self.counters.nak_sent += 1;
            self.control.push(Packet {
                sequence: expected,
                sent,
                flags,
                ..reply.packet(PacketKind::Nak, RoceNic::ack_frame_bytes(spec))
            });
        // The sender learns from each answer about the path, even of a packet that is discarded.
        } else if self.answers_each() {
            self.acknowledge(spec, packet);
        }
        self.note(EventKind::Discarded, packet, medium);
    }

    /// Stores a packet beyond the missing one, and requests packets that count as lost.
    fn place<M: Medium>(
        &mut self,
        spec: &NicSpec,
        repeat: SelectiveRepeat,
        packet: &Packet,
        medium: &mut M,
    ) {
        let slot = packet.receive_slot();
        let queue_pair = &mut self.receive[slot];
        let Some(limits) = &mut self.limits else {
            return;
        };
        let stored = Stored {
            latency: latency(packet),
            frame_bytes: packet.frame_bytes,
            ends_transfer: packet.has(Packet::END_OF_TRANSFER),
            asks_for_acknowledgement: packet.has(Packet::ACK_REQUEST),
        };
        let mut lost = Vec::new();
        let sequence = packet.sequence;
        let placed = limits
            .gaps
            .place(queue_pair, repeat, slot, sequence, stored, |missing| {
                lost.push(missing);
            });
        match placed {
            Placed::Stored => {
                self.counters.accept(packet);
                self.counters.out_of_order += 1;
                self.note(EventKind::Accepted, packet, medium);
            }
            Placed::Duplicate => {
                // A duplicate may carry the question for missing packets, which is answered there.
                self.discard_duplicate(spec, packet, medium);
                return;
            }
            Placed::Beyond => {
                self.counters.out_of_sequence += 1;
                self.note(EventKind::Discarded, packet, medium);
            }
        }
        if self.answers_each() {
            self.acknowledge(spec, packet);
        }
        self.ask_for(packet, lost);
    }

    /// Requests runs of packets that count as lost, or all missing ones if the packet just served
    /// asks for them. Acknowledgements are queued before, so that senders know what they need not
    /// resend.
    fn ask_for(&mut self, packet: &Packet, mut lost: Vec<Missing>) {
        let slot = packet.receive_slot();
        let queue_pair = &self.receive[slot];
        if packet.has(Packet::REPORT_REQUEST)
            && let Some(limits) = &mut self.limits
        {
            // The full list contains the runs already found.
            lost.clear();
            let gaps = &mut limits.gaps;
            gaps.ask_again(queue_pair, slot, |missing| lost.push(missing));
        }
        let blank = queue_pair
            .reply
            .packet(PacketKind::SelectiveNak, ACK_FRAME_BYTES);
        for missing in lost {
            self.counters.nak_sent += 1;
            self.control.push(missing.packet(&blank));
        }
    }

    /// Accepts the missing packet, and with it what had arrived after it.
    fn close_gap<M: Medium>(
        &mut self,
        spec: &NicSpec,
        repeat: SelectiveRepeat,
        packet: &Packet,
        medium: &mut M,
    ) {
        let slot = packet.receive_slot();
        self.counters.accept(packet);
        let queue_pair = &mut self.receive[slot];
        if packet.has(Packet::END_OF_TRANSFER) {
            self.delivered
                .push_back(queue_pair.deliver(slot, packet.at));
        }
        let Some(limits) = &mut self.limits else {
            return;
        };
        let delivered = &mut self.delivered;
        let mut lost = Vec::new();
        let asks = limits.gaps.close(
            queue_pair,
            repeat,
            slot,
            packet.at,
            |delivery| delivered.push_back(delivery),
            |missing| lost.push(missing),
        );
        if asks || packet.has(Packet::ACK_REQUEST) {
            self.acknowledge(spec, packet);
        }
        self.ask_for(packet, lost);
        self.note(EventKind::Accepted, packet, medium);
    }

    /// Gives up all packets missing before `packet`.
    fn give_up_before(&mut self, packet: &Packet, directory: &impl Directory) {
        let (host, slot) = (self.host, packet.receive_slot());
        let cut = self.cut;
        let packets_of = |nth: u32| {
            let bytes = directory.transfer_bytes(host, slot, nth);
            bytes.map_or(0, |bytes| cut.packets(bytes) as u32)
        };
        let delivered = &mut self.delivered;
        let lost = self.receive[slot].give_up_before(
            packet.sequence,
            slot,
            packet.at,
            packets_of,
            |delivery| delivered.push_back(delivery),
        );
        self.counters.given_up += u64::from(lost);
    }

    /// Handles the report that the sender has no more data before a number and lacks an
    /// acknowledgement.
    pub(super) fn on_end_of_data(
        &mut self,
        spec: &NicSpec,
        packet: &Packet,
        directory: &impl Directory,
    ) -> Option<Delivery> {
        // The report may be the first packet of its queue pair to arrive.
        self.reply_path(packet.receive_slot(), directory);
        self.give_up_before(packet, directory);
        self.acknowledge(spec, packet);
        self.delivered.pop_front()
    }
}
