//! A simulated host that is driven by a real clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::plan::Plan;
use tenter_endpoint::NicCounters;
use tenter_engine::{LocalNode, Output};
use tenter_fabric::net::{Event, Medium, Missing, Packet, PacketKind, ReceiveSlot, SendSlot};
use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;
use tenter_workload::graph::GraphSchedule;
use tenter_workload::{JobId, Schedule, split};

use crate::error::SimulationError;
use crate::network::{Context, Fabric, FlowKey, Host, NodeModel, QueuePairId, Unwatched, fabric};

use super::records::{HalfReceived, HalfSent, HostRecords};
use super::refusal::{crowded, refusal_of_real_hosts};

/// A packet that leaves a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Instant at which its last bit leaves, at the plan's line rate.
    pub end: Instant,
    /// The packet as the simulated NIC built it.
    pub packet: Packet,
    /// Slot through which the host sends it.
    pub from: Slot,
    /// Payload bytes of the message if this is its first packet, else 0.
    pub message_bytes: u32,
}

/// Index of a queue pair at this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// A queue pair that sends data.
    Send(SendSlot),
    /// A queue pair that receives data, and sends answers.
    Receive(ReceiveSlot),
}

/// A queue pair seen from a host that sends over it, either data or answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Slot that this host uses for it.
    pub own: Slot,
    /// Host at the other end.
    pub peer: HostId,
    /// Index of the other end's slot: a receive slot if this one sends, and the reverse.
    pub peer_slot: u32,
    /// UDP source port of the packets that this host sends.
    pub source_port: u16,
}

/// A plan's host, NIC and ranks, driven by the caller's clock.
///
/// Instants that the caller passes must not decrease; equal ones are allowed.
#[derive(Debug)]
pub struct RealHost {
    fabric: Fabric<Unwatched>,
    node: LocalNode,
    host: HostId,
    /// Instant of the last event.
    clock: Instant,
    ways: Vec<Way>,
    /// Slot by which the host sends to another host's slot; the flag is true for data and false for
    /// answers.
    senders: BTreeMap<(bool, HostId, u32), Slot>,
    incoming: Incoming,
    /// For each send slot, the sequence number after the highest that was ever sent.
    sent: Vec<u32>,
}

/// Packets that a selective NAK may ask for. A larger range is taken for an error of the peer.
const RANGE_MAX: u32 = 1 << 20;

/// Ends of transfers on each receive slot. They come from the plan, because the peer's packets are
/// not trusted.
#[derive(Debug, Default)]
struct Incoming(Vec<Expected>);

/// Packets that a receive slot should get in a collective.
#[derive(Clone, Debug, Default)]
struct Expected {
    /// Sequence number of the first packet.
    first: u32,
    /// Running packet count at each transfer's end.
    ends: Vec<u32>,
}

impl Incoming {
    fn begin(&mut self, slot: ReceiveSlot, first: u32) {
        if self.0.len() <= slot.index() {
            self.0.resize(slot.index() + 1, Expected::default());
        }
        let ends = Vec::new();
        self.0[slot.index()] = Expected { first, ends };
    }

    fn append(&mut self, slot: ReceiveSlot, packets: u32) {
        let ends = &mut self.0[slot.index()].ends;
        let before = ends.last().copied().unwrap_or(0);
        ends.push(before + packets);
    }

    /// Returns true if a transfer ends with this packet, and `None` if no peer should send it.
    fn ends(&self, slot: ReceiveSlot, sequence: u32) -> Option<bool> {
        let Expected { first, ends } = self.0.get(slot.index())?;
        // Sequence numbers wrap. A distance beyond half of their range is a packet from the past.
        let place = sequence.wrapping_sub(*first);
        if place > u32::MAX / 2 {
            // It belongs to an earlier collective, and has been received already.
            return Some(false);
        }
        let whole = ends.last().copied().unwrap_or(0);
        (place < whole).then(|| ends.binary_search(&(place + 1)).is_ok())
    }
}

/// Collects the packets that leave.
struct Outbox<'a>(&'a mut Vec<Packet>);

impl Medium for Outbox<'_> {
    const WATCHED: bool = false;

    fn send(&mut self, _: Output, _: Instant, packet: &Packet) {
        self.0.push(*packet);
    }

    fn note(&mut self, _: Event) {}
}

impl RealHost {
    /// Creates the plan's host with this number.
    ///
    /// # Errors
    /// If the plan cannot be built, or real hosts cannot run it.
    pub fn new(plan: &Plan, host: HostId) -> Result<RealHost, SimulationError> {
        if let Some(why) = refusal_of_real_hosts(plan) {
            return Err(SimulationError::NotForRealHosts(why));
        }
        if let Some(node) = crowded(plan) {
            return Err(SimulationError::NotForRealHosts(format!(
                "`{}` has several ranks of a job, which send to each other without leaving it: place one on each host",
                plan.topology.name(node)
            )));
        }
        let fabric = fabric(plan)?;
        let context = fabric.context();
        let ways = ways(context, host);
        let sends = ways.iter().filter(|way| matches!(way.own, Slot::Send(_)));
        let sends = sends.count();
        let key = |way: &Way| {
            let is_data = matches!(way.own, Slot::Send(_));
            ((is_data, way.peer, way.peer_slot), way.own)
        };
        Ok(RealHost {
            node: context.home(host).node,
            senders: ways.iter().map(key).collect(),
            ways,
            fabric,
            host,
            clock: Instant::START,
            incoming: Incoming::default(),
            sent: vec![0; sends],
        })
    }

    fn model(&self) -> &Host {
        match &self.fabric.nodes()[self.node.index()] {
            NodeModel::Host(host) => host,
            NodeModel::Switch(_) => unreachable!("a host's node is a host"),
        }
    }

    /// Returns the host's queue pairs.
    pub fn ways(&self) -> &[Way] {
        &self.ways
    }

    /// Prepares for a job's next collective, once the previous one has ended: packets that arrive
    /// from now on belong to it.
    ///
    /// # Errors
    /// If the collective cannot be run by its ranks.
    pub fn prepare(&mut self, job: JobId, turn: u32) -> Result<(), SimulationError> {
        let context = Arc::clone(&self.fabric.context);
        let plan = &context.jobs[job];
        let schedule = plan.schedule(turn)?;
        let things = self.things_to_do(job, &*schedule);
        context.progress.begin(job, things, None);
        if turn == 0 {
            context.progress.set_start(job, Instant::START);
        }
        self.expect(job, &*schedule);
        self.fabric.schedules.set(job, turn, schedule);
        // The first collective finds the host as it was built.
        if turn > 0
            && let NodeModel::Host(host) = &mut self.fabric.nodes[self.node.index()]
        {
            host.reset(&context, job);
        }
        Ok(())
    }

    /// Notes on each queue pair where the transfers to this host's ranks end.
    fn expect(&mut self, job: JobId, schedule: &dyn Schedule) {
        let context = Arc::clone(&self.fabric.context);
        let plan = &context.jobs[job];
        let cut = context.nic.cut();
        for here in context
            .ranks_on(self.host)
            .iter()
            .filter(|here| here.job == job)
        {
            let slots = plan.pairs.receive_count(here.rank) as u32;
            for slot in here.receive_base.run(slots) {
                let first = self.model().nic().expected_sequence(slot);
                // Sequence numbers go on from the previous collective.
                self.incoming.begin(slot, first);
            }
            for id in 0..schedule.transfer_count() {
                let transfer = schedule.transfer(id);
                // A transfer without queue pairs stays within its host.
                let Some(first) = plan.pairs.find_for(&transfer) else {
                    continue;
                };
                if transfer.receiver() != here.rank {
                    continue;
                }
                for index in 0..plan.job.queue_pairs {
                    let slot = first.receive.after(u32::from(index));
                    let bytes = split::share(transfer.bytes, plan.job.queue_pairs, index);
                    let slot = plan.places[here.rank].receive_slot(slot);
                    self.incoming.append(slot, cut.packets(bytes) as u32);
                }
            }
        }
    }

    /// Returns the number of events that complete a collective here: arrivals of transfers, and in
    /// operation graphs also the ends of ranks.
    fn things_to_do(&self, job: JobId, schedule: &dyn Schedule) -> u64 {
        let context = self.fabric.context();
        let ranks = context.ranks_on(self.host).iter();
        let ranks: Vec<u32> = ranks
            .filter(|here| here.job == job)
            .map(|here| here.rank.number())
            .collect();
        let mut things = 0;
        for id in 0..schedule.transfer_count() {
            things += u64::from(ranks.contains(&schedule.transfer(id).dst));
        }
        if let Some(graph) = GraphSchedule::of(schedule) {
            let graph = graph.graph();
            let busy = ranks.iter().filter(|&&rank| graph.operations_of(rank) > 0);
            // A rank without operations has no end to wait for.
            things += busy.count() as u64;
        }
        things
    }

    /// Starts the prepared collective at `at` on this host's ranks.
    pub fn start(&mut self, job: JobId, at: Instant) {
        let context = Arc::clone(&self.fabric.context);
        let plan = &context.jobs[job];
        let schedule = self.fabric.schedules.of(job);
        // Time within hosts and the start-up are simulated: they pass before the first packet.
        let within = plan.within_hosts(self.fabric.schedules.turn(job));
        let begin = at
            .saturating_add(within)
            .saturating_add(schedule.start_up());
        if let NodeModel::Host(host) = &mut self.fabric.nodes[self.node.index()] {
            host.start(&context, job, begin);
        }
    }

    /// Returns the number of events that a job's collective still lacks here, and the instant of
    /// the last one.
    pub fn progress(&self, job: JobId) -> (u64, Instant) {
        let progress = &self.fabric.context().progress;
        (progress.missing(job), progress.last_arrival(job))
    }

    /// Returns the instant at which the host next acts without an arrival.
    pub fn next(&self) -> Instant {
        let host = self.model();
        let departure = host.next_departure(self.clock).unwrap_or(Instant::NEVER);
        departure.min(host.next_timer().unwrap_or(Instant::NEVER))
    }

    /// Handles up to `most` events that are due at `until`, in the order of time, and appends the
    /// packets that leave.
    pub fn advance(&mut self, until: Instant, most: usize, out: &mut Vec<Departure>) {
        let mut packets = Vec::new();
        for _ in 0..most {
            let host = self.model();
            let departure = host.next_departure(self.clock).unwrap_or(Instant::NEVER);
            let timer = host.next_timer().unwrap_or(Instant::NEVER);
            let next = departure.min(timer);
            if next > until || next.is_never() {
                break;
            }
            // A caller that is late handles what is overdue now: the host's time never goes back.
            self.clock = self.clock.max(next);
            let mut outbox = Outbox(&mut packets);
            // At equal instants departures go before timers, as in the simulation.
            if departure <= timer {
                self.fabric.host_departs(self.node, self.clock, &mut outbox);
            } else {
                self.fabric.fires(self.node, self.clock, &mut outbox);
            }
            self.hand_over(&mut packets, out);
        }
    }

    /// Receives a packet, at [`Packet::at`] or now if that has passed. Returns false, and ignores
    /// the packet, if it fits neither the running collective nor an earlier one.
    pub fn arrive(&mut self, mut packet: Packet, out: &mut Vec<Departure>) -> bool {
        if packet.kind.is_data() {
            let Some(ends) = self.incoming.ends(packet.receive_slot(), packet.sequence) else {
                return false;
            };
            // The plan decides where a transfer ends, whatever flag the peer has set.
            packet.flags &= !Packet::END_OF_TRANSFER;
            packet.flags |= u8::from(ends) * Packet::END_OF_TRANSFER;
        } else if !self.was_sent(&packet) {
            return false;
        }
        // As above: a packet from the host's past arrives now.
        self.clock = self.clock.max(packet.at);
        packet.at = self.clock;
        let mut packets = Vec::new();
        self.fabric
            .arrives(self.node, 0, packet, &mut Outbox(&mut packets));
        self.hand_over(&mut packets, out);
        true
    }

    /// Returns true if an answer refers to packets that have been sent.
    fn was_sent(&self, packet: &Packet) -> bool {
        if !packet.kind.is_of_queue_pair() || packet.kind.is_for_receiver() {
            return false;
        }
        let slot = packet.send_slot();
        let Some(&next) = self.sent.get(slot.index()) else {
            return false;
        };
        // Sequence numbers wrap: up to half of their range behind counts as sent before.
        let is_old = |sequence: u32| next.wrapping_sub(sequence) <= u32::MAX / 2;
        match packet.kind {
            PacketKind::Ack | PacketKind::Nak => is_old(packet.sequence),
            PacketKind::SelectiveNak => {
                let missing = Missing::of(packet);
                is_old(missing.first)
                    && is_old(missing.end)
                    && missing.end.wrapping_sub(missing.first) <= RANGE_MAX
            }
            // A CNP names no sequence number.
            PacketKind::Cnp => true,
            _ => false,
        }
    }

    fn hand_over(&mut self, packets: &mut Vec<Packet>, out: &mut Vec<Departure>) {
        for packet in packets.drain(..) {
            let nic = self.model().nic();
            let is_data = packet.kind.is_for_receiver();
            let from = (is_data, packet.destination, packet.queue_pair);
            // A packet to a slot that the plan does not have cannot be sent.
            let Some(&from) = self.senders.get(&from) else {
                continue;
            };
            let begins = matches!(packet.kind, PacketKind::First | PacketKind::Only);
            let message_bytes = match from {
                Slot::Send(slot) if begins => nic.message_bytes(slot, packet.sequence),
                _ => 0,
            };
            let end = nic.last_end();
            if let Slot::Send(slot) = from {
                let next = packet.sequence.wrapping_add(1);
                let sent = &mut self.sent[slot.index()];
                // A repeated packet does not move the mark back.
                if next.wrapping_sub(*sent) <= u32::MAX / 2 {
                    *sent = next;
                }
            }
            out.push(Departure {
                end,
                packet,
                from,
                message_bytes: message_bytes as u32,
            });
        }
    }

    /// Returns the sequence number that a slot sends next.
    pub fn next_sequence(&self, slot: SendSlot) -> u32 {
        self.model().nic().next_sequence(slot)
    }

    /// Returns the sequence number that a slot expects next.
    pub fn expected_sequence(&self, slot: ReceiveSlot) -> u32 {
        self.model().nic().expected_sequence(slot)
    }

    /// Returns the NIC's counters, and the data and control frames that it has sent, each with
    /// frame bytes.
    pub fn counters(&self) -> (NicCounters, [(u64, u64); 2]) {
        let nic = self.model().nic();
        let transmitter = nic.transmitter(0);
        let sent = [transmitter.sent_data(), transmitter.sent_control()];
        (nic.counters(), sent)
    }

    /// Returns the hosts to which queue pairs have given up sending, each with the instant.
    pub fn given_up(&self) -> impl Iterator<Item = (HostId, Instant)> + '_ {
        let errors = self.model().nic().errors().into_iter();
        errors.map(|error| (error.destination, error.at))
    }

    /// Returns the records since the last call.
    pub fn take_records(&mut self) -> HostRecords {
        let records = &mut self.fabric.partition_records;
        // Marks and deliveries are separate lists, so they are joined by flow.
        let marks: BTreeMap<(FlowKey, u32), _> = records
            .marked
            .drain(..)
            .map(|(key, turn, marks)| ((key, turn), marks))
            .collect();
        let received = records.delivered.drain(..).map(|half| {
            let marks = marks.get(&(half.key, half.turn));
            HalfReceived::new(&half, marks.copied().unwrap_or_default())
        });
        HostRecords {
            received: received.collect(),
            sent: records
                .acknowledged
                .drain(..)
                .map(|half| HalfSent::new(&half))
                .collect(),
        }
    }
}

/// Lists a host's queue pairs: for each rank those that send, then those that receive.
fn ways(context: &Context, host: HostId) -> Vec<Way> {
    let mut ways = Vec::new();
    for here in context.ranks_on(host) {
        let plan = &context.jobs[here.job];
        let place = plan.places[here.rank];
        for slot in plan.pairs.send_slots(here.rank) {
            let peer = plan.pairs.peer_of(here.rank, slot);
            ways.push(Way {
                own: Slot::Send(place.send_slot(slot)),
                peer: plan.job.hosts[peer.rank],
                peer_slot: plan.places[peer.rank].receive_slot(peer.slot).number(),
                source_port: context.udp_source_port(QueuePairId::to(here.job, here.rank, &peer)),
            });
        }
        let receives = plan.pairs.receive_count(here.rank) as u32;
        for slot in tenter_workload::RankReceiveSlot::new(0).run(receives) {
            let source = plan.pairs.source_of(here.rank, slot);
            ways.push(Way {
                own: Slot::Receive(place.receive_slot(slot)),
                peer: plan.job.hosts[source.rank],
                peer_slot: plan.places[source.rank].send_slot(source.slot).number(),
                source_port: context.udp_source_port(QueuePairId::to(here.job, here.rank, &source)),
            });
        }
    }
    ways
}
