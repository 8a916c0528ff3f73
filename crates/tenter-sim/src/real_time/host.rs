//! A host of the simulation that is driven by a clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_endpoint::NicCounters;
use tenter_engine::{LocalNode, Output};
use tenter_net::{Event, Medium, Missing, Packet, PacketKind, ReceiveSlot, SendSlot};
use tenter_plan::Plan;
use tenter_topology::HostId;
use tenter_units::Instant;
use tenter_workload::graph::GraphSchedule;
use tenter_workload::{JobId, Schedule, split};

use crate::error::SimulationError;
use crate::network::{Context, Fabric, FlowKey, Host, NodeModel, QueuePairId, Unwatched, fabric};

use super::records::{HalfReceived, HalfSent, HostRecords};
use super::refusal::{crowded, refusal_of_real_hosts};

/// A packet that leaves a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When its last bit has left.
    pub end: Instant,
    /// The packet.
    pub packet: Packet,
    /// The slot of the host that sends it.
    pub from: Slot,
    /// Of the first packet of a message its payload bytes; elsewhere 0.
    pub message_bytes: u32,
}

/// A queue pair by its number at this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// One by which it sends.
    Send(SendSlot),
    /// One by which it receives, and sends answers.
    Receive(ReceiveSlot),
}

/// A queue pair of a host, in the direction of what the host sends by it: data or answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Its number here.
    pub own: Slot,
    /// The host at the other end.
    pub peer: HostId,
    /// Its number there, of the other kind.
    pub peer_slot: u32,
    /// The UDP source port of what this host sends.
    pub source_port: u16,
}

/// A host of a plan, NIC and ranks, that a caller drives by a clock.
///
/// Instants are those of the caller, which may tell the same one twice and none before another.
#[derive(Debug)]
pub struct RealHost {
    fabric: Fabric<Unwatched>,
    node: LocalNode,
    host: HostId,
    /// When the last thing happened.
    clock: Instant,
    ways: Vec<Way>,
    /// The slot by which the host sends to a slot of another: data, then answers.
    senders: BTreeMap<(bool, HostId, u32), Slot>,
    incoming: Incoming,
    /// Of each send slot the sequence number after the last that was ever sent.
    sent: Vec<u32>,
}

/// Packets that a selective NAK may ask for.
const RANGE_MAX: u32 = 1 << 20;

/// Where transfers end on each receive slot: what a peer says of it is not relied upon.
#[derive(Debug, Default)]
struct Incoming(Vec<Expected>);

/// What a receive slot is to receive in a collective.
#[derive(Clone, Debug, Default)]
struct Expected {
    /// The sequence number of the first packet.
    first: u32,
    /// How many packets of it are before the end of each transfer.
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

    /// Whether a transfer ends with a packet; `None` of one that nobody is to send.
    fn ends(&self, slot: ReceiveSlot, sequence: u32) -> Option<bool> {
        let Expected { first, ends } = self.0.get(slot.index())?;
        let place = sequence.wrapping_sub(*first);
        if place > u32::MAX / 2 {
            // Of a collective before: it has been received.
            return Some(false);
        }
        let whole = ends.last().copied().unwrap_or(0);
        (place < whole).then(|| ends.binary_search(&(place + 1)).is_ok())
    }
}

/// Takes what leaves.
struct Outbox<'a>(&'a mut Vec<Packet>);

impl Medium for Outbox<'_> {
    const WATCHED: bool = false;

    fn send(&mut self, _: Output, _: Instant, packet: &Packet) {
        self.0.push(*packet);
    }

    fn note(&mut self, _: Event) {}
}

impl RealHost {
    /// The host of that number of a plan.
    ///
    /// # Errors
    /// When the plan cannot be built, or real hosts cannot run it.
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

    /// Its queue pairs.
    pub fn ways(&self) -> &[Way] {
        &self.ways
    }

    /// Whether ranks of a job are here.
    pub fn has_ranks_of(&self, job: JobId) -> bool {
        let context = self.fabric.context();
        context
            .ranks_on(self.host)
            .iter()
            .any(|here| here.job == job)
    }

    /// Makes ready for a collective of a job that has ended the one before: what arrives from now
    /// on belongs to it.
    ///
    /// # Errors
    /// When the collective cannot be run by its ranks.
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
        if turn > 0
            && let NodeModel::Host(host) = &mut self.fabric.nodes[self.node.index()]
        {
            host.reset(&context, job);
        }
        Ok(())
    }

    /// Notes where the transfers to ranks here end, on each queue pair.
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
                self.incoming.begin(slot, first);
            }
            for id in 0..schedule.transfer_count() {
                let transfer = schedule.transfer(id);
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

    /// How many arrivals and ends of ranks here complete a collective.
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
            things += busy.count() as u64;
        }
        things
    }

    /// Lets the ranks here start the collective that was prepared, at an instant.
    pub fn start(&mut self, job: JobId, at: Instant) {
        let context = Arc::clone(&self.fabric.context);
        let plan = &context.jobs[job];
        let schedule = self.fabric.schedules.of(job);
        let within = plan.within_hosts(self.fabric.schedules.turn(job));
        let begin = at
            .saturating_add(within)
            .saturating_add(schedule.start_up());
        if let NodeModel::Host(host) = &mut self.fabric.nodes[self.node.index()] {
            host.start(&context, job, begin);
        }
    }

    /// What has not happened yet of the collective of a job here, and when the last thing did.
    pub fn progress(&self, job: JobId) -> (u64, Instant) {
        let progress = &self.fabric.context().progress;
        (progress.missing(job), progress.last_arrival(job))
    }

    /// When it next has something to do by itself.
    pub fn next(&self) -> Instant {
        let host = self.model();
        let departure = host.next_departure(self.clock).unwrap_or(Instant::NEVER);
        departure.min(host.next_timer().unwrap_or(Instant::NEVER))
    }

    /// Does what is due up to an instant, in the order of time, at most so many things; appends
    /// what leaves.
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
            self.clock = self.clock.max(next);
            let mut outbox = Outbox(&mut packets);
            if departure <= timer {
                self.fabric.host_departs(self.node, self.clock, &mut outbox);
            } else {
                self.fabric.fires(self.node, self.clock, &mut outbox);
            }
            self.hand_over(&mut packets, out);
        }
    }

    /// A packet arrives, at its [`Packet::at`] or, if that has passed, now; whether it can be one
    /// of the collective that runs or of one before. If not, nothing happens.
    pub fn arrive(&mut self, mut packet: Packet, out: &mut Vec<Departure>) -> bool {
        if packet.kind.is_data() {
            let Some(ends) = self.incoming.ends(packet.receive_slot(), packet.sequence) else {
                return false;
            };
            packet.flags &= !Packet::END_OF_TRANSFER;
            packet.flags |= u8::from(ends) * Packet::END_OF_TRANSFER;
        } else if !self.was_sent(&packet) {
            return false;
        }
        self.clock = self.clock.max(packet.at);
        packet.at = self.clock;
        let mut packets = Vec::new();
        self.fabric
            .arrives(self.node, 0, packet, &mut Outbox(&mut packets));
        self.hand_over(&mut packets, out);
        true
    }

    /// Whether an answer is about packets that have been sent.
    fn was_sent(&self, packet: &Packet) -> bool {
        if !packet.kind.is_of_queue_pair() || packet.kind.is_for_receiver() {
            return false;
        }
        let slot = packet.send_slot();
        let Some(&next) = self.sent.get(slot.index()) else {
            return false;
        };
        let is_old = |sequence: u32| next.wrapping_sub(sequence) <= u32::MAX / 2;
        match packet.kind {
            PacketKind::Ack | PacketKind::Nak => is_old(packet.sequence),
            PacketKind::SelectiveNak => {
                let missing = Missing::of(packet);
                is_old(missing.first)
                    && is_old(missing.end)
                    && missing.end.wrapping_sub(missing.first) <= RANGE_MAX
            }
            PacketKind::Cnp => true,
            _ => false,
        }
    }

    fn hand_over(&mut self, packets: &mut Vec<Packet>, out: &mut Vec<Departure>) {
        for packet in packets.drain(..) {
            let nic = self.model().nic();
            let is_data = packet.kind.is_for_receiver();
            let from = (is_data, packet.destination, packet.queue_pair);
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

    /// The sequence number after the last packet sent by a slot.
    pub fn next_sequence(&self, slot: SendSlot) -> u32 {
        self.model().nic().next_sequence(slot)
    }

    /// The sequence number expected next at a slot.
    pub fn expected_sequence(&self, slot: ReceiveSlot) -> u32 {
        self.model().nic().expected_sequence(slot)
    }

    /// What its NIC has counted, and the data frames and others that it has sent with their frame
    /// bytes.
    pub fn counters(&self) -> (NicCounters, [(u64, u64); 2]) {
        let nic = self.model().nic();
        let transmitter = nic.transmitter(0);
        let sent = [transmitter.sent_data(), transmitter.sent_control()];
        (nic.counters(), sent)
    }

    /// The hosts to which queue pairs have given up sending, with the instants.
    pub fn given_up(&self) -> impl Iterator<Item = (HostId, Instant)> + '_ {
        let errors = self.model().nic().errors().into_iter();
        errors.map(|error| (error.destination, error.at))
    }

    /// Takes out what has been recorded since this was last asked.
    pub fn take_records(&mut self) -> HostRecords {
        let records = &mut self.fabric.partition_records;
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

/// The queue pairs of a host.
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
