//! Senders: the end of a connection that sends data, within a window, credit or both.

mod losses;
mod timeouts;

use std::collections::VecDeque;
use std::sync::Arc;

use tenter_engine::{prefetch, values_per_line};
use tenter_fabric::net::{Packet, PacketKind, PullTarget, SENT_UNIT_PS, SendSlot};
use tenter_language::units::{Instant, Time};

use super::acknowledgement::Report;
use super::bits::Bits;
use super::cut::{Cut, on_wire};
use super::network::Network;
use super::recovery::Sleek;
use super::requests::Requests;
use super::spec::LossDetection;
use crate::congestion_control::{
    CreditRules, Feedback, Flow, Link, QUANTUM_BYTES, Trim, UetControl,
};
use crate::entropy::{Choices, PathNews, Sent, SplitMix};
use crate::nic::held_by_rate::Waits;
use crate::send::{Acknowledged, Connection, SendPeer, WorkRequest};

/// Rules and facts that all connections at a NIC share.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) network: Arc<Network>,
    pub(super) cut: Cut,
    pub(super) link: Link,
    /// Congestion control, with its parameters for this link.
    pub(super) control: UetControl,
    pub(super) credit: Option<CreditRules>,
    pub(super) timeout: Time,
    /// Full packets after which a receiver acknowledges without being asked.
    pub(super) answered_together: u32,
    /// Planes over which a connection's packets are sprayed.
    pub(super) planes: u16,
}

/// A packet's outcome so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    /// The packet must be resent.
    Lost,
    Arrived,
}

/// A packet at or beyond the first unacknowledged one.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Instant at which the latest transmission left.
    sent: Instant,
    entropy: u16,
    plane: u8,
    frame_bytes: u16,
    state: State,
    /// Transmissions so far, counted up to 255.
    sends: u8,
    ends_request: bool,
}

const _: () = assert!(size_of::<Record>() == 16);

impl Record {
    /// Returns the path that the latest transmission took.
    fn path(&self) -> Sent {
        Sent {
            value: self.entropy,
            plane: self.plane,
        }
    }
}

/// One connection's credit for sending.
#[derive(Clone, Debug)]
struct Credit {
    /// Wire bytes that may still be sent; negative after a packet that exceeded the rest.
    bytes: i64,
    /// Total up to which the last grant went, in quanta.
    granted: u32,
    /// Set until the first answer from the receiver: the first window's credit is not granted but
    /// presumed.
    is_presumed: bool,
    /// Instant one round trip after the first answer from the receiver. Until then grants for the
    /// first window are on their way, so a lack of credit is no reason to ask.
    settled: Instant,
    /// Instant at which credit was last asked for.
    asked: Instant,
    /// Instant at which the last grant arrived.
    heard: Instant,
}

/// A connection at its sending end.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) peer: SendPeer,
    pub(super) class: u8,
    pub(super) connection: Connection,
    pub(super) in_round: bool,
    pub(super) timer_armed: bool,
    pub(super) requests: Requests,
    /// Time for which window and credit hold it back.
    pub(super) waits: Waits,
    /// Number for the next new packet.
    next: u32,
    /// Packets that asked for an answer with their first transmission, ascending by number;
    /// acknowledged ones are removed.
    asked: VecDeque<u32>,
    /// Number of the first unacknowledged packet.
    acknowledged: u32,
    /// Number after the last packet posted.
    posted: u32,
    /// One record per packet, from the first unacknowledged one to the last one sent.
    records: VecDeque<Record>,
    /// Numbers of these packets that have arrived, beyond a missing one.
    arrived: Bits,
    /// Retransmissions as (departure, number), in time order. An entry is stale if the packet was
    /// sent once more or has arrived.
    repeats: VecDeque<(Instant, u32)>,
    /// Packets to resend, ascending by number.
    lost: VecDeque<u32>,
    /// Wire bytes in those packets.
    lost_bytes: u64,
    /// Wire bytes in packets that have never been sent.
    backlog: u64,
    /// Wire bytes in flight. It is signed: a packet that counted as lost and arrives after all is
    /// subtracted twice, until its record is corrected.
    in_flight: i64,
    /// Total wire bytes that the receiver has reported.
    received: u64,
    /// Instant from which the time to give up counts.
    last_progress: Instant,
    /// State of congestion control, unless credit alone limits the connection.
    flow: Option<Flow>,
    credit: Option<Credit>,
    entropy: Choices,
    random: SplitMix,
    sleek: Option<Box<Sleek>>,
}

/// Outcome when a retransmission timer fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// Nothing waits for an answer any more; no timer is needed.
    Idle,
    /// No timeout is due before this instant.
    Later(Instant),
    /// A packet must be resent; the next timeout is due at `next`, and `asks` is set if credit is
    /// lacking.
    Repeats { next: Instant, asks: bool },
    /// Nothing is in flight, and no grant has come for long: the sender asks for credit, and again
    /// at `next`.
    Asks { next: Instant },
    /// Nothing was acknowledged for `give_up_after`.
    GivesUp,
}

/// Cache lines with records that are prefetched for an acknowledgement.
const RECORDS_AHEAD: usize = 4;

/// Total with which grants begin. It is far above 0, so that demands below it do not underflow.
pub(super) const FIRST_GRANT: u32 = 1 << 20;

impl Sender {
    pub(super) fn new(peer: SendPeer, class: u8, rules: &Rules) -> Sender {
        let spec = &rules.network.spec;
        let mut random = SplitMix::new(rules.network.seed ^ u64::from(peer.hash).rotate_left(17));
        let credit = rules.credit.as_ref().map(|credit| Credit {
            bytes: credit.most.cast_signed(),
            granted: FIRST_GRANT,
            is_presumed: true,
            settled: Instant::START,
            asked: Instant::START,
            heard: Instant::START,
        });
        Sender {
            peer,
            class,
            connection: Connection::Ready,
            in_round: false,
            timer_armed: false,
            requests: Requests::default(),
            waits: Waits::default(),
            asked: VecDeque::new(),
            next: 0,
            acknowledged: 0,
            posted: 0,
            records: VecDeque::new(),
            arrived: Bits::default(),
            repeats: VecDeque::new(),
            lost: VecDeque::new(),
            lost_bytes: 0,
            backlog: 0,
            in_flight: 0,
            received: 0,
            last_progress: Instant::START,
            flow: rules.control.start(&rules.link),
            credit,
            entropy: Choices::start(
                spec.entropy.kind,
                spec.entropy.values,
                rules.planes,
                &mut random,
            ),
            random,
            sleek: (spec.loss_detection == LossDetection::Sleek).then(Box::default),
        }
    }

    /// Prefetches the memory for an acknowledgement up to `acknowledged`, which answers a packet
    /// after that.
    #[inline]
    pub(super) fn prefetch(&self, acknowledged: u32) {
        let place = self.place(acknowledged);
        for ahead in 0..RECORDS_AHEAD {
            if let Some(record) = self
                .records
                .get(place + ahead * values_per_line::<Record>())
            {
                prefetch(record);
            }
        }
        prefetch(self);
        prefetch(&self.acknowledged);
        prefetch(&self.in_flight);
        prefetch(&self.flow);
        prefetch(&self.entropy);
    }

    /// Posts a request; `reading` comes from the NIC's idle clock.
    pub(super) fn post(&mut self, request: WorkRequest, reading: i64, rules: &Rules) {
        self.waits.post(reading);
        if self.requests.count() == 0 {
            self.last_progress = request.posted;
        }
        let packets = self.requests.post(request, self.posted, rules.cut);
        self.posted = self.posted.wrapping_add(packets);
        self.backlog += rules.cut.all_wire_bytes(request.bytes);
    }

    /// Returns the number of packets acknowledged without gaps, modulo 2³².
    pub(super) fn acknowledged(&self) -> u32 {
        self.acknowledged
    }

    /// Returns true if anything waits to be sent or acknowledged.
    pub(super) fn is_busy(&self) -> bool {
        self.requests.count() > 0
    }

    /// Returns true if anything waits to be sent.
    fn has_packet(&self) -> bool {
        !self.lost.is_empty() || self.next != self.posted
    }

    /// Returns the wire bytes in the packet that leaves next.
    fn next_bytes(&self, cut: Cut) -> u64 {
        let frame = match self.lost.front() {
            Some(&number) => self.records[self.place(number)].frame_bytes,
            None => self.requests.next_frame_bytes(self.next, cut),
        };
        on_wire(frame)
    }

    /// Returns the index in `records` for an unacknowledged packet. For an acknowledged one it is
    /// out of range.
    fn place(&self, number: u32) -> usize {
        number.wrapping_sub(self.acknowledged) as usize
    }

    /// Returns true if window or credit hold it back, for a connection that may not send.
    pub(super) fn is_held(&self) -> bool {
        self.connection == Connection::Ready && self.has_packet()
    }

    /// Starts or ends a wait for window or credit.
    pub(super) fn note_wait(&mut self, is_held: bool, reading: i64) {
        let sending = self.requests.sending(self.lost.front().copied());
        self.waits.turn(is_held, sending, reading);
    }

    /// Returns the position of the request that begins or ends with `packet`, which has just been
    /// sent for the first time; `None` for packets between.
    pub(super) fn edge(&self, packet: &Packet) -> Option<usize> {
        let ends = packet.has(Packet::END_OF_TRANSFER);
        let sending = self.requests.sending(None) - usize::from(ends);
        (ends || self.waits.begins(sending)).then_some(sending)
    }

    /// Returns the wire bytes that may be in flight, or `None` if credit alone limits it.
    #[inline]
    fn window(&self, rules: &Rules) -> Option<u64> {
        let flow = self.flow.as_ref();
        flow.map(|flow| rules.control.window(flow, &rules.link))
    }

    /// Returns true if it may send a packet now.
    pub(super) fn may_send(&self, rules: &Rules) -> bool {
        if self.connection != Connection::Ready || !self.has_packet() {
            return false;
        }
        if self.credit.as_ref().is_some_and(|credit| credit.bytes <= 0) {
            return false;
        }
        let Some(window) = self.window(rules) else {
            return true;
        };
        // `in_flight` may exceed the window after a cut, so the difference is signed.
        let room = window.cast_signed() - self.in_flight;
        // Most packets fit with room to spare: their exact size need not be looked up.
        if room >= rules.cut.most_wire_bytes() {
            return true;
        }
        // During recovery lost packets leave regardless of the window.
        let recovers = self.sleek.as_ref().is_some_and(|sleek| sleek.recovers());
        let fits = self.next_bytes(rules.cut).cast_signed() <= room;
        fits || (recovers && !self.lost.is_empty())
    }

    /// Makes the next packet, whose first bit leaves at `now` on `plane`, with a flag that is set
    /// if it was sent before. `active` counts the connections at this NIC that wait to send.
    pub(super) fn next_packet(
        &mut self,
        rules: &Rules,
        active: u64,
        plane: u8,
        now: Instant,
    ) -> (Packet, bool) {
        let (number, repeats) = match self.lost.pop_front() {
            Some(number) => (number, true),
            None => (self.next, false),
        };
        let entropy = self.entropy.next(plane, &mut self.random);
        let record = if repeats {
            self.repeat(number, entropy, now)
        } else {
            self.send_first(rules, entropy, now)
        };
        let bytes = on_wire(record.frame_bytes).cast_signed();
        self.in_flight += bytes;
        if let Some(credit) = &mut self.credit {
            credit.bytes -= bytes;
        }
        // Demand is stated after this packet is charged, so that it covers what is left.
        let target = self.pull_target(rules, active);
        let asks = repeats || self.asks_for_answer(rules, bytes, now);
        // Retransmissions are not listed here: `repeats` has their times.
        if asks && !repeats {
            self.asked.push_back(number);
        }
        let mut flags = Packet::ECN_CAPABLE | Packet::class_flags(self.class);
        flags |= u8::from(asks) * Packet::ACK_REQUEST;
        flags |= u8::from(repeats) * Packet::REPEATED;
        flags |= u8::from(record.ends_request) * Packet::END_OF_TRANSFER;
        let packet = Packet {
            sequence: number,
            sent: (now.ps() / SENT_UNIT_PS) as u32,
            frame_bytes: record.frame_bytes,
            flags,
            ..self.packet(PacketKind::Middle, entropy.value, target, rules)
        };
        (packet, repeats)
    }

    /// Returns an empty packet to the receiver, which states the demand for credit.
    fn packet(&self, kind: PacketKind, entropy: u16, target: u32, rules: &Rules) -> Packet {
        let difference = rules.network.differences[usize::from(entropy)];
        Packet {
            at: Instant::START,
            queue_pair: PullTarget { quanta: target }.with_slot(self.peer.slot),
            sequence: 0,
            destination: self.peer.destination,
            hash: self.peer.hash ^ difference,
            sent: 0,
            frame_bytes: rules.network.spec.control_bytes as u16,
            kind,
            flags: 0,
        }
    }

    /// Updates the record when a lost packet is sent again.
    fn repeat(&mut self, number: u32, entropy: Sent, now: Instant) -> Record {
        let place = self.place(number);
        let record = &mut self.records[place];
        self.lost_bytes -= on_wire(record.frame_bytes);
        record.state = State::UnderWay;
        record.sent = now;
        record.entropy = entropy.value;
        record.plane = entropy.plane;
        record.sends = record.sends.saturating_add(1);
        let record = *record;
        self.repeats.push_back((now, number));
        self.requests.repeat(number, record.frame_bytes);
        record
    }

    /// Adds the record when a packet is sent for the first time.
    fn send_first(&mut self, rules: &Rules, entropy: Sent, now: Instant) -> Record {
        let unsent = self.requests.send(self.next, rules.cut, now);
        let record = Record {
            sent: now,
            entropy: entropy.value,
            plane: entropy.plane,
            frame_bytes: unsent.frame_bytes,
            state: State::UnderWay,
            sends: 1,
            ends_request: unsent.ends_request,
        };
        self.records.push_back(record);
        self.next = self.next.wrapping_add(1);
        self.backlog -= on_wire(unsent.frame_bytes);
        record
    }

    /// Returns true if the packet just sent must be answered at once, because no other may follow
    /// before.
    fn asks_for_answer(&self, rules: &Rules, bytes: i64, now: Instant) -> bool {
        let credit = self.credit.as_ref();
        let full = |window: u64| self.in_flight + bytes >= window.cast_signed();
        self.next == self.posted
            || credit.is_some_and(|credit| credit.bytes <= 0 && credit.settled <= now)
            || self.window(rules).is_some_and(full)
    }

    /// Returns the total up to which the receiver should grant credit, in quanta, or 0 without
    /// credit.
    fn pull_target(&self, rules: &Rules, active: u64) -> u32 {
        let (Some(credit), Some(own)) = (&self.credit, &rules.credit) else {
            return 0;
        };
        let full = rules.link.full.cast_signed();
        let mut wanted = (self.backlog + self.lost_bytes).cast_signed();
        if let Some(window) = self.window(rules) {
            wanted = wanted.min(window.cast_signed() + full);
        }
        wanted = wanted.min(own.most.cast_signed()) - credit.bytes;
        if credit.is_presumed && wanted < full && self.backlog > 0 {
            // A short transfer asks for one packet, even if presumed credit covers it.
            wanted = full;
        }
        if own.divides_demand {
            wanted /= active.max(1).cast_signed();
        }
        let granted = i64::from(credit.granted) * QUANTUM_BYTES.cast_signed();
        let quantum = QUANTUM_BYTES.cast_signed();
        // Rounded up; the total wraps, as that of grants does.
        (granted + wanted + quantum - 1).div_euclid(quantum) as u32
    }

    /// Ends presumed credit when the first answer comes from the receiver; what was overdrawn stays
    /// so.
    fn end_presumption(&mut self, rules: &Rules, now: Instant) {
        if let Some(credit) = &mut self.credit
            && std::mem::take(&mut credit.is_presumed)
        {
            credit.settled = now + rules.link.round_trip;
            credit.bytes = credit.bytes.min(0);
        }
    }

    /// Handles an acknowledgement up to `packet.sequence`, and the arrivals in its report. Returns
    /// the count of requests that it finishes.
    pub(super) fn on_acknowledgement(
        &mut self,
        rules: &Rules,
        slot: SendSlot,
        packet: &Packet,
        report: &Report,
        done: &mut Vec<Acknowledged>,
    ) -> u32 {
        let now = packet.at;
        let marked = packet.has(Packet::CONGESTION_ECHO);
        // Reports may overtake each other; an older one adds nothing.
        let news = report.received_bytes.saturating_sub(self.received);
        self.received += news;
        self.in_flight -= news.cast_signed();
        let answered = self.record(report.answered);
        let repeated = packet.has(Packet::ANSWERS_REPEATED);
        let is_probe = packet.has(Packet::ANSWERS_PROBE);
        // A round trip is known only if the answer's flag tells which transmission it belongs to:
        // the first is answered without it, and of two transmissions it means the second.
        let sends = if repeated { 2 } else { 1 };
        let timed = answered
            .filter(|record| record.state == State::UnderWay && record.sends == sends && !is_probe);
        let round_trip = timed.map(|record| now - record.sent);
        if news > 0 {
            self.last_progress = now;
        }
        // The round trip above comes from the record as it was: this call removes acknowledged
        // records.
        let finished = self.take_arrivals(slot, packet.sequence, report, rules, now, done);
        if let Some(record) = answered.filter(|_| !is_probe) {
            let news = if marked {
                PathNews::Marked
            } else {
                PathNews::Good
            };
            self.entropy.hear(record.path(), news, now);
        }
        if let Some(flow) = &mut self.flow {
            let feedback = Feedback {
                now,
                round_trip,
                marked,
                news,
                in_flight: self.in_flight.max(0) as u64,
                sequence: self.acknowledged,
                next_sequence: self.next,
                hops: &[],
            };
            let control = &rules.control;
            control.acknowledged(flow, &rules.link, &feedback);
        }
        self.look_for_losses(rules, report.ahead, is_probe, now);
        self.end_presumption(rules, now);
        finished
    }

    fn record(&self, number: u32) -> Option<Record> {
        self.records.get(self.place(number)).copied()
    }

    /// Updates records by the arrivals in an acknowledgement, and returns the count of finished
    /// requests.
    fn take_arrivals(
        &mut self,
        slot: SendSlot,
        before: u32,
        report: &Report,
        rules: &Rules,
        now: Instant,
        done: &mut Vec<Acknowledged>,
    ) -> u32 {
        let news = before.wrapping_sub(self.acknowledged);
        let mut finished = 0;
        // An overtaken acknowledgement lies behind the present one, which makes the difference
        // wrap.
        if news as usize <= self.records.len() {
            for _ in 0..news {
                if let Some(record) = self.records.pop_front()
                    && record.state == State::Lost
                {
                    self.not_lost(self.acknowledged, record);
                }
                self.acknowledged = self.acknowledged.wrapping_add(1);
            }
            self.arrived.drop_before(self.acknowledged);
            while self
                .asked
                .front()
                .is_some_and(|&asked| self.is_acknowledged(asked))
            {
                self.asked.pop_front();
            }
            let requests = &mut self.requests;
            let (before, waits) = (self.acknowledged, &mut self.waits);
            finished = requests.acknowledge(before, waits, slot, rules.cut, now, done);
        }
        // Most arrivals are known from earlier reports. Numbers before the first unacknowledged one
        // have no record and are ignored.
        let mut map = report.map & !self.known(report.first);
        // Visit the set bits only, from the lowest on.
        while map != 0 {
            let number = report.first.wrapping_add(map.trailing_zeros());
            map &= map - 1;
            self.arrives(number);
        }
        // Without a packet in flight there are no bytes in flight: any drift between reports and
        // records ends here.
        if self.records.is_empty() {
            self.in_flight = 0;
            self.repeats.clear();
        }
        finished
    }

    /// Returns true if a packet is acknowledged together with all before it.
    fn is_acknowledged(&self, number: u32) -> bool {
        self.acknowledged.wrapping_sub(number).cast_signed() > 0
    }

    /// Returns which among the 64 packets from `first` on are known to have arrived.
    fn known(&self, first: u32) -> u64 {
        if first.wrapping_sub(self.acknowledged) > u32::MAX / 2 {
            return 0;
        }
        self.arrived.from(first)
    }

    /// Notes that a packet has arrived beyond a missing one.
    fn arrives(&mut self, number: u32) {
        let place = self.place(number);
        let Some(record) = self.records.get_mut(place) else {
            return;
        };
        let before = *record;
        record.state = State::Arrived;
        self.arrived.add(number);
        if before.state == State::Lost {
            self.not_lost(number, before);
        }
    }

    /// Corrects the accounts for a packet that counted as lost and has arrived.
    #[cold]
    fn not_lost(&mut self, number: u32, record: Record) {
        let bytes = on_wire(record.frame_bytes);
        // Its bytes were subtracted twice: as it was lost, and as the receiver reported them.
        self.in_flight += bytes.cast_signed();
        self.lost_bytes -= bytes;
        let lost = self.lost.iter().position(|&lost| lost == number);
        if let Some(place) = lost {
            self.lost.remove(place);
        }
    }

    /// Marks a packet as lost, to be resent. Returns its record before, or `None` if it was not in
    /// flight.
    fn lose(&mut self, number: u32) -> Option<Record> {
        let place = self.place(number);
        let record = self.records.get_mut(place)?;
        if record.state != State::UnderWay {
            return None;
        }
        let before = *record;
        record.state = State::Lost;
        let bytes = on_wire(before.frame_bytes);
        self.in_flight -= bytes.cast_signed();
        self.lost_bytes += bytes;
        let acknowledged = self.acknowledged;
        // The lowest numbers are resent first: they hold up delivery.
        let at = self
            .lost
            .partition_point(|lost| (lost.wrapping_sub(acknowledged) as usize) < place);
        self.lost.insert(at, number);
        Some(before)
    }

    /// Handles a report that a packet arrived trimmed.
    pub(super) fn on_trimmed(&mut self, rules: &Rules, packet: &Packet) {
        let now = packet.at;
        let at_last_hop = packet.has(Packet::AT_LAST_HOP);
        let in_flight = self.in_flight.max(0) as u64;
        let Some(record) = self.lose(packet.sequence) else {
            return;
        };
        if let Some(flow) = &mut self.flow {
            let trim = Trim {
                now,
                round_trip: now - record.sent,
                bytes: on_wire(record.frame_bytes),
                at_last_hop,
                in_flight,
            };
            rules.control.trimmed(flow, &rules.link, &trim);
        }
        // A trim at the receiver's port says nothing about the path before it; only the mark does.
        let news = match (at_last_hop, packet.has(Packet::CONGESTION_ECHO)) {
            (false, _) => PathNews::Trimmed,
            (true, true) => PathNews::Marked,
            (true, false) => PathNews::Good,
        };
        self.entropy.hear(record.path(), news, now);
        self.end_presumption(rules, now);
    }

    /// Handles a grant up to the total `number`.
    pub(super) fn on_grant(&mut self, rules: &Rules, number: u32, now: Instant) {
        self.end_presumption(rules, now);
        let (Some(credit), Some(own)) = (&mut self.credit, &rules.credit) else {
            return;
        };
        credit.heard = now;
        let more = number.wrapping_sub(credit.granted);
        // Grants may overtake each other; an older one adds nothing.
        if more <= u32::MAX / 2 {
            let bytes = credit.bytes + (u64::from(more) * QUANTUM_BYTES).cast_signed();
            credit.bytes = bytes.min(own.most.cast_signed());
            credit.granted = number;
        }
    }
}
