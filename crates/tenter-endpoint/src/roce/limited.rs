//! Departures with limits: rates, notifications, retransmissions, or pauses that stop one class and
//! not another.

use tenter_engine::Ring;
use tenter_fabric::net::{ACK_FRAME_BYTES, Medium, Packet, PacketKind, SENT_UNIT_PS, SendSlot};
use tenter_language::units::Instant;

use super::RoceNic;
use super::limits::Limits;
use crate::loss_recovery::LossRecovery;
use crate::nic::port::Wire;
use crate::pauses::Pauses;
use crate::send::{PacketRules, SendQueuePair, Sent, Turn};
use crate::spec::NicSpec;

/// Puts a queue pair whose wait is over into the round if it has a packet to send.
fn join(
    round: &mut Ring<SendSlot>,
    slot: SendSlot,
    queue_pair: &mut SendQueuePair,
    window: Option<u32>,
) {
    if queue_pair.may_send(window) {
        queue_pair.turn = Turn::InRound;
        round.push(slot);
    } else {
        queue_pair.turn = Turn::Out;
    }
}

impl RoceNic {
    /// Returns the earliest instant for the next frame, as [`RoceNic::next_departure_by`] does.
    pub(super) fn next_departure_limited(
        &self,
        limits: &Limits,
        wire: Wire<'_>,
        now: Instant,
    ) -> Option<Instant> {
        let paused = |class: u8| wire.pauses.until(class);
        let paced = limits.paced.next_at();
        // A queue pair in the round may send as soon as its class may. If all are paced, the first
        // of them decides.
        let data = if self.round.is_empty() && paced.is_never() {
            Instant::NEVER
        } else if self.classes.is_mixed() {
            self.next_of_classes(limits, wire.pauses, now)
        } else if self.round.is_empty() {
            paced.max(paused(self.classes.data))
        } else {
            paused(self.classes.data)
        };
        // Only data are read from host memory; acknowledgements and notifications need not wait for
        // it.
        let mut earliest = data.max(limits.read_at());
        if !self.control.is_empty() {
            earliest = earliest.min(paused(self.classes.control));
        }
        if !limits.notifications.is_empty() {
            earliest = earliest.min(paused(self.classes.notification));
        }
        if earliest.is_never() {
            return None;
        }
        Some(earliest.max(wire.free_at).max(now))
    }

    /// Returns the instant at which pauses and rates let the first queue pair send, if queue pairs
    /// differ in class. Only instants after `now` need to be exact.
    fn next_of_classes(&self, limits: &Limits, pauses: &Pauses, now: Instant) -> Instant {
        let all_data = self.classes.all_data;
        let classes = (0..8).filter(|class| all_data & (1 << class) != 0);
        let until = classes.map(|class| pauses.until(class));
        let (first, last) = until.fold((Instant::NEVER, Instant::START), |(first, last), until| {
            (until.min(first), until.max(last))
        });
        // Mostly nothing is paused: then the round need not be searched.
        let of_round = if last <= now && !self.round.is_empty() {
            now
        } else {
            let classes = self.round.iter().map(|&slot| self.send[slot].class);
            classes
                .map(|class| pauses.until(class))
                .min()
                .unwrap_or(Instant::NEVER)
        };
        // The class of those that wait for their rate is looked at only when they join the round.
        // The bound may be too early, which costs a visit in vain.
        of_round.min(limits.paced.next_at().max(first))
    }

    /// Returns the queue pair whose turn it is. Queue pairs whose class is paused go to the round's
    /// end.
    fn next_in_round(&mut self, now: Instant) -> Option<SendSlot> {
        if !self.classes.is_mixed() {
            return self.round.front().copied();
        }
        for _ in 0..self.round.len() {
            let slot = *self.round.front()?;
            if self.pauses.until(self.send[slot].class) <= now {
                return Some(slot);
            }
            self.round.pop();
            self.round.push(slot);
        }
        None
    }

    /// Sends one frame like [`RoceNic::depart`]: notifications first, then control packets, then
    /// data.
    #[inline(never)]
    pub(super) fn depart_limited(
        &mut self,
        spec: &NicSpec,
        now: Instant,
        medium: &mut impl Medium,
    ) {
        // The idle clock must stop before the frame occupies the wire.
        self.note_departure(now);
        if self.depart_notification(now, medium) {
            return;
        }
        if !self.control.is_empty() && self.pauses.until(self.classes.control) <= now {
            self.depart_control(now, medium);
            return;
        }
        self.end_waits(now);
        let Some(slot) = self.next_in_round(now) else {
            return;
        };
        let next = if self.send[slot].repairs {
            self.next_repair(spec, slot, now)
        } else {
            None
        };
        let window = self.window(spec, slot);
        let mut sent = match next {
            Some(sent) => sent,
            None if self.send[slot].has_packet(window) => {
                self.note_sends(slot, now);
                let sent = self.next_data(spec, slot, now);
                if let Some(limits) = &mut self.limits {
                    limits.note_data(slot, &self.send[slot], &sent);
                }
                sent
            }
            None => {
                // Everything that was to be resent has been acknowledged meanwhile.
                self.send[slot].turn = Turn::Out;
                self.round.pop();
                return;
            }
        };
        // The source port is chosen after the packet is made and before its record is: the record
        // takes the place of the send time, by which port choices know the packet.
        if let Some(limits) = &mut self.limits {
            limits.leaves(slot, &mut sent.packet);
        }
        self.begin_record(&mut sent.packet);
        let armed = self.send[slot].timer_armed;
        self.put_other(&sent.packet, now, medium);
        let reads = self.limits.as_mut().and_then(|own| own.reads.as_mut());
        if let Some(reads) = reads {
            reads.sent(&sent.packet, now);
        }
        let goes_on = self.turn_goes_on(spec, slot, &sent);
        self.take_turn(slot, sent.packet.frame_bytes, now, goes_on);
        if !armed {
            self.arm(spec, slot, now);
        }
        if sent.ends_message {
            self.end_message(spec);
        }
    }

    /// Moves a queue pair that has just sent a packet: to the end of the round unless its turn goes
    /// on, to those that wait for their rate, or out.
    fn take_turn(&mut self, slot: SendSlot, frame_bytes: u16, now: Instant, goes_on: bool) {
        let Some(limits) = &mut self.limits else {
            return;
        };
        let congestion = limits.congestion.as_mut();
        let ready_at = congestion.map(|congestion| congestion.sent(slot, frame_bytes, now));
        let ready_at = ready_at.unwrap_or(Instant::START);
        let queue_pair = &mut self.send[slot];
        let window = limits.window(slot, queue_pair);
        let free_at = self.transmitter.free_at().min(limits.other_ports_free_at);
        let waits = ready_at > free_at;
        if waits {
            // A queue pair with a low rate rarely receives anything. Its timeout counts from its
            // last packet, or waiting for the rate would count as a loss.
            queue_pair.last_progress = now;
        }
        if goes_on && !waits && queue_pair.has_packet(window) {
            return;
        }
        self.round.pop();
        if !queue_pair.has_packet(window) {
            queue_pair.turn = Turn::Out;
        } else if waits {
            limits.pace(slot, queue_pair, ready_at);
        } else {
            self.round.push(slot);
            return;
        }
        if !limits.stays_held(slot, queue_pair) {
            self.note_wait(slot, now);
        }
    }

    /// Sends the first waiting notification if its class may send, and returns true if it did.
    fn depart_notification(&mut self, now: Instant, medium: &mut impl Medium) -> bool {
        if self.pauses.until(self.classes.notification) > now {
            return false;
        }
        let waiting = self.limits.as_mut();
        let Some(mut packet) = waiting.and_then(|limits| limits.notifications.pop()) else {
            return false;
        };
        packet.sent = (now.ps() / SENT_UNIT_PS) as u32;
        packet.flags |= Packet::class_flags(self.classes.notification);
        self.put_other(&packet, now, medium);
        true
    }

    /// Puts queue pairs into the round whose rate allows the next packet at `now`.
    fn end_waits(&mut self, now: Instant) {
        while let Some(limits) = &mut self.limits
            && limits.paced.next_at() <= now
            && let Some(slot) = limits.paced.pop()
        {
            // Without congestion signals, a queue pair whose time has come may send: no further
            // check.
            if limits.held.is_none() {
                let queue_pair = &mut self.send[slot];
                let window = limits.window(slot, queue_pair);
                join(&mut self.round, slot, queue_pair, window);
                if queue_pair.turn == Turn::Out {
                    self.note_wait(slot, now);
                }
                continue;
            }
            let released = limits.released(slot, &mut self.send[slot], now);
            for &slot in &released {
                let queue_pair = &mut self.send[slot];
                let window = limits.window(slot, queue_pair);
                join(&mut self.round, slot, queue_pair, window);
            }
            self.note_wait(slot, now);
            for slot in released {
                self.note_wait(slot, now);
            }
        }
    }

    /// Returns the next packet to resend, or the report that no more data follows. Returns `None`
    /// if nothing is left to resend.
    fn next_repair(&mut self, spec: &NicSpec, slot: SendSlot, now: Instant) -> Option<Sent> {
        let limits = self.limits.as_mut()?;
        let queue_pair = &mut self.send[slot];
        let data = Packet::class_flags(queue_pair.class);
        // Without loss recovery the sender resends nothing and reports the end of its sent data
        // instead.
        if spec.loss_recovery == LossRecovery::None {
            queue_pair.repairs = false;
            let mut packet = queue_pair.control(PacketKind::EndOfData, ACK_FRAME_BYTES);
            packet.sequence = queue_pair.next_sequence;
            packet.sent = (now.ps() / SENT_UNIT_PS) as u32;
            packet.flags |= data;
            return Some(Sent {
                packet,
                ends_message: false,
                repeats: false,
            });
        }
        let (acknowledged, outstanding) = (queue_pair.acknowledged, queue_pair.outstanding());
        let Some(sequence) = limits.repairs.next(slot, acknowledged, outstanding) else {
            queue_pair.repairs = false;
            return None;
        };
        let rules = PacketRules {
            acknowledge: &spec.acknowledge,
            cut: &self.cut,
            entropy: &self.entropy,
        };
        let mut sent = queue_pair.packet_again(&mut self.requests, slot, sequence, rules, now);
        sent.packet.flags |= data | Packet::ECN_CAPABLE;
        if queue_pair.retries > 0 {
            // After a timeout the receiver's requests have been lost, or it made none: ask for the
            // list of missing packets.
            sent.packet.flags |= Packet::REPORT_REQUEST;
        }
        self.counters.retransmitted_packets += u64::from(sent.repeats);
        Some(sent)
    }
}
