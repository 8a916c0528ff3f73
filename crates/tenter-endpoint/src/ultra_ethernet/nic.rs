//! The Ultra Ethernet NIC: its connections, and the order in which they send.

mod timers;
mod view;

use std::collections::VecDeque;

use tenter_engine::Ring;
use tenter_fabric::net::{
    EventKind, Medium, Packet, PacketKind, Pause, PullTarget, ReceiveSlot, SendSlot, Transmitter,
    WireLosses,
};
use tenter_fabric::topology::HostId;
use tenter_language::units::{ById, Instant};

use super::acknowledgement::Cursor;
use super::cut::Cut;
use super::oversubscription::Oversubscription;
use super::pacer::Pacer;
use super::receiver::{Receiver, Taken};
use super::sender::{Rules, Sender};
use crate::nic::build::NicBuild;
use crate::nic::classes::NicClasses;
use crate::nic::context::{Directory, RxContext};
use crate::nic::counters::NicCounters;
use crate::nic::error::QueuePairError;
use crate::nic::held_by_rate::IdleClock;
use crate::nic::marks::MarkBook;
use crate::nic::port::{NicPort, Wire};
use crate::pauses::Pauses;
use crate::receive::Delivery;
use crate::send::{SendPeer, WorkRequest};
use crate::timers::Timers;

/// One in this many frames is data while both data and control packets wait.
const TURNS: u8 = 11;

/// An Ultra Ethernet NIC with one port.
#[derive(Clone, Debug)]
pub struct UltraEthernetNic {
    host: HostId,
    /// Number under which the NIC writes acknowledgements.
    writer: HostId,
    transmitter: Transmitter,
    /// Plane at whose port the NIC sends now.
    plane: u8,
    /// Earliest instant at which another port is free, if the NIC sends over several.
    other_ports_free_at: Instant,
    /// Clock that counts the time in which the NIC could have sent data.
    clock: IdleClock,
    rules: Rules,
    /// Waiting control packets: acknowledgements, trim reports, grants and requests for credit.
    control: Ring<Packet>,
    /// Frames since data last had its turn while control packets waited, modulo [`TURNS`].
    control_turns: u8,
    send: ById<SendSlot, Option<Box<Sender>>>,
    receive: ById<ReceiveSlot, Receiver>,
    /// Connections that may send, in the order in which they are served.
    round: Ring<SendSlot>,
    /// Retransmission timers, at most one per connection.
    timeouts: Timers,
    /// Probe timers, for loss detection by SLEEK.
    probes: Timers,
    /// Unacknowledged requests. While there are none, no sender's timer fires.
    pending: u32,
    /// Pacer for credit grants, if receivers grant any.
    pacer: Option<Box<Pacer>>,
    /// Position among the NIC's acknowledgement records.
    records: Cursor,
    classes: NicClasses,
    pauses: Box<Pauses>,
    marks: MarkBook,
    counters: NicCounters,
    errors: Vec<QueuePairError>,
    /// Transfers that the packet just served has completed beside the one that was returned.
    delivered: VecDeque<Delivery>,
}

impl UltraEthernetNic {
    /// Creates a NIC in its initial state.
    ///
    /// # Panics
    /// Panics if `build` has no Ultra Ethernet network.
    pub(crate) fn new(build: NicBuild<'_>) -> UltraEthernetNic {
        let network = build.ultra_ethernet.expect("the transport has a network");
        let link = network.link(build.line);
        let control = network.spec.congestion_control.on_link(&link);
        let credit = control.credit(&link);
        let rules = Rules {
            cut: Cut::new(&network.spec),
            control,
            credit,
            timeout: network.timeout(),
            answered_together: network.answered_together(),
            planes: build.planes,
            link,
            network,
        };
        UltraEthernetNic {
            host: build.host,
            writer: build.writer,
            transmitter: build.transmitter,
            plane: 0,
            other_ports_free_at: Instant::NEVER,
            clock: IdleClock::new(build.planes),
            pacer: credit.map(|credit| Box::new(Pacer::new(&credit, &link))),
            rules,
            control: Ring::default(),
            control_turns: 0,
            send: vec![None; build.send_slots].into(),
            receive: vec![Receiver::default(); build.receive_slots].into(),
            round: Ring::default(),
            timeouts: Timers::new(),
            probes: Timers::new(),
            pending: 0,
            records: Cursor::default(),
            classes: build.classes,
            pauses: Box::new(Pauses::new(build.spec.resume_delay)),
            marks: MarkBook::default(),
            counters: NicCounters::default(),
            errors: Vec::new(),
            delivered: VecDeque::new(),
        }
    }

    pub(crate) fn host(&self) -> HostId {
        self.host
    }

    pub(crate) fn transmitter(&self) -> &Transmitter {
        &self.transmitter
    }

    pub(crate) fn transmitter_mut(&mut self) -> &mut Transmitter {
        &mut self.transmitter
    }

    /// Turns to another port: swaps the per-port state with that in `port`.
    pub(crate) fn swap_port(&mut self, port: &mut NicPort) {
        std::mem::swap(&mut self.transmitter, &mut port.transmitter);
        std::mem::swap(&mut self.pauses, &mut port.pauses);
        std::mem::swap(&mut self.plane, &mut port.plane);
    }

    /// Sets the earliest instant at which another port is free.
    pub(crate) fn note_other_ports(&mut self, others_free_at: Instant) {
        self.other_ports_free_at = others_free_at;
    }

    /// Reports an event of a packet to the capture, at the packet's own time.
    fn note<M: Medium>(&self, kind: EventKind, packet: &Packet, medium: &mut M) {
        self.transmitter.note(kind, packet.at, packet, medium);
    }

    /// Opens a connection to `peer`; `class` is the class for its data.
    pub(crate) fn open(&mut self, slot: SendSlot, peer: SendPeer, class: u8) {
        self.send[slot] = Some(Box::new(Sender::new(peer, class, &self.rules)));
    }

    /// Posts a work request to an open connection.
    pub(crate) fn post(&mut self, slot: SendSlot, request: WorkRequest) {
        let now = request.posted;
        self.expect_answer(now);
        let Some(sender) = &mut self.send[slot] else {
            return;
        };
        let wire = Wire::of_any_port(&self.transmitter, self.other_ports_free_at, &self.pauses);
        let reading = self.clock.read(wire, sender.class, now);
        sender.post(request, reading, &self.rules);
        if !std::mem::replace(&mut sender.timer_armed, true) {
            self.timeouts.push(now + self.rules.timeout, slot);
        }
        self.join_round(slot, now);
    }

    /// Counts one more request that waits for its acknowledgement. Stale timers are dropped first:
    /// while no request waited none could fire.
    fn expect_answer(&mut self, now: Instant) {
        while self.pending == 0 && self.timeouts.next_at() <= now {
            let Some(slot) = self.timeouts.pop() else {
                break;
            };
            if let Some(sender) = &mut self.send[slot] {
                sender.timer_armed = false;
            }
        }
        while self.pending == 0 && self.probes.next_at() <= now {
            let Some(slot) = self.probes.pop() else {
                break;
            };
            if let Some(sender) = &mut self.send[slot] {
                sender.forget_probe();
            }
        }
        self.pending += 1;
    }

    /// Appends a connection that may send to the round.
    fn join_round(&mut self, slot: SendSlot, now: Instant) {
        let Some(sender) = &mut self.send[slot] else {
            return;
        };
        if sender.in_round {
            return;
        }
        if sender.may_send(&self.rules) {
            sender.in_round = true;
            self.round.push(slot);
        } else {
            self.note_wait(slot, now);
        }
    }

    /// Starts or ends a wait for a connection that may not send: window or credit hold it back, or
    /// it has nothing to send.
    fn note_wait(&mut self, slot: SendSlot, now: Instant) {
        let Some(sender) = &mut self.send[slot] else {
            return;
        };
        let is_held = sender.is_held();
        if is_held != sender.waits.is_held() {
            let wire = Wire::of_any_port(&self.transmitter, self.other_ports_free_at, &self.pauses);
            let reading = self.clock.read(wire, sender.class, now);
            sender.note_wait(is_held, reading);
        }
    }

    /// Returns the earliest instant, not before `now`, at which the next frame can leave.
    pub(crate) fn next_departure(&self, now: Instant) -> Option<Instant> {
        let wire = Wire {
            free_at: self.transmitter.free_at(),
            pauses: &self.pauses,
        };
        self.next_departure_by(wire, now)
    }

    /// Returns the same for any port at the NIC.
    pub(crate) fn next_departure_by(&self, wire: Wire<'_>, now: Instant) -> Option<Instant> {
        let data = (!self.round.is_empty()).then(|| wire.pauses.until(self.classes.data));
        let control = (!self.control.is_empty()).then(|| wire.pauses.until(self.classes.control));
        let earliest = match (data, control) {
            (Some(data), Some(control)) => data.min(control),
            (data, control) => data.or(control)?,
        };
        Some(earliest.max(wire.free_at).max(now))
    }

    /// Sends one frame, whose first bit leaves at `now`.
    pub(crate) fn depart(&mut self, now: Instant, medium: &mut impl Medium) {
        let wire = Wire::of_any_port(&self.transmitter, self.other_ports_free_at, &self.pauses);
        self.clock.departs(wire.free_at, now);
        let data = !self.round.is_empty() && self.pauses.until(self.classes.data) <= now;
        let control = !self.control.is_empty() && self.pauses.until(self.classes.control) <= now;
        if data && control {
            self.control_turns = (self.control_turns + 1) % TURNS;
        }
        let is_turn_of_data = data && (!control || self.control_turns == 0);
        // Every connection in the round may have lost its window: then the control packet goes
        // after all.
        if is_turn_of_data && self.depart_data(now, medium) {
            return;
        }
        if control && let Some(packet) = self.control.pop() {
            self.transmitter.transmit(&packet, now, medium);
        }
    }

    /// Sends a data packet for the first connection that may send one. Returns false if none may.
    fn depart_data(&mut self, now: Instant, medium: &mut impl Medium) -> bool {
        while let Some(&slot) = self.round.front() {
            // The sender counts itself among those that wait: it divides its demand by their
            // number.
            let active = self.round.len() as u64;
            self.round.pop();
            let Some(sender) = &mut self.send[slot] else {
                continue;
            };
            if !sender.may_send(&self.rules) {
                // Its window has shrunk since it joined.
                sender.in_round = false;
                self.note_wait(slot, now);
                continue;
            }
            let (packet, repeats) = sender.next_packet(&self.rules, active, self.plane, now);
            if !repeats && let Some(sending) = sender.edge(&packet) {
                let others = self.other_ports_free_at;
                let wire = Wire::of_any_port(&self.transmitter, others, &self.pauses);
                let reading = self.clock.read(wire, sender.class, now);
                sender.waits.sends(sending, reading);
            }
            self.counters.retransmitted_packets += u64::from(repeats);
            if sender.may_send(&self.rules) {
                self.round.push(slot);
            } else {
                sender.in_round = false;
                self.note_wait(slot, now);
            }
            self.transmitter.transmit(&packet, now, medium);
            return true;
        }
        false
    }

    /// Handles a packet. Returns the transfer that it completes, if any, and appends acknowledged
    /// work requests to the context's `done`.
    pub(crate) fn arrive<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        if packet.kind.is_mac_control() {
            self.obey(packet, cx.medium);
            return None;
        }
        self.counters.received_frames += 1;
        self.counters.received_bytes += u64::from(packet.frame_bytes);
        match packet.kind {
            // Data may complete a transfer, and is noted with what became of it.
            PacketKind::Middle => return self.on_data(packet, cx),
            PacketKind::Trimmed => self.on_trimmed(packet, cx),
            PacketKind::RequestToSend => self.on_request(packet, cx.directory),
            PacketKind::Probe => self.on_probe(packet, cx.directory),
            PacketKind::SelectiveAck => self.on_acknowledgement(packet, cx),
            PacketKind::TrimNak => self.on_trim_report(packet),
            PacketKind::Pull => self.on_pull(packet),
            _ => {}
        }
        self.note(EventKind::Accepted, packet, cx.medium);
        None
    }

    /// Applies a pause frame from the leaf.
    fn obey<M: Medium>(&mut self, packet: &Packet, medium: &mut M) {
        if packet.kind == PacketKind::Pause {
            self.note(EventKind::Obeyed, packet, medium);
            let pause = self.transmitter.pause_time(Pause::of(packet).quanta);
            self.pauses.obey(packet.class(), packet.at, pause);
        }
    }

    /// Returns a connection's receiver, which is opened with its first packet.
    fn receiver(&mut self, slot: ReceiveSlot, directory: &impl Directory) -> &mut Receiver {
        let receiver = &mut self.receive[slot];
        if !receiver.books.open {
            receiver.books.open(directory.reply_path(self.host, slot));
        }
        receiver
    }

    /// Handles a data packet at its receiver.
    fn on_data<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        let slot = PullTarget::slot(packet);
        let marked = packet.has(Packet::CONGESTION_EXPERIENCED);
        if marked {
            self.counters.marked_packets += 1;
            self.marks.count(slot, self.receive.len());
        }
        if let Some(control) = self.oversubscription() {
            control.received(packet.at, marked);
        }
        let after = self.rules.network.spec.acknowledge_after.count();
        // The queue is taken out for the call: the closure fills it while the receiver is borrowed
        // from the NIC.
        let mut delivered = std::mem::take(&mut self.delivered);
        let receiver = self.receiver(slot, cx.directory);
        let taken = receiver.take(slot, packet, |delivery| delivered.push_back(delivery));
        let answers = taken == Taken::Duplicate || receiver.answers_now(packet, taken, after);
        let first = delivered.pop_front();
        self.delivered = delivered;
        self.note_demand(slot, packet, false);
        match taken {
            Taken::Duplicate => self.counters.duplicate_request += 1,
            Taken::InOrder | Taken::Ahead => {
                self.counters.data_packets += 1;
                self.counters.data_bytes += u64::from(packet.frame_bytes);
                self.counters.out_of_order += u64::from(taken == Taken::Ahead);
            }
        }
        let asks = packet.has(Packet::ACK_REQUEST) && taken != Taken::Duplicate;
        if answers {
            self.acknowledge(slot, packet, marked || asks);
        }
        let kind = if taken == Taken::Duplicate {
            EventKind::Discarded
        } else {
            EventKind::Accepted
        };
        self.note(kind, packet, cx.medium);
        first
    }

    /// Returns oversubscription control, if this receiver has it.
    fn oversubscription(&mut self) -> Option<&mut Oversubscription> {
        self.pacer.as_mut()?.oversubscription.as_mut()
    }

    /// Notes the demand for credit in a packet. With `needs` the sender gets a turn even if its
    /// demand is not new.
    fn note_demand(&mut self, slot: ReceiveSlot, packet: &Packet, needs: bool) {
        if let Some(pacer) = &mut self.pacer {
            let demand = &mut self.receive[slot].demand;
            if demand.hear(packet) || needs {
                pacer.request(slot, demand, packet.at);
            }
        }
    }

    /// Acknowledges a packet. With `from_itself` the map begins at that packet, else before it.
    fn acknowledge(&mut self, slot: ReceiveSlot, packet: &Packet, from_itself: bool) {
        let marked = packet.has(Packet::CONGESTION_EXPERIENCED);
        let repeated = packet.has(Packet::REPEATED);
        let probe = packet.kind == PacketKind::Probe;
        let report = self.receive[slot].report(packet.sequence, from_itself);
        self.counters.acknowledgements_sent += 1;
        let records = &self.rules.network.acknowledgements;
        let name = records.write(self.writer, &mut self.records, &report);
        let answer = Packet {
            sequence: self.receive[slot].books.expected,
            sent: name,
            flags: (u8::from(marked) * Packet::CONGESTION_ECHO)
                | (u8::from(repeated) * Packet::ANSWERS_REPEATED)
                | (u8::from(probe) * Packet::ANSWERS_PROBE),
            ..self.answer(slot, PacketKind::SelectiveAck)
        };
        self.push_control(answer);
    }

    /// Returns an empty answer to a connection's sender. Each answer takes another path, in turn.
    fn answer(&mut self, slot: ReceiveSlot, kind: PacketKind) -> Packet {
        let receiver = &mut self.receive[slot];
        let differences = &self.rules.network.differences;
        let turn = usize::from(receiver.answers) % differences.len();
        receiver.answers = receiver.answers.wrapping_add(1);
        let bytes = self.rules.network.spec.control_bytes as u16;
        let blank = receiver.books.reply.packet(kind, bytes);
        Packet {
            hash: blank.hash ^ differences[turn],
            ..blank
        }
    }

    /// Queues a control packet, in the class for control packets.
    fn push_control(&mut self, mut packet: Packet) {
        packet.flags |= Packet::class_flags(self.classes.control);
        self.control.push(packet);
    }

    /// Handles a data packet that arrives trimmed: reports it, unless it has arrived whole before.
    fn on_trimmed<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) {
        let slot = PullTarget::slot(packet);
        let at_last_hop = packet.has(Packet::TRIMMED_AT_LAST_HOP);
        self.counters.trimmed_packets += 1;
        if let Some(control) = self.oversubscription() {
            control.trimmed(packet.at, at_last_hop);
        }
        if self.receiver(slot, cx.directory).has(packet.sequence) {
            // The packet arrived with an earlier transmission, so nothing is said about this one.
            let whole = Packet {
                flags: packet.flags & !(Packet::REPEATED | Packet::CONGESTION_EXPERIENCED),
                ..*packet
            };
            self.acknowledge(slot, &whole, false);
            return;
        }
        self.note_demand(slot, packet, true);
        if let Some(owed) = self.pacer.as_deref().and_then(Pacer::quanta_per_trim) {
            self.receive[slot].demand.owe(owed);
        }
        let marked = packet.has(Packet::CONGESTION_EXPERIENCED);
        let report = Packet {
            sequence: packet.sequence,
            flags: (u8::from(at_last_hop) * Packet::AT_LAST_HOP)
                | (u8::from(marked) * Packet::CONGESTION_ECHO),
            ..self.answer(slot, PacketKind::TrimNak)
        };
        self.push_control(report);
        self.counters.nak_sent += 1;
    }

    /// Handles a request for credit.
    fn on_request(&mut self, packet: &Packet, directory: &impl Directory) {
        let slot = PullTarget::slot(packet);
        self.receiver(slot, directory);
        self.note_demand(slot, packet, true);
    }

    /// Handles a probe: answers what has arrived.
    fn on_probe(&mut self, packet: &Packet, directory: &impl Directory) {
        let slot = PullTarget::slot(packet);
        self.receiver(slot, directory);
        self.acknowledge(slot, packet, false);
    }

    /// Handles an acknowledgement at its sender.
    fn on_acknowledgement<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) {
        let report = self.rules.network.acknowledgements.take(packet.sent);
        let slot = packet.send_slot();
        let Some(sender) = &mut self.send[slot] else {
            return;
        };
        let probe_before = sender.probe_at();
        let rules = &self.rules;
        let finished = sender.on_acknowledgement(rules, slot, packet, &report, cx.done);
        let probe_at = sender.probe_at();
        // The queue has at most one timer per connection; a probe that moved is found when it
        // fires.
        if !probe_at.is_never() && probe_before.is_never() {
            self.probes.push(probe_at, slot);
        }
        self.pending -= finished;
        self.join_round(slot, packet.at);
    }

    /// Handles a trim report at its sender.
    fn on_trim_report(&mut self, packet: &Packet) {
        self.counters.packet_seq_err += 1;
        let slot = packet.send_slot();
        if let Some(sender) = &mut self.send[slot] {
            sender.on_trimmed(&self.rules, packet);
        }
        self.join_round(slot, packet.at);
    }

    /// Handles a grant at its sender.
    fn on_pull(&mut self, packet: &Packet) {
        let slot = packet.send_slot();
        if let Some(sender) = &mut self.send[slot] {
            sender.on_grant(&self.rules, packet.sequence, packet.at);
        }
        self.join_round(slot, packet.at);
    }

    pub(crate) fn link_down(&mut self, under_way: WireLosses, now: Instant) {
        self.transmitter.link_down(now, under_way);
        self.pauses.forget(now);
    }

    pub(crate) fn link_up(&mut self, now: Instant) {
        self.transmitter.link_up(now);
    }

    pub(crate) fn prefetch(&self) {
        tenter_engine::prefetch(&self.transmitter);
        tenter_engine::prefetch(&self.round);
        tenter_engine::prefetch(&self.counters);
    }

    pub(crate) fn prefetch_for<'p>(&self, arrivals: impl Iterator<Item = &'p Packet>) {
        for packet in arrivals.filter(|packet| packet.kind.is_of_queue_pair()) {
            if packet.kind.is_for_receiver() {
                if let Some(receiver) = self.receive.get(PullTarget::slot(packet).index()) {
                    receiver.prefetch();
                }
                continue;
            }
            if let Some(sender) = self
                .send
                .get(packet.queue_pair as usize)
                .and_then(Option::as_deref)
            {
                sender.prefetch(packet.sequence);
            }
            if packet.kind == PacketKind::SelectiveAck {
                self.rules.network.acknowledgements.prefetch(packet.sent);
            }
        }
    }
}
