//! The round: the queue pairs that may send, in the order of their turns.

use super::RoceNic;
use crate::send::{Sent, Turn};
use crate::spec::{Interleave, NicSpec};
use tenter_fabric::net::SendSlot;
use tenter_language::units::Instant;

impl RoceNic {
    /// Returns the most packets that a queue pair may have unacknowledged.
    pub(super) fn window(&self, spec: &NicSpec, slot: SendSlot) -> Option<u32> {
        match &self.limits {
            None => spec.window_packets,
            Some(limits) => limits.window(slot, &self.send[slot]),
        }
    }

    /// Appends a queue pair that may send to the round, or makes it wait until its rate allows the
    /// next packet. One that may not send stays out.
    pub(super) fn join_round(&mut self, spec: &NicSpec, slot: SendSlot, now: Instant) {
        let window = self.window(spec, slot);
        let queue_pair = &self.send[slot];
        if queue_pair.turn == Turn::Out && queue_pair.may_send(window) {
            self.enter_round(slot, now);
        } else {
            self.note_wait(slot, now);
        }
    }

    /// Appends a queue pair that may send and is outside the round, or makes it wait for its rate.
    pub(super) fn enter_round(&mut self, slot: SendSlot, now: Instant) {
        let queue_pair = &mut self.send[slot];
        queue_pair.turn = Turn::InRound;
        if let Some(limits) = &mut self.limits
            && limits.holds_back(slot, queue_pair, now)
        {
            self.note_wait(slot, now);
            return;
        }
        self.round.push(slot);
    }

    /// Counts a packet in the turn of its queue pair, and returns true if the turn goes on.
    pub(super) fn turn_goes_on(&mut self, spec: &NicSpec, slot: SendSlot, sent: &Sent) -> bool {
        match spec.interleave {
            Interleave::Packet => false,
            Interleave::Message => !sent.ends_message,
            Interleave::Burst(bytes) => {
                // The bytes of an earlier turn count only if no other queue pair had one since.
                let before = self.turn.filter(|(of, _)| *of == slot);
                let sent = before.map_or(0, |(_, sent)| sent) + u64::from(sent.packet.frame_bytes);
                self.turn = (sent < bytes.count()).then_some((slot, sent));
                self.turn.is_some()
            }
        }
    }

    /// Takes a queue pair out of the round, at whatever position. One that waits for its rate stays
    /// among those that wait, and is passed over when its time has come.
    pub(super) fn leave_round(&mut self, slot: SendSlot) {
        if self.send[slot].turn == Turn::Paced {
            return;
        }
        self.send[slot].turn = Turn::Out;
        for _ in 0..self.round.len() {
            if let Some(other) = self.round.pop().filter(|other| *other != slot) {
                self.round.push(other);
            }
        }
    }
}
