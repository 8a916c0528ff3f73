//! A connection's timeouts: overdue packets are resent, lacking credit is requested, and a sender
//! without progress gives up.

use tenter_fabric::net::{Packet, PacketKind};
use tenter_language::units::{Instant, Time};

use super::{Expiry, Record, Rules, Sender, State};
use crate::entropy::PathNews;
use crate::send::Connection;
use crate::ultra_ethernet::cut::on_wire;

/// Timeouts without a grant after which a sender with nothing in flight asks for credit.
const PATIENCE: u64 = 16;

impl Sender {
    /// Returns the oldest packet in flight, with the instant from which its timeout counts.
    fn oldest(&mut self, rules: &Rules) -> Option<(Instant, u32)> {
        let mut repeated = None;
        while let Some(&(sent, number)) = self.repeats.front() {
            let record = self.record(number);
            if record.is_some_and(|of| of.state == State::UnderWay && of.sent == sent) {
                repeated = Some((sent, number));
                break;
            }
            self.repeats.pop_front();
        }
        // Packets sent once were sent in the order of their numbers, so the first is the oldest.
        let is_once = |of: &Record| of.state == State::UnderWay && of.sends == 1;
        let once = self.records.iter().position(is_once).map(|place| {
            let number = self.acknowledged.wrapping_add(place as u32);
            (self.waited_since(place, number, rules), number)
        });
        match (repeated, once) {
            (Some(repeated), Some(once)) => Some(repeated.min(once)),
            (repeated, once) => repeated.or(once),
        }
    }

    /// Returns the instant from which an answer is due to the packet at `place`, which was sent
    /// once. An answer is due from when the first packet from there on left that asked for one, or
    /// that completed `acknowledge_after` bytes.
    ///
    /// Before that a sender that waits for its turn among many connections is owed nothing: its
    /// packets may have arrived and stay unanswered. It then returns [`Instant::NEVER`].
    fn waited_since(&self, place: usize, number: u32, rules: &Rules) -> Instant {
        let sent = |place: usize| self.records.get(place).map(|record| record.sent);
        let together = sent(place + rules.answered_together as usize - 1);
        let ahead = |asked: &u32| asked.wrapping_sub(number) as usize;
        let mut asked = self.asked.iter().map(ahead);
        let asked = asked.find(|&ahead| ahead < self.records.len());
        let asked = asked.and_then(|ahead| sent(place + ahead));
        let usual = if self.in_round {
            Instant::NEVER
        } else {
            self.records[place].sent
        };
        match (together, asked) {
            (Some(together), Some(asked)) => together.min(asked),
            (together, asked) => together.or(asked).unwrap_or(usual),
        }
    }

    /// Handles a retransmission timer at `now`; `is_up` is set if the link is up.
    pub(in crate::ultra_ethernet) fn expire(
        &mut self,
        rules: &Rules,
        is_up: bool,
        now: Instant,
    ) -> Expiry {
        if !self.is_busy() || self.connection != Connection::Ready {
            return Expiry::Idle;
        }
        // A connection that only waits for its turn on a working link makes no progress through no
        // fault of the network.
        let waits_for_turn = self.in_round && is_up && self.records.is_empty();
        let gives_up = self.last_progress + rules.network.spec.give_up_after;
        // This comes first, because packets that are resent again and again are never overdue.
        if now >= gives_up && !waits_for_turn {
            return Expiry::GivesUp;
        }
        let Some((since, number)) = self.oldest(rules) else {
            return self.expire_idle(rules, now);
        };
        if since.is_never() {
            return Expiry::Later(now + rules.timeout);
        }
        let due = since + rules.timeout;
        if due > now {
            return Expiry::Later(due);
        }
        if let Some(record) = self.lose(number) {
            self.entropy.hear(record.path(), PathNews::TimedOut, now);
            if let Some(flow) = &mut self.flow {
                let bytes = on_wire(record.frame_bytes);
                rules.control.timed_out(flow, &rules.link, bytes);
            }
        }
        self.end_presumption(rules, now);
        // Packets that are owed no answer yet count from now on.
        let next = self.oldest(rules).map_or(now, |(since, _)| since.min(now));
        Expiry::Repeats {
            next: (next + rules.timeout).max(now + Time::LEAST),
            asks: self.may_ask(rules, now),
        }
    }

    /// Handles a timer with nothing in flight: the connection waits for its turn, or for credit
    /// whose grant may have been lost.
    fn expire_idle(&mut self, rules: &Rules, now: Instant) -> Expiry {
        let has_packet = self.has_packet();
        let Some(credit) = &mut self.credit else {
            return Expiry::Later(now + rules.timeout);
        };
        if credit.bytes > 0 || !has_packet {
            return Expiry::Later(now + rules.timeout);
        }
        let patience = rules.timeout * PATIENCE;
        let heard = credit.heard.max(credit.asked).max(self.last_progress);
        if heard + patience > now {
            return Expiry::Later(heard + patience);
        }
        credit.asked = now;
        Expiry::Asks {
            next: now + patience,
        }
    }

    /// Returns true, and notes the request, if credit is lacking and was not requested within a
    /// round trip.
    fn may_ask(&mut self, rules: &Rules, now: Instant) -> bool {
        let Some(credit) = &mut self.credit else {
            return false;
        };
        let lately = now.saturating_since(credit.asked) < rules.link.round_trip;
        if credit.bytes > 0 || (lately && credit.asked > Instant::START) {
            return false;
        }
        credit.asked = now;
        true
    }

    /// Makes a request for credit.
    pub(in crate::ultra_ethernet) fn request(&mut self, rules: &Rules, active: u64) -> Packet {
        let entropy = self.entropy.next(0, &mut self.random).value;
        let target = self.pull_target(rules, active);
        self.packet(PacketKind::RequestToSend, entropy, target, rules)
    }
}
