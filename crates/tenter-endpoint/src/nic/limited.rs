//! Sending where more than the wire holds queue pairs back: rates, notifications, repairs, pauses
//! of one class of several.

use std::collections::VecDeque;

use tenter_engine::Ring;
use tenter_net::{ACK_FRAME_BYTES, CNP_FRAME_BYTES, Hop, Medium, Packet, PacketKind, SENT_UNIT_PS};
use tenter_units::Rate;

use super::host_memory::DmaReads;
use super::in_band::InBand;
use super::outstanding::Outstanding;
use super::signals::Held;
use super::{Directory, Nic};
use crate::congestion_control::{Congestion, Feedback};
use crate::loss_recovery::LossRecovery;
use crate::loss_recovery::selective_repeat::{Gaps, Repairs};
use crate::notification::NotificationSpec;
use crate::send::{PacketRules, SendQueuePair, Sent, Turn};
use crate::spec::{Interleave, NicSpec};
use crate::timers::Timers;

/// What a NIC has beside the round of its queue pairs. A NIC without congestion control and
/// notifications that goes back and sends in one class has none of it.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    congestion: Option<Congestion>,
    /// Packets that a queue pair may have unacknowledged whatever the congestion control says.
    window: Option<u32>,
    /// Messages under way, if there may be only so many.
    messages: Option<Outstanding>,
    /// Queue pairs that wait until their rate allows the next packet.
    paced: Timers,
    /// How senders are notified of marked packets, if they are.
    notification: Option<NotificationSpec>,
    /// Congestion notifications: sent before everything else.
    notifications: Ring<Packet>,
    repairs: Repairs,
    pub(super) gaps: Gaps,
    /// In-band telemetry, if packets carry any.
    pub(super) in_band: Option<Box<InBand>>,
    /// Host memory that is slower than the wire.
    pub(super) reads: Option<DmaReads>,
    /// Receivers that it must not send to, if signals may say so.
    pub(super) held: Option<Box<Held>>,
}

impl Limits {
    /// Everything that a queue pair has unacknowledged is about to be sent again.
    pub(super) fn timed_out(&mut self, slot: u32, now: u64) {
        if let Some(congestion) = &mut self.congestion {
            congestion.timed_out(slot, now);
        }
    }

    pub(super) fn new(
        spec: &NicSpec,
        mixed: bool,
        line: Rate,
        slots: usize,
    ) -> Option<Box<Limits>> {
        let goes_back = spec.loss_recovery == LossRecovery::GoBackN;
        let endless = spec.outstanding_messages.is_none();
        if spec.congestion_control.is_none() && goes_back && endless && !mixed {
            return None;
        }
        Some(Limits::of(spec, line, slots))
    }

    /// Of any NIC.
    pub(super) fn of(spec: &NicSpec, line: Rate, slots: usize) -> Box<Limits> {
        let mut window = spec.window_packets;
        if let LossRecovery::SelectiveRepeat(repeat) = &spec.loss_recovery {
            let own = repeat.window;
            window = Some(window.map_or(own, |window| window.min(own)));
        }
        Box::new(Limits {
            window,
            messages: spec
                .outstanding_messages
                .map(|most| Outstanding::new(most, slots)),
            congestion: spec.reacting().map(|control| {
                let payload = u64::from(spec.mtu_bytes);
                Congestion::new(control, (line, payload), slots)
            }),
            paced: Timers::new(),
            notification: spec.notification(),
            notifications: Ring::default(),
            repairs: Repairs::default(),
            gaps: Gaps::default(),
            in_band: None,
            reads: None,
            held: None,
        })
    }

    /// When host memory has the next data packet ready.
    fn read_at(&self) -> u64 {
        self.reads.as_ref().map_or(0, DmaReads::ready_at)
    }

    /// Packets that a queue pair may have unacknowledged.
    pub(super) fn window(&self, slot: u32, queue_pair: &SendQueuePair) -> Option<u32> {
        let congestion = self.congestion.as_ref();
        let messages = self.messages.as_ref();
        let of_messages = messages.map(|own| own.window(slot, queue_pair.acknowledged));
        let windows = [
            self.window,
            congestion.map(|congestion| congestion.window(slot)),
            of_messages,
        ];
        windows.into_iter().flatten().min()
    }

    /// A queue pair has heard of an acknowledgement.
    pub(super) fn note_acknowledged(&mut self, slot: u32, queue_pair: &SendQueuePair) {
        if let Some(messages) = &mut self.messages {
            messages.acknowledge(slot, queue_pair.acknowledged);
        }
    }

    /// A queue pair has put a packet on the wire that it had not sent before, or goes back over.
    fn note_data(&mut self, slot: u32, queue_pair: &SendQueuePair, sent: &Sent) {
        let begins = matches!(sent.packet.kind, PacketKind::First | PacketKind::Only);
        if let Some(messages) = self.messages.as_mut().filter(|_| begins) {
            messages.begin(slot, queue_pair.end_of_message(sent));
        }
    }

    /// Lets a queue pair wait if its rate does not allow the next packet at `now`.
    pub(super) fn holds_back(
        &mut self,
        slot: u32,
        queue_pair: &mut SendQueuePair,
        now: u64,
    ) -> bool {
        let congestion = self.congestion.as_ref();
        let ready_at = congestion.map_or(0, |congestion| congestion.ready_at(slot));
        let until = self.held_until(queue_pair);
        if ready_at > now {
            self.pace(slot, queue_pair, ready_at);
        } else if until > now {
            self.hold(slot, queue_pair, until);
        } else {
            return false;
        }
        true
    }

    /// Lets a queue pair wait until its receiver may be sent to again.
    pub(super) fn hold(&mut self, slot: u32, queue_pair: &mut SendQueuePair, until: u64) {
        queue_pair.turn = Turn::Paced;
        let held = self.held.as_mut();
        if held.is_none_or(|held| held.wait(slot, queue_pair)) {
            self.paced.push(until, slot);
        }
    }

    /// Takes out those that wait with a queue pair whose wait is over: itself, and where it is the
    /// first of those that its receiver made wait all of them; none if it must wait on.
    fn released(&mut self, slot: u32, queue_pair: &mut SendQueuePair, now: u64) -> VecDeque<u32> {
        let until = self.held_until(queue_pair);
        let held = self.held.as_mut();
        let held = held.filter(|held| held.is_first(slot, queue_pair));
        match held {
            Some(_) if until > now => self.paced.push(until, slot),
            Some(held) => return held.take(queue_pair),
            None if until > now => self.hold(slot, queue_pair, until),
            None => return VecDeque::from([slot]),
        }
        VecDeque::new()
    }

    /// Until when the receiver of a queue pair must not be sent to; in the past when it may.
    fn held_until(&self, queue_pair: &SendQueuePair) -> u64 {
        let held = self.held.as_ref();
        held.map_or(0, |held| held.until(queue_pair))
    }

    pub(super) fn pace(&mut self, slot: u32, queue_pair: &mut SendQueuePair, ready_at: u64) {
        queue_pair.turn = Turn::Paced;
        self.paced.push(ready_at, slot);
    }

    /// The packets `from..to` of a queue pair are to be sent again.
    pub(super) fn repair(&mut self, slot: u32, queue_pair: &mut SendQueuePair, range: (u32, u32)) {
        queue_pair.repairs = true;
        self.repairs.add(slot, range);
    }
}

/// Puts a queue pair whose wait is over into the round, if it has anything to send.
fn join(round: &mut Ring<u32>, slot: u32, queue_pair: &mut SendQueuePair, window: Option<u32>) {
    if queue_pair.may_send(window) {
        queue_pair.turn = Turn::InRound;
        round.push(slot);
    } else {
        queue_pair.turn = Turn::Out;
    }
}

impl Nic {
    /// As [`Nic::next_departure`].
    pub(super) fn next_departure_limited(&self, limits: &Limits, now: u64) -> Option<u64> {
        let paused = |class: u8| self.pauses.until(class);
        let data = if self.classes.is_mixed() {
            self.next_of_classes(limits, now)
        } else if self.round.is_empty() {
            limits.paced.next_at().max(paused(self.classes.data))
        } else {
            paused(self.classes.data)
        };
        let data = data.max(limits.read_at());
        let waits = !self.round.is_empty() || limits.paced.next_at() != u64::MAX;
        let data = waits.then_some(data);
        let control = (!self.control.is_empty()).then(|| paused(self.classes.control));
        let waits = !limits.notifications.is_empty();
        let notification = waits.then(|| paused(self.classes.notification));
        let earliest = [data, control, notification].into_iter().flatten().min()?;
        Some(earliest.max(self.transmitter.free_at()).max(now))
    }

    /// When pauses and rates let the first queue pair send, where they differ in class; nothing
    /// less than `now` matters.
    fn next_of_classes(&self, limits: &Limits, now: u64) -> u64 {
        let all_data = self.classes.all_data;
        let classes = (0..8).filter(|class| all_data & (1 << class) != 0);
        let until = classes.map(|class| self.pauses.until(class));
        let (first, last) = until.fold((u64::MAX, 0), |(first, last), until| {
            (until.min(first), until.max(last))
        });
        // Mostly nothing is paused; then the round need not be looked through.
        let of_round = if last <= now && !self.round.is_empty() {
            now
        } else {
            let classes = self
                .round
                .iter()
                .map(|&slot| self.send[slot as usize].class);
            classes
                .map(|class| self.pauses.until(class))
                .min()
                .unwrap_or(u64::MAX)
        };
        // Whose turn it is among those that wait is seen when they join the round.
        of_round.min(limits.paced.next_at().max(first))
    }

    /// The queue pair whose turn it is: those of a paused class go to the end of the round.
    fn next_in_round(&mut self, now: u64) -> Option<u32> {
        if !self.classes.is_mixed() {
            return self.round.front().copied();
        }
        for _ in 0..self.round.len() {
            let slot = *self.round.front()?;
            if self.pauses.until(self.send[slot as usize].class) <= now {
                return Some(slot);
            }
            self.round.pop();
            self.round.push(slot);
        }
        None
    }

    /// As [`Nic::depart`]: notifications before control packets, and these before data.
    #[inline(never)]
    pub(super) fn depart_limited(&mut self, spec: &NicSpec, now: u64, medium: &mut impl Medium) {
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
        let next = if self.send[slot as usize].repairs {
            self.next_repair(spec, slot, now)
        } else {
            None
        };
        let window = self.window(spec, slot);
        let mut sent = match next {
            Some(sent) => sent,
            None if self.send[slot as usize].has_packet(window) => {
                let sent = self.next_data(spec, slot, now);
                if let Some(limits) = &mut self.limits {
                    limits.note_data(slot, &self.send[slot as usize], &sent);
                }
                sent
            }
            None => {
                // What it was to send again has arrived meanwhile.
                self.send[slot as usize].turn = Turn::Out;
                self.round.pop();
                return;
            }
        };
        self.begin_record(&mut sent.packet);
        let armed = self.send[slot as usize].timer_armed;
        self.put_other(&sent.packet, now, medium);
        let reads = self.limits.as_mut().and_then(|own| own.reads.as_mut());
        if let Some(reads) = reads {
            reads.sent(&sent.packet, now);
        }
        let goes_on = !sent.ends_message && spec.interleave == Interleave::Message;
        self.take_turn(slot, (sent.packet.frame_bytes, now), goes_on);
        if !armed {
            self.arm(spec, slot, now);
        }
        if sent.ends_message {
            self.end_message(spec);
        }
    }

    /// Says where a queue pair that has just sent a packet goes: to the end of the round unless its
    /// turn goes on, to those that wait, or away.
    fn take_turn(&mut self, slot: u32, (frame_bytes, now): (u16, u64), goes_on: bool) {
        let Some(limits) = &mut self.limits else {
            return;
        };
        let congestion = limits.congestion.as_mut();
        let ready_at = congestion.map_or(0, |congestion| congestion.sent(slot, frame_bytes, now));
        let queue_pair = &mut self.send[slot as usize];
        let window = limits.window(slot, queue_pair);
        let waits = ready_at > self.transmitter.free_at();
        if waits {
            // Slow queue pairs hear seldom from the other side: the timeout counts from here.
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
        }
    }

    /// Sends the first notification that waits, if its class may send; whether it did.
    fn depart_notification(&mut self, now: u64, medium: &mut impl Medium) -> bool {
        if self.pauses.until(self.classes.notification) > now {
            return false;
        }
        let waiting = self.limits.as_mut();
        let Some(mut packet) = waiting.and_then(|limits| limits.notifications.pop()) else {
            return false;
        };
        packet.sent = (now / SENT_UNIT_PS) as u32;
        packet.flags |= Packet::class_flags(self.classes.notification);
        self.put_other(&packet, now, medium);
        true
    }

    /// Puts those into the round whose rates allow the next packet at `now`.
    fn end_waits(&mut self, now: u64) {
        let Some(limits) = &mut self.limits else {
            return;
        };
        while limits.paced.next_at() <= now {
            let Some(slot) = limits.paced.pop() else {
                return;
            };
            if limits.held.is_none() {
                let queue_pair = &mut self.send[slot as usize];
                let window = limits.window(slot, queue_pair);
                join(&mut self.round, slot, queue_pair, window);
                continue;
            }
            for slot in limits.released(slot, &mut self.send[slot as usize], now) {
                let queue_pair = &mut self.send[slot as usize];
                let window = limits.window(slot, queue_pair);
                join(&mut self.round, slot, queue_pair, window);
            }
        }
    }

    /// What a queue pair has to send again: a data packet, or word that there is nothing more.
    fn next_repair(&mut self, spec: &NicSpec, slot: u32, now: u64) -> Option<Sent> {
        let limits = self.limits.as_mut()?;
        let queue_pair = &mut self.send[slot as usize];
        let data = Packet::class_flags(queue_pair.class);
        if spec.loss_recovery == LossRecovery::None {
            queue_pair.repairs = false;
            let mut packet = queue_pair.control(PacketKind::EndOfData, ACK_FRAME_BYTES);
            packet.sequence = queue_pair.next_sequence;
            packet.sent = (now / SENT_UNIT_PS) as u32;
            packet.flags |= data;
            return Some(Sent {
                packet,
                ends_message: false,
                repeats: false,
            });
        }
        let unacknowledged = (queue_pair.acknowledged, queue_pair.outstanding());
        let Some(sequence) = limits.repairs.next(slot, unacknowledged) else {
            queue_pair.repairs = false;
            return None;
        };
        let rules = PacketRules {
            acknowledge: spec.acknowledge,
            cut: &self.cut,
            entropy: self.entropy.as_deref(),
        };
        let mut sent = queue_pair.packet_again(&mut self.requests, (slot, sequence), rules, now);
        sent.packet.flags |= data | Packet::ECN_CAPABLE;
        if queue_pair.retries > 0 {
            // What the receiver has asked for since has been lost, or its question.
            sent.packet.flags |= Packet::REPORT_REQUEST;
        }
        self.counters.retransmitted_packets += u64::from(sent.repeats);
        Some(sent)
    }

    /// Counts a marked packet, and tells its sender unless that has been told a short time ago.
    #[inline(never)]
    pub(super) fn on_mark(&mut self, packet: &Packet, directory: &impl Directory) {
        self.counters.marked_packets += 1;
        let path = self.reply_path(packet.queue_pair, directory);
        let marked = self.marks.count(packet.queue_pair, self.receive.len());
        let Some(limits) = &mut self.limits else {
            return;
        };
        let Some(notification) = limits.notification else {
            return;
        };
        if packet.at < marked.next_notification {
            return;
        }
        marked.next_notification = packet.at + notification.interval.ps();
        marked.since_delivery.notifications += 1;
        self.counters.np_cnp_sent += 1;
        if notification.in_acknowledgements {
            marked.echoes = true;
            return;
        }
        limits.notifications.push(Packet {
            at: 0,
            queue_pair: path.slot,
            sequence: 0,
            destination: path.destination,
            hash: path.hash,
            sent: 0,
            frame_bytes: CNP_FRAME_BYTES,
            kind: PacketKind::Cnp,
            flags: 0,
        });
    }

    /// A notification has arrived, by itself or in an acknowledgement.
    pub(super) fn on_cnp(&mut self, packet: &Packet) {
        self.counters.rp_cnp_handled += 1;
        let limits = self.limits.as_mut();
        if let Some(congestion) = limits.and_then(|limits| limits.congestion.as_mut()) {
            congestion.notified(packet.queue_pair, packet.at);
        }
    }

    /// Hands what an acknowledgement or a NAK says about the network to the congestion control.
    pub(super) fn on_feedback(&mut self, packet: &Packet) {
        if packet.has(Packet::CONGESTION_ECHO) {
            self.on_cnp(packet);
        }
        let Some(limits) = &mut self.limits else {
            return;
        };
        let Some(congestion) = &mut limits.congestion else {
            return;
        };
        let mut sent = Some(packet.sent);
        let mut hops: &[Hop] = &[];
        if let Some(in_band) = &mut limits.in_band {
            sent = in_band.take_back(packet.sent);
            hops = &in_band.hops;
        }
        let Some(sent) = sent else {
            return;
        };
        let slot = packet.queue_pair;
        let queue_pair = &self.send[slot as usize];
        let units = ((packet.at / SENT_UNIT_PS) as u32).wrapping_sub(sent);
        let packets = packet.sequence.wrapping_sub(queue_pair.acknowledged);
        let news = packets <= queue_pair.outstanding();
        let feedback = Feedback {
            now: packet.at,
            round_trip: u64::from(units) * SENT_UNIT_PS,
            packets: if news { packets } else { 0 },
            sequence: packet.sequence,
            next_sequence: queue_pair.next_sequence,
            hops,
        };
        congestion.acknowledged(slot, &feedback);
        if packet.kind == PacketKind::Nak {
            congestion.lost(slot, packet.at);
        }
    }

    /// A receiver asks for some packets again.
    pub(super) fn on_selective_nak(&mut self, spec: &NicSpec, packet: &Packet) {
        self.counters.packet_seq_err += 1;
        let slot = packet.queue_pair;
        let queue_pair = &mut self.send[slot as usize];
        if let Some(limits) = &mut self.limits {
            limits.repair(slot, queue_pair, (packet.sequence, packet.sent));
            if let Some(congestion) = &mut limits.congestion {
                congestion.lost(slot, packet.at);
            }
        }
        self.join_round(spec, slot, packet.at);
    }
}
