//! Reactions of senders to acknowledgements, NAKs and notifications.

use tenter_fabric::net::{Hop, Missing, Packet, PacketKind, SENT_UNIT_PS, SendSlot};
use tenter_language::units::{Instant, Time};

use super::RoceNic;
use crate::congestion_control::Feedback;
use crate::entropy::PathNews;
use crate::send::{Acknowledged, Connection, Turn};
use crate::spec::NicSpec;

impl RoceNic {
    /// Handles an acknowledgement, or the one that a NAK implies.
    pub(super) fn on_ack(&mut self, spec: &NicSpec, packet: &Packet, done: &mut Vec<Acknowledged>) {
        let slot = packet.send_slot();
        // Congestion control comes first: it compares the acknowledgement with the state before it.
        if self.limits.is_some() {
            self.on_feedback(packet);
        }
        let pending = &mut self.pending;
        let mut waits = self
            .limits
            .as_mut()
            .and_then(|limits| limits.waits.as_mut());
        let news = self.send[slot].acknowledge(
            &mut self.requests,
            slot,
            packet.sequence,
            self.cut,
            packet.at,
            |mut request| {
                if let Some(waits) = &mut waits {
                    request.held = waits.acknowledged(slot);
                }
                done.push(request);
                *pending -= 1;
            },
        );
        if let Some(limits) = &mut self.limits {
            limits.note_acknowledged(slot, &self.send[slot]);
        }
        let window = self.window(spec, slot);
        let queue_pair = &mut self.send[slot];
        if news && packet.kind == PacketKind::Ack {
            queue_pair.naks = 0;
        }
        match (queue_pair.turn, queue_pair.may_send(window)) {
            (Turn::Out, true) => self.enter_round(slot, packet.at),
            (Turn::Out, false) => self.note_wait(slot, packet.at),
            (_, true) => {}
            // A queue pair that has gone back may learn that everything it was to resend has
            // arrived.
            (_, false) => {
                self.leave_round(slot);
                self.note_wait(slot, packet.at);
            }
        }
    }

    /// Handles a go-back-N NAK from the receiver.
    pub(super) fn on_nak(&mut self, spec: &NicSpec, packet: &Packet, done: &mut Vec<Acknowledged>) {
        let slot = packet.send_slot();
        self.counters.packet_seq_err += 1;
        // A NAK acknowledges everything before the missing packet.
        self.on_ack(spec, packet, done);
        if let Some(limits) = &mut self.limits {
            let missing = Missing::one(packet.sequence);
            limits.heard(slot, missing, PathNews::Lost, packet.at);
        }
        let cut = self.cut;
        if spec.retry_on_nak && self.use_up_retry(spec, slot, packet.at) {
            return;
        }
        self.send[slot].rewind(&mut self.requests, slot, packet.sequence, cut);
        self.join_round(spec, slot, packet.at);
    }

    /// Handles a selective NAK: the receiver requests a run of packets again.
    pub(super) fn on_selective_nak(&mut self, spec: &NicSpec, packet: &Packet) {
        self.counters.packet_seq_err += 1;
        let slot = packet.send_slot();
        let queue_pair = &mut self.send[slot];
        if let Some(limits) = &mut self.limits {
            limits.repair(slot, queue_pair, Missing::of(packet));
            limits.heard(slot, Missing::of(packet), PathNews::Lost, packet.at);
            limits.tell(slot, |congestion| congestion.lost(slot, packet.at));
        }
        self.join_round(spec, slot, packet.at);
    }

    /// Passes an acknowledgement or NAK to congestion control and to the choice of source ports.
    pub(super) fn on_feedback(&mut self, packet: &Packet) {
        if packet.has(Packet::CONGESTION_ECHO) {
            self.on_cnp(packet);
        }
        let Some(limits) = &mut self.limits else {
            return;
        };
        // With telemetry, the answer carries a record's name in place of the send time.
        let mut sent = Some(packet.sent);
        let mut hops: &[Hop] = &[];
        if let Some(in_band) = &mut limits.in_band {
            sent = in_band.take_back(packet);
            hops = &in_band.hops;
        }
        // This answer returns no record: another one does, or the host had none left when it sent
        // the packet. Without a record there is no send time either.
        let Some(sent) = sent else {
            return;
        };
        let slot = packet.send_slot();
        if let Some(ports) = &mut limits.ports {
            let marked = packet.has(Packet::ANSWERS_MARKED);
            ports.answered(slot, sent, marked, packet.at);
        }
        let Some(congestion) = &mut limits.congestion else {
            return;
        };
        let queue_pair = &self.send[slot];
        let units = ((packet.at.ps() / SENT_UNIT_PS) as u32).wrapping_sub(sent);
        let packets = packet.sequence.wrapping_sub(queue_pair.acknowledged);
        let outstanding = queue_pair.outstanding();
        // An overtaken acknowledgement lies behind the present one, which makes the difference
        // wrap.
        let packets = if packets <= outstanding { packets } else { 0 };
        let feedback = Feedback {
            now: packet.at,
            round_trip: Some(Time::from_ps(u64::from(units) * SENT_UNIT_PS)),
            marked: packet.has(Packet::CONGESTION_ECHO),
            news: u64::from(packets) * limits.full,
            in_flight: u64::from(outstanding - packets) * limits.full,
            sequence: packet.sequence,
            next_sequence: queue_pair.next_sequence,
            hops,
        };
        limits.paced.tell(congestion, slot, |congestion| {
            congestion.acknowledged(slot, &feedback);
            if packet.kind == PacketKind::Nak {
                congestion.lost(slot, packet.at);
            }
        });
    }

    /// Handles a congestion notification, in a packet of its own or in an acknowledgement.
    pub(super) fn on_cnp(&mut self, packet: &Packet) {
        self.counters.rp_cnp_handled += 1;
        let slot = packet.send_slot();
        if let Some(limits) = &mut self.limits {
            limits.tell(slot, |congestion| congestion.notified(slot, packet.at));
        }
    }

    /// Handles the reply to a connection request: the queue pair may send from now on.
    pub(super) fn on_connect_reply(&mut self, spec: &NicSpec, slot: SendSlot, now: Instant) {
        let queue_pair = &mut self.send[slot];
        // A retransmitted request may have been answered before.
        if queue_pair.connection == Connection::Requested {
            self.pending -= 1;
            queue_pair.connection = Connection::Ready;
            queue_pair.retries = 0;
            queue_pair.last_progress = now;
            self.join_round(spec, slot, now);
        }
    }
}
