//! The NIC: arbitration among queue pairs, acknowledgements, timeouts.

mod counters;
mod credit;
mod host_memory;
mod in_band;
mod limited;
mod link_faults;
mod marks;
mod out_of_turn;
mod outstanding;
mod quiet;
mod reroute;
mod signals;
mod standing;

use std::collections::VecDeque;
use std::sync::Arc;

use tenter_engine::{Ring, prefetch, prefetch_at};
use tenter_net::{
    CONNECT_FRAME_BYTES, Event, EventKind, Medium, Packet, PacketKind, PauseRecord, SENT_UNIT_PS,
    Signal, Transmitter,
};
use tenter_units::Rate;

use crate::entropy::{Entropy, PortChanges, RerouteSpec};
use crate::loss_recovery::LossRecovery;
use crate::message::MessageCut;
pub use crate::nic::counters::NicCounters;
use crate::nic::credit::NicLanes;
use crate::nic::limited::Limits;
use crate::nic::marks::MarkBook;
pub use crate::nic::marks::Marks;
use crate::pauses::Pauses;
use crate::receive::{Delivery, ReceiveQueuePair, ReplyPath, Verdict};
use crate::receive_buffer::{Drain, ReceiveBuffer, ReceiveBufferCounters};
use crate::send::{
    Acknowledged, Connection, PacketRules, Requests, SendPeer, SendQueuePair, Sent, Turn,
    WorkRequest,
};
use crate::spec::{Interleave, NicSpec};
use crate::timers::Timers;

/// The state of so many queue pairs takes no longer to read when it is needed than ahead of time.
const FEW_SLOTS: usize = 16;

/// Knows who is at the other end of a receive slot, and what it sends.
pub trait Directory {
    /// The way back from a receive slot of a host; asked once per slot, when its first packet
    /// arrives.
    fn reply_path(&self, host: u32, slot: u32) -> ReplyPath;

    /// Payload bytes of the n-th transfer through a receive slot of a host, counted as
    /// [`Delivery::nth`] is; `None` where there is none. Asked only where a packet is given up for
    /// lost.
    fn transfer_bytes(&self, host: u32, slot: u32, nth: u32) -> Option<u64>;
}

/// A queue pair that gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePairError {
    /// The send slot.
    pub slot: u32,
    /// When the last retry timed out, in ps.
    pub at: u64,
    /// The host it was sending to.
    pub destination: u32,
}

/// A NIC with one port.
#[derive(Clone, Debug)]
pub struct Nic {
    host: u32,
    cut: MessageCut,
    transmitter: Transmitter,
    /// The end of the last message, and when the wire was free after its gap.
    message_end: (u64, u64),
    /// Acknowledgements and connection set-up: sent before data.
    control: Ring<Packet>,
    send: Vec<SendQueuePair>,
    /// The work requests of each send queue pair.
    requests: Requests,
    receive: Vec<ReceiveQueuePair>,
    /// The queue pairs that may send, in the order in which they are served.
    round: Ring<u32>,
    /// At most one deadline per send queue pair. Those of queue pairs that wait for nothing are
    /// stale.
    timeouts: Timers,
    /// Work requests and connection requests that are not acknowledged: while there are none, no
    /// timer fires.
    pending: u32,
    /// Data frames sent when the last visit began.
    sent_before: u64,
    errors: Vec<QueuePairError>,
    classes: NicClasses,
    pauses: Box<Pauses>,
    receive_buffer: Option<Box<ReceiveBuffer>>,
    marks: MarkBook,
    /// Congestion control, notifications, repairs and classes, where there are any.
    limits: Option<Box<Limits>>,
    /// Both ends of its lanes, in a fabric that sends by credit.
    lanes: Option<Box<NicLanes>>,
    /// A pause storm that lasts.
    storm: Option<Box<link_faults::Storm>>,
    /// Whether frames come straight from the wire and go straight onto it: there have never been
    /// lanes, a receive buffer, in-band telemetry, a storm, or flows that change their way.
    is_plain: bool,
    /// How the source port changes from packet to packet, if it does.
    entropy: Option<Arc<Entropy>>,
    /// What it does about notices of long queues, if there are any.
    reroute: Option<Arc<RerouteSpec>>,
    /// Flows that shall take other ways; made when the NIC is first told.
    reroutes: Option<Box<reroute::Reroutes>>,
    /// Transfers that the packet just served delivers beside the one it returned.
    delivered: VecDeque<Delivery>,
    counters: NicCounters,
}

/// The classes of what a NIC sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicClasses {
    /// The class of data packets, unless queue pairs differ in it.
    pub data: u8,
    /// All classes of data packets, one bit each.
    pub all_data: u8,
    /// The class of acknowledgements and connection set-up.
    pub control: u8,
    /// The class of congestion notifications.
    pub notification: u8,
    /// The classes that pause frames can stop, one bit each.
    pub lossless: u8,
}

impl NicClasses {
    /// Whether queue pairs differ in the class of their data.
    pub fn is_mixed(&self) -> bool {
        self.all_data.count_ones() > 1
    }
}

impl Nic {
    /// The NIC of a host on a line of this rate, with room for so many send and receive queue
    /// pairs.
    pub fn new(
        host: u32,
        (spec, ports): (&NicSpec, &PortChanges),
        classes: NicClasses,
        (transmitter, line): (Transmitter, Rate),
        slots: (usize, usize),
    ) -> Nic {
        let quantum_ps = transmitter.pause_time(1);
        let receive_buffer = spec.receive_buffer.as_ref().and_then(|spec| {
            let drain = Drain::Frames(spec.drain_rate?.serialisation(0));
            Some(Box::new(ReceiveBuffer::new(spec, drain, quantum_ps)))
        });
        Nic {
            host,
            classes,
            pauses: Box::default(),
            receive_buffer,
            limits: Limits::new(spec, classes.is_mixed(), line, slots.0),
            marks: MarkBook::default(),
            lanes: None,
            storm: None,
            is_plain: spec.receive_buffer.is_none(),
            entropy: ports.entropy.clone(),
            reroute: ports.reroute.clone(),
            reroutes: None,
            delivered: VecDeque::new(),
            cut: spec.cut(),
            transmitter,
            message_end: (0, 0),
            control: Ring::default(),
            send: vec![SendQueuePair::default(); slots.0],
            requests: Requests::new(slots.0),
            receive: vec![ReceiveQueuePair::default(); slots.1],
            round: Ring::default(),
            timeouts: Timers::new(),
            pending: 0,
            sent_before: 0,
            errors: Vec::new(),
            counters: NicCounters::default(),
        }
    }

    /// The host it belongs to.
    pub fn host(&self) -> u32 {
        self.host
    }

    /// Its transmitter.
    pub fn transmitter(&self) -> &Transmitter {
        &self.transmitter
    }

    /// When the last frame so far has left, in ps; 0 when there was none.
    pub fn last_end(&self) -> u64 {
        let (end, resumed) = self.message_end;
        let free_at = self.transmitter.last_end();
        if free_at == resumed { end } else { free_at }
    }

    /// What its receive buffer has been through, and the frames and bytes that wait in it.
    pub fn receive_buffer(&self) -> Option<(ReceiveBufferCounters, (u64, u64))> {
        let buffer = self.receive_buffer.as_ref();
        buffer.map(|buffer| (buffer.counters(), buffer.waiting()))
    }

    /// Whether pause frames can stop a class.
    pub fn is_lossless(&self, class: u8) -> bool {
        self.classes.lossless & (1 << class) != 0
    }

    /// How long it has told the leaf to pause a class up to `now`, in ps.
    pub fn pausing(&self, class: u8, now: u64) -> u64 {
        let buffer = self.receive_buffer.as_ref();
        let buffer = buffer.filter(|_| self.is_lossless(class));
        buffer.map_or(0, |buffer| buffer.paused(now))
    }

    /// Pause frames sent that stopped a class, and that let it go on.
    pub fn pauses_sent(&self, class: u8) -> (u64, u64) {
        if !self.is_lossless(class) {
            return (0, 0);
        }
        // Each time the leaf is told, it is told about all classes alike.
        let classes = u64::from(self.classes.lossless.count_ones());
        let mac = self.transmitter.mac();
        (mac.xoff_frames / classes, mac.xon_frames / classes)
    }

    /// Until when the leaf has paused a class, in ps.
    pub fn paused_until(&self, class: u8) -> u64 {
        self.pauses.until(class)
    }

    /// Pause frames received for a class, and how long they have stopped it up to `now`, in ps.
    pub fn paused(&self, class: u8, now: u64) -> (PauseRecord, u64) {
        self.pauses.record(class, now)
    }

    /// When the first pause frame came that stopped a class, in ps.
    pub fn first_xoff(&self) -> Option<u64> {
        self.pauses.first
    }

    /// Frame bytes accepted of transfers that a receive slot has not taken whole: of the one that
    /// it takes now, and what has arrived beyond a missing packet.
    pub fn received_in_part(&self, slot: u32) -> u64 {
        let limits = self.limits.as_ref();
        let stored = limits.map_or(0, |limits| limits.gaps.stored_bytes(slot));
        self.receive[slot as usize].accepted_bytes() + stored
    }

    /// What it has counted.
    pub fn counters(&self) -> NicCounters {
        self.counters
    }

    /// Whether a send slot has been opened.
    pub fn is_open(&self, slot: u32) -> bool {
        self.send[slot as usize].connection != Connection::Unused
    }

    /// Gives a send slot its peer and the class of its data, one of
    /// [`NicClasses::all_data`]; with connection set-up the request goes out now.
    pub fn open(&mut self, spec: &NicSpec, slot: u32, (peer, class): (SendPeer, u8), now: u64) {
        let queue_pair = &mut self.send[slot as usize];
        queue_pair.open(peer, class);
        if spec.connection_set_up {
            self.expect_answer(now);
            let queue_pair = &mut self.send[slot as usize];
            queue_pair.connection = Connection::Requested;
            queue_pair.last_progress = now;
            self.control
                .push(queue_pair.control(PacketKind::ConnectRequest, CONNECT_FRAME_BYTES));
            self.arm(spec, slot, now);
        } else {
            queue_pair.connection = Connection::Ready;
        }
    }

    /// Posts a work request to an open send slot.
    pub fn post(&mut self, spec: &NicSpec, slot: u32, request: WorkRequest) {
        let cut = self.cut;
        self.expect_answer(request.posted);
        self.send[slot as usize].post(&mut self.requests, slot, request, cut);
        self.join_round(spec, slot, request.posted);
    }

    /// Prefetches what every visit needs.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.transmitter);
        prefetch(&self.message_end);
        prefetch(&self.send);
        prefetch(&self.round);
        prefetch(&self.timeouts);
        prefetch(&self.counters);
        prefetch(&self.marks);
    }

    /// Prefetches the queue pairs that the next visit will need: for packets that have arrived, and
    /// for about as many data packets as left in the visit before.
    #[inline]
    pub fn prefetch_for<'p>(&self, arrivals: impl Iterator<Item = &'p Packet>) {
        if self.send.len() + self.receive.len() <= FEW_SLOTS {
            return;
        }
        for packet in arrivals.filter(|packet| packet.kind.is_of_queue_pair()) {
            let slot = packet.queue_pair as usize;
            if packet.kind.is_for_receiver() {
                prefetch_at(&self.receive, slot);
            } else {
                prefetch_at(&self.send, slot);
                self.requests.prefetch(packet.queue_pair);
            }
        }
        let sent = self.transmitter.sent_data().0;
        let departures = (sent - self.sent_before).max(1) as usize;
        for &slot in self.round.iter().take(departures) {
            prefetch_at(&self.send, slot as usize);
            self.requests.prefetch(slot);
        }
    }

    /// A visit begins.
    #[inline]
    pub fn note_visit(&mut self) {
        self.sent_before = self.transmitter.sent_data().0;
    }

    /// When the next frame can leave, given that it is `now`; `None` when there is nothing to send.
    #[inline]
    pub fn next_departure(&self, now: u64) -> Option<u64> {
        if let Some(limits) = &self.limits {
            return self.next_departure_limited(limits, now);
        }
        let free_at = self.transmitter.free_at().max(now);
        let data = (!self.round.is_empty()).then(|| self.pauses.until(self.classes.data));
        let control = (!self.control.is_empty()).then(|| self.pauses.until(self.classes.control));
        let earliest = match (data, control) {
            (Some(data), Some(control)) => data.min(control),
            (data, control) => data.or(control)?,
        };
        Some(earliest.max(free_at))
    }

    /// Sends one frame, whose first bit leaves at `now`.
    #[inline]
    pub fn depart(&mut self, spec: &NicSpec, now: u64, medium: &mut impl Medium) {
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
        let queue_pair = &mut self.send[slot as usize];
        let armed = queue_pair.timer_armed;
        let stays = queue_pair.has_packet(spec.window_packets);
        if !stays {
            queue_pair.turn = Turn::Out;
            self.round.pop();
        } else if self.round.len() > 1
            && (sent.ends_message || spec.interleave == Interleave::Packet)
        {
            self.round.pop();
            self.round.push(slot);
        }
        if !armed {
            self.arm(spec, slot, now);
        }
        self.put(&sent.packet, now, medium);
        if sent.ends_message {
            self.end_message(spec);
        }
    }

    /// The next data packet of a queue pair, whose first bit leaves at `now`.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a hundredth of it"
    )]
    #[inline(always)]
    fn next_data(&mut self, spec: &NicSpec, slot: u32, now: u64) -> Sent {
        let queue_pair = &mut self.send[slot as usize];
        if queue_pair.outstanding() == 0 {
            queue_pair.last_progress = now;
        }
        let rules = PacketRules {
            acknowledge: spec.acknowledge,
            cut: &self.cut,
            entropy: self.entropy.as_deref(),
        };
        let mut sent = queue_pair.next_packet(&mut self.requests, slot, rules, now);
        sent.packet.flags |= Packet::class_flags(queue_pair.class) | Packet::ECN_CAPABLE;
        self.counters.retransmitted_packets += u64::from(sent.repeats);
        sent
    }

    /// Sends the first acknowledgement or connection set-up that waits.
    #[inline(never)]
    fn depart_control(&mut self, now: u64, medium: &mut impl Medium) {
        if let Some(mut packet) = self.control.pop() {
            let answers = matches!(
                packet.kind,
                PacketKind::Ack | PacketKind::Nak | PacketKind::SelectiveNak
            );
            if !answers {
                packet.sent = (now / SENT_UNIT_PS) as u32;
            }
            packet.flags |= Packet::class_flags(self.classes.control);
            self.put(&packet, now, medium);
        }
    }

    /// Keeps the wire idle after the last packet of a message.
    #[inline(never)]
    fn end_message(&mut self, spec: &NicSpec) {
        let end = self.transmitter.free_at();
        self.transmitter.pause_for(spec.message_gap.ps());
        self.message_end = (end, self.transmitter.free_at());
    }

    /// Takes a packet; returns the transfer it completes, if any, and puts the work requests it
    /// acknowledges into `done`.
    #[inline]
    pub fn arrive<M: Medium>(
        &mut self,
        spec: &NicSpec,
        packet: &Packet,
        directory: &impl Directory,
        medium: &mut M,
        done: &mut Vec<Acknowledged>,
    ) -> Option<Delivery> {
        if self.is_plain && packet.kind.is_data() && !packet.has(Packet::CONGESTION_EXPERIENCED) {
            self.counters.receive(packet);
            return self.on_data(spec, packet, directory, medium);
        }
        self.arrive_otherwise(spec, packet, directory, medium, done)
    }

    /// As [`Nic::arrive`], for everything but data without a mark that may be taken at once.
    #[inline(never)]
    fn arrive_otherwise<M: Medium>(
        &mut self,
        spec: &NicSpec,
        packet: &Packet,
        directory: &impl Directory,
        medium: &mut M,
        done: &mut Vec<Acknowledged>,
    ) -> Option<Delivery> {
        if packet.kind.is_mac_control() {
            self.obey(packet, medium);
            return None;
        }
        self.counters.receive(packet);
        if packet.kind == PacketKind::Signal {
            self.on_signal(packet, medium);
            return None;
        }
        if self.lanes.is_some() {
            self.take_in(packet, medium);
        }
        if self.receive_buffer.is_some() {
            self.buffer(spec, *packet, medium);
            return None;
        }
        self.process(spec, packet, directory, medium, done)
    }

    /// Obeys a pause frame of the leaf, or goes by its credit.
    fn obey<M: Medium>(&mut self, packet: &Packet, medium: &mut M) {
        if packet.kind != PacketKind::Pause {
            self.on_credit(packet, medium);
            return;
        }
        self.note(EventKind::Obeyed, packet, medium);
        let until = packet.at + self.transmitter.pause_time(packet.sequence);
        if let Some(signal) = Signal::of(packet) {
            self.pauses.reactions.note(&signal, packet.at);
        }
        self.pauses.obey(packet.class(), packet.at, until);
    }

    /// Puts a frame into the receive buffer.
    fn buffer<M: Medium>(&mut self, spec: &NicSpec, packet: Packet, medium: &mut M) {
        let (Some(buffer), Some(spec)) = (&mut self.receive_buffer, &spec.receive_buffer) else {
            return;
        };
        let dropped = buffer.counters().dropped_frames;
        let pauses = buffer.take(spec, packet);
        if buffer.counters().dropped_frames > dropped {
            self.note(EventKind::Dropped, &packet, medium);
        }
        if pauses {
            self.notify_leaf(spec.quanta, packet.at, medium);
        }
    }

    /// Tells the leaf to pause, or to go on, in every class that it may pause.
    fn notify_leaf(&mut self, quanta: u16, now: u64, medium: &mut impl Medium) {
        for class in (0..8).filter(|class| self.classes.lossless & (1 << class) != 0) {
            self.transmitter.pause(class, quanta, now, medium);
        }
    }

    /// Takes a packet that is in host memory, as [`Nic::arrive`] does.
    #[expect(
        clippy::inline_always,
        reason = "once a packet that is no data; a call costs a fifth of it"
    )]
    #[inline(always)]
    fn process<M: Medium>(
        &mut self,
        spec: &NicSpec,
        packet: &Packet,
        directory: &impl Directory,
        medium: &mut M,
        done: &mut Vec<Acknowledged>,
    ) -> Option<Delivery> {
        if packet.has(Packet::CONGESTION_EXPERIENCED) {
            self.on_mark(packet, directory);
        }
        if packet.kind.is_data() {
            if self
                .limits
                .as_ref()
                .is_some_and(|limits| limits.in_band.is_some())
            {
                return self.on_recorded(spec, packet, directory, medium);
            }
            return self.on_delayed(spec, packet, directory, medium);
        }
        self.note(EventKind::Accepted, packet, medium);
        match packet.kind {
            PacketKind::Ack => self.on_ack(spec, packet, done),
            PacketKind::Nak => self.on_nak(spec, packet, done),
            PacketKind::ConnectRequest => {
                let reply = self.reply_path(packet.queue_pair, directory);
                let kind = (PacketKind::ConnectReply, 0);
                self.reply(reply, kind, CONNECT_FRAME_BYTES, (0, 0));
            }
            PacketKind::Cnp => self.on_cnp(packet),
            PacketKind::SelectiveNak => self.on_selective_nak(spec, packet),
            PacketKind::Reroute => self.on_notice(packet),
            PacketKind::EndOfData => return self.on_end_of_data(spec, packet, directory),
            _ => self.on_connect_reply(spec, packet.queue_pair, packet.at),
        }
        None
    }

    /// As [`Nic::on_data`], for those that do not come there straight from the wire.
    #[inline(never)]
    fn on_delayed<M: Medium>(
        &mut self,
        spec: &NicSpec,
        packet: &Packet,
        directory: &impl Directory,
        medium: &mut M,
    ) -> Option<Delivery> {
        self.on_data(spec, packet, directory, medium)
    }

    /// Takes a data packet.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a quarter of it"
    )]
    #[inline(always)]
    fn on_data<M: Medium>(
        &mut self,
        spec: &NicSpec,
        packet: &Packet,
        directory: &impl Directory,
        medium: &mut M,
    ) -> Option<Delivery> {
        let slot = packet.queue_pair;
        let queue_pair = &mut self.receive[slot as usize];
        if !queue_pair.open {
            queue_pair.open(directory.reply_path(self.host, slot));
        }
        let verdict = queue_pair.take(packet);
        if verdict != Verdict::Accepted {
            return self.on_out_of_order(spec, packet, verdict, directory, medium);
        }
        self.accept(spec, packet, medium)
    }

    /// Counts a packet that was expected next and has been accepted, and answers it.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a quarter of it"
    )]
    #[inline(always)]
    fn accept<M: Medium>(
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

    /// Answers a packet that has been accepted and asks for an acknowledgement or ends a transfer.
    #[inline(never)]
    fn answer<M: Medium>(
        &mut self,
        spec: &NicSpec,
        packet: &Packet,
        medium: &mut M,
    ) -> Option<Delivery> {
        let slot = packet.queue_pair;
        let queue_pair = &mut self.receive[slot as usize];
        let ends = packet.has(Packet::END_OF_TRANSFER);
        let delivery = ends.then(|| queue_pair.deliver(slot, packet.at));
        if packet.has(Packet::ACK_REQUEST) {
            self.acknowledge(spec, packet);
        }
        self.note(EventKind::Accepted, packet, medium);
        delivery
    }

    /// Acknowledges, in answer to a packet, everything before the one that is expected.
    fn acknowledge(&mut self, spec: &NicSpec, packet: &Packet) {
        let sent = self.answer_to(packet);
        let queue_pair = &self.receive[packet.queue_pair as usize];
        let answer = (queue_pair.expected, sent);
        let kind = (PacketKind::Ack, self.marks.on_echo(packet.queue_pair));
        self.reply(queue_pair.reply, kind, Nic::ack_frame_bytes(spec), answer);
    }

    /// Takes out the marks that came on a receive slot since this was last asked.
    #[inline]
    pub fn take_marks(&mut self, slot: u32) -> Marks {
        self.marks.take(slot)
    }

    /// The next of the transfers that the packet just served has delivered beside the one that was
    /// returned.
    pub fn next_delivery(&mut self) -> Option<Delivery> {
        self.delivered.pop_front()
    }

    fn reply_path(&mut self, slot: u32, directory: &impl Directory) -> ReplyPath {
        let queue_pair = &mut self.receive[slot as usize];
        if !queue_pair.open {
            queue_pair.open(directory.reply_path(self.host, slot));
        }
        queue_pair.reply
    }

    fn reply(
        &mut self,
        path: ReplyPath,
        (kind, flags): (PacketKind, u8),
        frame_bytes: u16,
        (sequence, sent): (u32, u32),
    ) {
        self.control.push(Packet {
            at: 0,
            queue_pair: path.slot,
            sequence,
            destination: path.destination,
            hash: path.hash,
            sent,
            frame_bytes,
            kind,
            flags,
        });
    }

    /// One more request waits for its acknowledgement. Timers that would have fired in vain while
    /// none did are dropped.
    fn expect_answer(&mut self, now: u64) {
        while self.pending == 0 && self.timeouts.next_at() <= now {
            let Some(slot) = self.timeouts.pop() else {
                break;
            };
            self.send[slot as usize].timer_armed = false;
        }
        self.pending += 1;
    }

    fn on_ack(&mut self, spec: &NicSpec, packet: &Packet, done: &mut Vec<Acknowledged>) {
        let slot = packet.queue_pair;
        if self.limits.is_some() {
            self.on_feedback(packet);
        }
        let pending = &mut self.pending;
        let news = self.send[slot as usize].acknowledge(
            &mut self.requests,
            (slot, packet.sequence),
            self.cut,
            packet.at,
            |request| {
                done.push(request);
                *pending -= 1;
            },
        );
        if let Some(limits) = &mut self.limits {
            limits.note_acknowledged(slot, &self.send[slot as usize]);
        }
        let window = self.window(spec, slot);
        let queue_pair = &mut self.send[slot as usize];
        if news && packet.kind == PacketKind::Ack {
            queue_pair.naks = 0;
        }
        match (queue_pair.turn, queue_pair.may_send(window)) {
            (Turn::Out, true) => self.enter_round(slot, packet.at),
            (Turn::Out, false) | (_, true) => {}
            // One that has gone back may learn that all it was to send again has arrived.
            (_, false) => self.leave_round(slot),
        }
    }

    fn on_nak(&mut self, spec: &NicSpec, packet: &Packet, done: &mut Vec<Acknowledged>) {
        let slot = packet.queue_pair;
        self.counters.packet_seq_err += 1;
        self.on_ack(spec, packet, done);
        let cut = self.cut;
        if spec.retry_on_nak && self.use_up_retry(spec, slot, packet.at) {
            return;
        }
        self.send[slot as usize].rewind(&mut self.requests, (slot, packet.sequence), cut);
        self.join_round(spec, slot, packet.at);
    }

    fn on_connect_reply(&mut self, spec: &NicSpec, slot: u32, now: u64) {
        let queue_pair = &mut self.send[slot as usize];
        if queue_pair.connection == Connection::Requested {
            self.pending -= 1;
            queue_pair.connection = Connection::Ready;
            queue_pair.retries = 0;
            queue_pair.last_progress = now;
            self.join_round(spec, slot, now);
        }
    }

    /// Packets that a queue pair may have unacknowledged.
    fn window(&self, spec: &NicSpec, slot: u32) -> Option<u32> {
        match &self.limits {
            None => spec.window_packets,
            Some(limits) => limits.window(slot, &self.send[slot as usize]),
        }
    }

    /// Puts a queue pair that may send at the end of the round, or lets it wait until its rate
    /// allows the next packet.
    fn join_round(&mut self, spec: &NicSpec, slot: u32, now: u64) {
        let window = self.window(spec, slot);
        let queue_pair = &self.send[slot as usize];
        if queue_pair.turn == Turn::Out && queue_pair.may_send(window) {
            self.enter_round(slot, now);
        }
    }

    /// The same for one that may send and is in no round.
    fn enter_round(&mut self, slot: u32, now: u64) {
        let queue_pair = &mut self.send[slot as usize];
        queue_pair.turn = Turn::InRound;
        if let Some(limits) = &mut self.limits
            && limits.holds_back(slot, queue_pair, now)
        {
            return;
        }
        self.round.push(slot);
    }

    /// Starts the retransmission timer of a queue pair that has none running.
    #[inline(never)]
    fn arm(&mut self, spec: &NicSpec, slot: u32, now: u64) {
        self.send[slot as usize].timer_armed = true;
        let deadline = now + spec.retransmission_timeout.ps();
        self.timeouts.push(deadline, slot);
    }

    /// When the next timer fires: a frame is in host memory, a pause must be repeated, a flow takes
    /// another way, or an acknowledgement is overdue.
    #[inline]
    pub fn next_timer(&self) -> Option<u64> {
        let timeout = if self.pending > 0 {
            self.timeouts.next_at()
        } else {
            u64::MAX
        };
        if self.is_plain {
            debug_assert!(self.lanes.is_none() && self.storm.is_none() && self.reroutes.is_none());
            debug_assert!(self.receive_buffer.is_none());
            return (timeout != u64::MAX).then_some(timeout);
        }
        let buffer = self.receive_buffer.as_ref().map_or(u64::MAX, |buffer| {
            buffer.next_drained().min(buffer.refresh_at())
        });
        let storm = self.storm.as_ref().map_or(u64::MAX, |storm| storm.next);
        let reroutes = self.reroutes.as_ref();
        let reroute = reroutes.map_or(u64::MAX, |reroutes| reroutes.next());
        let next = buffer.min(timeout).min(storm).min(reroute);
        (next != u64::MAX).then_some(next)
    }

    /// Fires the one timer that is due at `now` and first in order: frames that have drained before
    /// repeated pauses, these before those of a storm, then flows that take other ways, and
    /// timeouts last. Returns the transfer that a frame completes, and puts the work requests it
    /// acknowledges into `done`.
    pub fn fire<M: Medium>(
        &mut self,
        spec: &NicSpec,
        now: u64,
        directory: &impl Directory,
        medium: &mut M,
        done: &mut Vec<Acknowledged>,
    ) -> Option<Delivery> {
        if let (Some(buffer), Some(rules)) = (&mut self.receive_buffer, &spec.receive_buffer) {
            if buffer.next_drained() <= now {
                let (packet, resumes) = buffer.drain(rules, now)?;
                if resumes {
                    self.notify_leaf(0, now, medium);
                }
                self.give_back(&packet, now, medium);
                return self.process(spec, &packet, directory, medium, done);
            }
            if buffer.refresh_at() <= now {
                buffer.repeat(now);
                self.notify_leaf(rules.quanta, now, medium);
                return None;
            }
        }
        if self.storm.as_ref().is_some_and(|storm| storm.next <= now) {
            self.repeat_storm(now, medium);
        } else if self.reroutes.as_ref().is_some_and(|of| of.next() <= now) {
            self.change_port(now);
        } else {
            self.timeout(spec, now);
        }
        None
    }

    fn timeout(&mut self, spec: &NicSpec, now: u64) {
        let Some(slot) = self.timeouts.pop() else {
            return;
        };
        let queue_pair = &mut self.send[slot as usize];
        let waits = queue_pair.outstanding() > 0 || queue_pair.connection == Connection::Requested;
        if !waits || queue_pair.connection == Connection::Failed {
            queue_pair.timer_armed = false;
            return;
        }
        let deadline = queue_pair.last_progress + spec.retransmission_timeout.ps();
        if deadline > now {
            self.timeouts.push(deadline, slot);
            return;
        }
        self.counters.local_ack_timeout_err += 1;
        if queue_pair.retries == spec.retry_count {
            self.fail(slot, now);
            return;
        }
        queue_pair.retries += 1;
        queue_pair.last_progress = now;
        if queue_pair.connection == Connection::Requested {
            self.control
                .push(queue_pair.control(PacketKind::ConnectRequest, CONNECT_FRAME_BYTES));
        } else {
            if let Some(limits) = &mut self.limits {
                limits.timed_out(slot, now);
            }
            self.repeat_oldest(spec, slot, now);
        }
        let deadline = now + spec.retransmission_timeout.ps();
        self.timeouts.push(deadline, slot);
    }

    /// Sends again what has to be after a timeout.
    fn repeat_oldest(&mut self, spec: &NicSpec, slot: u32, now: u64) {
        let queue_pair = &mut self.send[slot as usize];
        let oldest = queue_pair.acknowledged;
        match (&spec.loss_recovery, &mut self.limits) {
            (LossRecovery::SelectiveRepeat(_), Some(limits)) => {
                limits.repair(slot, queue_pair, (oldest, oldest.wrapping_add(1)));
                // Of what was lost at the end the receiver knows nothing: the last packet of all
                // shows it how much there is.
                let last = queue_pair.next_sequence.wrapping_sub(1);
                if queue_pair.outstanding() > 1 {
                    limits.repair(slot, queue_pair, (last, last.wrapping_add(1)));
                }
            }
            // It cannot know what has arrived; the receiver must learn what was all.
            (LossRecovery::None, _) => queue_pair.repairs = true,
            _ => {
                queue_pair.rewind(&mut self.requests, (slot, oldest), self.cut);
            }
        }
        self.join_round(spec, slot, now);
    }

    /// Uses up one of the retries of a queue pair; says whether there was none left.
    fn use_up_retry(&mut self, spec: &NicSpec, slot: u32, now: u64) -> bool {
        let queue_pair = &mut self.send[slot as usize];
        if queue_pair.connection == Connection::Failed {
            return true;
        }
        let used = queue_pair.naks.saturating_add(queue_pair.retries);
        queue_pair.naks = queue_pair.naks.saturating_add(1);
        if used < spec.retry_count {
            return false;
        }
        self.fail(slot, now);
        true
    }

    fn fail(&mut self, slot: u32, now: u64) {
        let queue_pair = &mut self.send[slot as usize];
        queue_pair.connection = Connection::Failed;
        queue_pair.timer_armed = false;
        let destination = queue_pair.destination();
        self.errors.push(QueuePairError {
            slot,
            at: now,
            destination,
        });
        if queue_pair.turn != Turn::Out {
            self.leave_round(slot);
        }
    }

    /// Takes a queue pair out of the round, wherever it stands there. One that waits for its rate
    /// is passed over when its time has come.
    fn leave_round(&mut self, slot: u32) {
        if self.send[slot as usize].turn == Turn::Paced {
            return;
        }
        self.send[slot as usize].turn = Turn::Out;
        for _ in 0..self.round.len() {
            if let Some(other) = self.round.pop().filter(|other| *other != slot) {
                self.round.push(other);
            }
        }
    }

    /// Queue pairs that have given up so far.
    pub fn errors(&self) -> &[QueuePairError] {
        &self.errors
    }

    /// For each send slot the host that its data goes to, and how many packets of it have been
    /// acknowledged, modulo 2³².
    pub fn acknowledged(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let slots = self.send.iter();
        slots.map(|queue_pair| (queue_pair.destination(), queue_pair.acknowledged))
    }

    /// Work requests of a send slot that are not acknowledged, oldest first.
    pub fn unfinished(&self, slot: u32) -> impl Iterator<Item = WorkRequest> + '_ {
        self.send[slot as usize]
            .unfinished(&self.requests, slot)
            .into_iter()
    }

    /// Transfers delivered through a receive slot since the count was last reset.
    pub fn delivered(&self, slot: u32) -> u32 {
        self.receive[slot as usize].delivered()
    }

    /// Starts the count of delivered transfers anew for a range of receive slots.
    pub fn reset_delivered(&mut self, slots: std::ops::Range<usize>) {
        self.marks.forget(slots.clone());
        for queue_pair in &mut self.receive[slots] {
            queue_pair.reset_delivered();
        }
    }

    #[inline]
    fn note<M: Medium>(&self, kind: EventKind, packet: &Packet, medium: &mut M) {
        if M::WATCHED {
            medium.note(Event {
                at: packet.at,
                node: self.host,
                port: 0,
                kind,
                packet: *packet,
            });
        }
    }
}
