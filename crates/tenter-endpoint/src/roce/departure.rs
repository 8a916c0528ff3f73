//! Departures without limits: nothing but the wire and pauses holds queue pairs back.

use tenter_fabric::net::{Medium, Packet, PacketKind, SENT_UNIT_PS, SendSlot};
use tenter_language::units::Instant;

use super::RoceNic;
use crate::nic::port::Wire;
use crate::send::{PacketRules, Sent, Turn};
use crate::spec::{Interleave, NicSpec};

impl RoceNic {
    /// Returns the earliest instant, not before `now`, at which the next frame can leave, or `None`
    /// if there is nothing to send.
    #[inline]
    pub(crate) fn next_departure(&self, now: Instant) -> Option<Instant> {
        let wire = Wire {
            free_at: self.transmitter.free_at(),
            pauses: &self.pauses,
        };
        self.next_departure_by(wire, now)
    }

    /// Returns the same for any port of the NIC.
    #[inline]
    pub(crate) fn next_departure_by(&self, wire: Wire<'_>, now: Instant) -> Option<Instant> {
        if let Some(limits) = &self.limits {
            return self.next_departure_limited(limits, wire, now);
        }
        let free_at = wire.free_at.max(now);
        let data = (!self.round.is_empty()).then(|| wire.pauses.until(self.classes.data));
        let control = (!self.control.is_empty()).then(|| wire.pauses.until(self.classes.control));
        let earliest = match (data, control) {
            (Some(data), Some(control)) => data.min(control),
            (data, control) => data.or(control)?,
        };
        Some(earliest.max(free_at))
    }

    /// Sends one frame, whose first bit leaves at `now`.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a two-hundredth of it"
    )]
    #[inline(always)]
    pub(crate) fn depart(&mut self, spec: &NicSpec, now: Instant, medium: &mut impl Medium) {
        if self.limits.is_some() {
            self.depart_limited(spec, now, medium);
            return;
        }
        if !self.control.is_empty() && self.pauses.until(self.classes.control) <= now {
            self.depart_control(now, medium);
            return;
        }
        let Some(&slot) = self.round.front() else {
            return;
        };
        let sent = self.next_data(spec, slot, now);
        // Interleaving by packet is the default: the turn passes on without a call.
        let goes_on = spec.interleave != Interleave::Packet && self.turn_goes_on(spec, slot, &sent);
        let queue_pair = &mut self.send[slot];
        let armed = queue_pair.timer_armed;
        if !queue_pair.has_packet(spec.window_packets) {
            queue_pair.turn = Turn::Out;
            self.round.pop();
        // With a single queue pair in the round, moving it to the end would change nothing.
        } else if !goes_on && self.round.len() > 1 {
            self.round.pop();
            self.round.push(slot);
        }
        // A running timer is not set anew: when it fires it looks at `last_progress`.
        if !armed {
            self.arm(spec, slot, now);
        }
        self.put(&sent.packet, now, medium);
        if sent.ends_message {
            self.end_message(spec);
        }
    }

    /// Makes the next data packet of a queue pair, whose first bit leaves at `now`.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a hundredth of it"
    )]
    #[inline(always)]
    pub(super) fn next_data(&mut self, spec: &NicSpec, slot: SendSlot, now: Instant) -> Sent {
        let queue_pair = &mut self.send[slot];
        // The timeout counts from the first packet in flight, not from the last acknowledgement,
        // which may be long ago.
        if queue_pair.outstanding() == 0 {
            queue_pair.last_progress = now;
        }
        let rules = PacketRules {
            acknowledge: &spec.acknowledge,
            cut: &self.cut,
            entropy: &self.entropy,
        };
        let mut sent = queue_pair.next_packet(&mut self.requests, slot, rules, now);
        sent.packet.flags |= Packet::class_flags(queue_pair.class) | Packet::ECN_CAPABLE;
        self.counters.retransmitted_packets += u64::from(sent.repeats);
        sent
    }

    /// Sends the first waiting acknowledgement or connection set-up.
    #[inline(never)]
    pub(super) fn depart_control(&mut self, now: Instant, medium: &mut impl Medium) {
        if let Some(mut packet) = self.control.pop() {
            let answers = matches!(
                packet.kind,
                PacketKind::Ack | PacketKind::Nak | PacketKind::SelectiveNak
            );
            // In answers this field means something else: the send time of the answered packet, or
            // the end of a requested run.
            if !answers {
                packet.sent = (now.ps() / SENT_UNIT_PS) as u32;
            }
            packet.flags |= Packet::class_flags(self.classes.control);
            self.put(&packet, now, medium);
        }
    }

    /// Keeps the wire idle for `message_gap` after the last packet of a message.
    #[inline(never)]
    pub(super) fn end_message(&mut self, spec: &NicSpec) {
        let end = self.transmitter.free_at();
        self.transmitter.pause_for(spec.message_gap);
        // The end without the gap is kept apart, as reports state when the last frame left.
        self.message_end = (end, self.transmitter.free_at());
    }

    /// Puts a frame onto the wire at `now`.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a fifth of it"
    )]
    #[inline(always)]
    pub(super) fn put(&mut self, packet: &Packet, now: Instant, medium: &mut impl Medium) {
        self.transmitter.transmit(packet, now, medium);
        // Credit is one of the features; without any there is nothing to charge.
        if !self.features.are_none() {
            self.spend(packet.class(), packet.frame_bytes, now);
        }
    }

    /// Puts a frame onto the wire like [`RoceNic::put`], out of line for all frames but data.
    #[inline(never)]
    pub(super) fn put_other(&mut self, packet: &Packet, now: Instant, medium: &mut impl Medium) {
        self.put(packet, now, medium);
    }
}
