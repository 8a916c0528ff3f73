//! The sending side of a connection.

mod losses;
mod timeouts;

use std::collections::VecDeque;
use std::sync::Arc;

use tenter_engine::{prefetch, values_per_line};
use tenter_net::{Packet, PacketKind, PullTarget, SENT_UNIT_PS, SendSlot};
use tenter_units::{Instant, Time};

use super::acknowledgement::Report;
use super::bits::Bits;
use super::congestion::credit::{CreditRules, QUANTUM_BYTES};
use super::congestion::{Answer, Link, Trim, Window, WindowRules};
use super::cut::{Cut, on_wire};
use super::network::Network;
use super::recovery::Sleek;
use super::requests::Requests;
use super::spec::LossDetection;
use crate::entropy::{Choices, PathNews, Sent, SplitMix};
use crate::nic::held_by_rate::Waits;
use crate::send::{Acknowledged, Connection, SendPeer, WorkRequest};

/// What is the same for all connections of a NIC.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) network: Arc<Network>,
    pub(super) cut: Cut,
    pub(super) link: Link,
    pub(super) window: Option<WindowRules>,
    pub(super) credit: Option<CreditRules>,
    pub(super) timeout: Time,
    /// Full packets after which a receiver acknowledges unasked.
    pub(super) answered_together: u32,
    /// Planes that packets of a connection take.
    pub(super) planes: u16,
}

/// What has become of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    /// It has to be sent again.
    Lost,
    Arrived,
}

/// A packet that is not acknowledged with all before it.
#[derive(Clone, Copy, Debug)]
struct Record {
    sent: Instant,
    entropy: u16,
    plane: u8,
    frame_bytes: u16,
    state: State,
    /// How often it has been sent; no more is counted than a few.
    sends: u8,
    ends_request: bool,
}

const _: () = assert!(size_of::<Record>() == 16);

impl Record {
    /// The path that it was last sent on.
    fn path(&self) -> Sent {
        Sent {
            value: self.entropy,
            plane: self.plane,
        }
    }
}

/// The credit of a connection.
#[derive(Clone, Debug)]
struct Credit {
    bytes: i64,
    /// The number of the last grant, in quanta.
    granted: u32,
    /// Whether nothing has been heard of the receiver: credit is only presumed.
    is_presumed: bool,
    /// A round trip after something was first heard: until then grants for what went without
    /// credit are on their way, and nothing is asked for.
    settled: Instant,
    /// When more was last asked for, and last granted.
    asked: Instant,
    heard: Instant,
}

/// The sending side of a connection.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) peer: SendPeer,
    pub(super) class: u8,
    pub(super) connection: Connection,
    pub(super) in_round: bool,
    pub(super) timer_armed: bool,
    pub(super) requests: Requests,
    /// How long window and credit hold it back.
    pub(super) waits: Waits,
    next: u32,
    /// Packets that asked for an answer when they were sent first, ascending, without those that
    /// are acknowledged.
    asked: VecDeque<u32>,
    acknowledged: u32,
    posted: u32,
    /// From the first packet that is not acknowledged to the last one sent.
    records: VecDeque<Record>,
    /// Which of them have arrived, ahead of one that has not.
    arrived: Bits,
    /// When packets were sent again, in the order of time; stale where that was done once more, or
    /// they arrived.
    repeats: VecDeque<(Instant, u32)>,
    /// Packets to send again, ascending, and their wire bytes.
    lost: VecDeque<u32>,
    lost_bytes: u64,
    /// Wire bytes that have not been sent.
    backlog: u64,
    in_flight: i64,
    /// Wire bytes that the receiver has reported.
    received: u64,
    last_progress: Instant,
    window: Option<Window>,
    credit: Option<Credit>,
    entropy: Choices,
    random: SplitMix,
    sleek: Option<Box<Sleek>>,
}

/// What a timeout leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// Nothing waits for an answer any more.
    Idle,
    /// It is not due before then.
    Later(Instant),
    /// A packet is to be sent again; the next timeout is not due before then.
    Repeats { next: Instant, asks: bool },
    /// Nothing is under way, and nothing has been heard of credit for long: it asks for some, and
    /// again then.
    Asks { next: Instant },
    /// Nothing has been acknowledged for too long.
    GivesUp,
}

/// Cache lines of records that are fetched for an answer.
const RECORDS_AHEAD: usize = 4;

/// The first number of grants: targets below it do not underflow.
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
            window: rules.window.as_ref().map(WindowRules::start),
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

    /// Fetches what an answer touches that acknowledges everything before a number: it answers one
    /// of the packets thereafter.
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
        prefetch(&self.window);
        prefetch(&self.entropy);
    }

    /// A request is posted, while the clock of idle time has this reading.
    pub(super) fn post(&mut self, request: WorkRequest, reading: i64, rules: &Rules) {
        self.waits.post(reading);
        if self.requests.count() == 0 {
            self.last_progress = request.posted;
        }
        let packets = self.requests.post(request, self.posted, rules.cut);
        self.posted = self.posted.wrapping_add(packets);
        self.backlog += rules.cut.all_wire_bytes(request.bytes);
    }

    /// How many packets have been acknowledged with all before them, modulo 2³².
    pub(super) fn acknowledged(&self) -> u32 {
        self.acknowledged
    }

    /// Whether anything waits to be sent or to be acknowledged.
    pub(super) fn is_busy(&self) -> bool {
        self.requests.count() > 0
    }

    /// Whether anything waits to be sent.
    fn has_packet(&self) -> bool {
        !self.lost.is_empty() || self.next != self.posted
    }

    /// Wire bytes of the packet that goes out next.
    fn next_bytes(&self, cut: Cut) -> u64 {
        let frame = match self.lost.front() {
            Some(&number) => self.records[self.place(number)].frame_bytes,
            None => self.requests.next_frame_bytes(self.next, cut),
        };
        on_wire(frame)
    }

    /// The place of the record of a packet that is not acknowledged.
    fn place(&self, number: u32) -> usize {
        number.wrapping_sub(self.acknowledged) as usize
    }

    /// Whether window or credit hold it back, if it may not send.
    pub(super) fn is_held(&self) -> bool {
        self.connection == Connection::Ready && self.has_packet()
    }

    /// Window and credit hold it back from now on, or no longer.
    pub(super) fn note_wait(&mut self, is_held: bool, reading: i64) {
        let sending = self.requests.sending(self.lost.front().copied());
        self.waits.turn(is_held, sending, reading);
    }

    /// The place of the request that a packet, which has just been sent for the first time, is the
    /// first or the last one of.
    pub(super) fn edge(&self, packet: &Packet) -> Option<usize> {
        let ends = packet.has(Packet::END_OF_TRANSFER);
        let sending = self.requests.sending(None) - usize::from(ends);
        (ends || self.waits.begins(sending)).then_some(sending)
    }

    /// Whether it may send a packet now.
    pub(super) fn may_send(&self, rules: &Rules) -> bool {
        if self.connection != Connection::Ready || !self.has_packet() {
            return false;
        }
        if self.credit.as_ref().is_some_and(|credit| credit.bytes <= 0) {
            return false;
        }
        let Some(window) = &self.window else {
            return true;
        };
        let room = window.bytes().cast_signed() - self.in_flight;
        if room >= rules.cut.most_wire_bytes() {
            return true;
        }
        // While it recovers, what is lost goes out whatever the window is.
        let recovers = self.sleek.as_ref().is_some_and(|sleek| sleek.recovers());
        let fits = self.next_bytes(rules.cut).cast_signed() <= room;
        fits || (recovers && !self.lost.is_empty())
    }

    /// The next packet, whose first bit leaves at `now` on a plane; `active` connections of the NIC
    /// wait to send. Also says whether it has been sent before.
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
        let target = self.pull_target(rules, active);
        let asks = repeats || self.asks_for_answer(bytes, now);
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

    /// A packet to the receiver without content.
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

    /// Whether the packet just sent must be answered at once: nothing more may go out before.
    fn asks_for_answer(&self, bytes: i64, now: Instant) -> bool {
        let credit = self.credit.as_ref();
        let full = |window: &Window| self.in_flight + bytes >= window.bytes().cast_signed();
        self.next == self.posted
            || credit.is_some_and(|credit| credit.bytes <= 0 && credit.settled <= now)
            || self.window.as_ref().is_some_and(full)
    }

    /// Up to which number the receiver shall grant, in quanta; 0 without credit.
    fn pull_target(&self, rules: &Rules, active: u64) -> u32 {
        let (Some(credit), Some(own)) = (&self.credit, &rules.credit) else {
            return 0;
        };
        let full = rules.link.full.cast_signed();
        let mut wanted = (self.backlog + self.lost_bytes).cast_signed();
        if let Some(window) = &self.window {
            wanted = wanted.min(window.bytes().cast_signed() + full);
        }
        wanted = wanted.min(own.most.cast_signed()) - credit.bytes;
        if credit.is_presumed && wanted < full && self.backlog > 0 {
            // A short transfer asks for a packet, whatever it has already.
            wanted = full;
        }
        if own.divides_demand {
            wanted /= active.max(1).cast_signed();
        }
        let granted = i64::from(credit.granted) * QUANTUM_BYTES.cast_signed();
        ((granted + wanted).max(0) as u64).div_ceil(QUANTUM_BYTES) as u32
    }

    /// Presumed credit ends when the receiver is first heard of.
    fn end_presumption(&mut self, rules: &Rules, now: Instant) {
        if let Some(credit) = &mut self.credit
            && std::mem::take(&mut credit.is_presumed)
        {
            credit.settled = now + rules.link.round_trip;
            credit.bytes = credit.bytes.min(0);
        }
    }

    /// An acknowledgement of everything before `packet.sequence`, and of what its report says.
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
        let news = report.received_bytes.saturating_sub(self.received);
        self.received += news;
        self.in_flight -= news.cast_signed();
        let answered = self.record(report.answered);
        let repeated = packet.has(Packet::ANSWERS_REPEATED);
        let is_probe = packet.has(Packet::ANSWERS_PROBE);
        // Of a packet that was sent several times it may be unknown which one is answered.
        let sends = if repeated { 2 } else { 1 };
        let timed = answered
            .filter(|record| record.state == State::UnderWay && record.sends == sends && !is_probe);
        let round_trip = timed.map(|record| now - record.sent);
        if news > 0 {
            self.last_progress = now;
        }
        let finished = self.take_arrivals(slot, packet.sequence, report, rules, now, done);
        if let Some(record) = answered.filter(|_| !is_probe) {
            let news = if marked {
                PathNews::Marked
            } else {
                PathNews::Good
            };
            self.entropy.hear(record.path(), news, now);
        }
        if let (Some(window), Some(own)) = (&mut self.window, &rules.window) {
            let answer = Answer {
                now,
                round_trip,
                marked,
                news,
                in_flight: self.in_flight.max(0) as u64,
            };
            window.answered(own, &answer);
        }
        self.look_for_losses(rules, report.ahead, is_probe, now);
        self.end_presumption(rules, now);
        finished
    }

    fn record(&self, number: u32) -> Option<Record> {
        self.records.get(self.place(number)).copied()
    }

    /// Takes what has arrived out of what is under way; how many requests that finishes.
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
        // Most of it is known from earlier reports; what is before the window is ignored.
        let mut map = report.map & !self.known(report.first);
        while map != 0 {
            let number = report.first.wrapping_add(map.trailing_zeros());
            map &= map - 1;
            self.arrives(number);
        }
        if self.records.is_empty() {
            self.in_flight = 0;
            self.repeats.clear();
        }
        finished
    }

    /// Whether a packet is among those that are acknowledged with all before them.
    fn is_acknowledged(&self, number: u32) -> bool {
        self.acknowledged.wrapping_sub(number).cast_signed() > 0
    }

    /// Which of 64 packets from one on are known to have arrived.
    fn known(&self, first: u32) -> u64 {
        if first.wrapping_sub(self.acknowledged) > u32::MAX / 2 {
            return 0;
        }
        self.arrived.from(first)
    }

    /// A packet has arrived ahead of one that has not.
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

    /// A packet that counted as lost has arrived.
    #[cold]
    fn not_lost(&mut self, number: u32, record: Record) {
        let bytes = on_wire(record.frame_bytes);
        // It was taken out when it was lost, and again as it had arrived.
        self.in_flight += bytes.cast_signed();
        self.lost_bytes -= bytes;
        let lost = self.lost.iter().position(|&lost| lost == number);
        if let Some(place) = lost {
            self.lost.remove(place);
        }
    }

    /// A packet is lost and has to be sent again; its record before, if it was under way.
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
        let at = self
            .lost
            .partition_point(|lost| (lost.wrapping_sub(acknowledged) as usize) < place);
        self.lost.insert(at, number);
        Some(before)
    }

    /// The receiver reports that it has got a packet trimmed.
    pub(super) fn on_trimmed(&mut self, rules: &Rules, packet: &Packet) {
        let now = packet.at;
        let at_last_hop = packet.has(Packet::AT_LAST_HOP);
        let in_flight = self.in_flight.max(0) as u64;
        let Some(record) = self.lose(packet.sequence) else {
            return;
        };
        if let (Some(window), Some(own)) = (&mut self.window, &rules.window) {
            let trim = Trim {
                now,
                round_trip: now - record.sent,
                bytes: on_wire(record.frame_bytes),
                at_last_hop,
                in_flight,
            };
            window.trimmed(own, &trim);
        }
        let news = match (at_last_hop, packet.has(Packet::CONGESTION_ECHO)) {
            (false, _) => PathNews::Trimmed,
            (true, true) => PathNews::Marked,
            (true, false) => PathNews::Good,
        };
        self.entropy.hear(record.path(), news, now);
        self.end_presumption(rules, now);
    }

    /// The receiver has granted up to a number.
    pub(super) fn on_grant(&mut self, rules: &Rules, number: u32, now: Instant) {
        self.end_presumption(rules, now);
        let (Some(credit), Some(own)) = (&mut self.credit, &rules.credit) else {
            return;
        };
        credit.heard = now;
        let more = number.wrapping_sub(credit.granted);
        if more <= u32::MAX / 2 {
            let bytes = credit.bytes + (u64::from(more) * QUANTUM_BYTES).cast_signed();
            credit.bytes = bytes.min(own.most.cast_signed());
            credit.granted = number;
        }
    }
}
