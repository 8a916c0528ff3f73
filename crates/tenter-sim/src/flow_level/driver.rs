//! Moves time at flow level.

use std::cell::RefCell;
use std::sync::Arc;

use tenter_endpoint::{Acknowledged, Delivery, WorkRequest};
use tenter_engine::{Control, Home, LocalNode, Output, RunOutcome};
use tenter_flow::{Amount, FlowId, FlowRate, FlowSpec, Fluid, Weight};
use tenter_net::{Event, Medium, Packet, ReceiveSlot, SendSlot, WIRE_OVERHEAD_BYTES};
use tenter_plan::Plan;
use tenter_topology::{CableEnd, HostId};
use tenter_units::{ById, Time};
use tenter_workload::{Countdown, JobId, RankId, Rings, Schedule, split};

use crate::error::SimulationError;
use crate::network::{
    Change, Context, Driver, DriverStats, Fabric, FlowKey, JobProgress, NodeModel, Posted,
    QueuePairId, Unwatched, fabric,
};

use super::carried::{Carried, Load};
use super::instants::{Happens, Instants};
use super::messages::{Message, MessageId, Messages, PairId, PairWay, Size};
use super::ring_jobs::{self, RingsTaken};
use super::waves::{RankTimes, Waves};
use super::way_delays::EndFrames;
use super::ways::{MixedLoads, Net, WayId, Ways};

/// Hosts as at packet level, and flows between them.
#[derive(Debug)]
pub struct FlowDriver {
    fabric: Fabric<Unwatched>,
    fluid: Fluid,
    ways: Ways,
    messages: Messages,
    /// The first queue pair of each rank.
    first_pairs: ById<JobId, ById<RankId, PairId>>,
    instants: Instants,
    under_way: UnderWay,
    /// Shares of transfers that have to arrive before the transfer has, where there are several.
    shares: Countdown<(JobId, u32)>,
    carried: Carried,
    /// What has been sent over each way since that was last spread over its ports.
    over_ways: ById<WayId, Load>,
    /// The most that a queue pair sends at on each way.
    limits: ById<WayId, Option<FlowRate>>,
    /// Whether all that runs are rings that have their links to themselves.
    runs_whole_rings: bool,
    /// When a timer of each node was last planned.
    planned: Vec<u64>,
    events: u64,
    settled: u64,
}

/// Ends of transfers within hosts that are on their way out of their domains.
#[derive(Debug, Default)]
struct UnderWay {
    packets: Vec<(LocalNode, Packet)>,
    free: Vec<u32>,
}

/// What hosts send without their NICs: the ends of transfers within their domains.
struct Domains<'a> {
    instants: &'a mut Instants,
    under_way: &'a mut UnderWay,
}

impl Medium for Domains<'_> {
    const WATCHED: bool = false;

    fn send(&mut self, output: Output, at: u64, packet: &Packet) {
        let sent = (output.node, Packet { at, ..*packet });
        let UnderWay { packets, free } = self.under_way;
        let place = if let Some(place) = free.pop() {
            packets[place as usize] = sent;
            place
        } else {
            packets.push(sent);
            packets.len() as u32 - 1
        };
        self.instants.add(at, Happens::Carried(place));
    }

    fn note(&mut self, _: Event) {}
}

impl FlowDriver {
    /// Builds the hosts of a plan and the links between them.
    ///
    /// # Errors
    /// When hosts cannot reach each other, or a collective cannot be run.
    pub fn new(plan: &Plan) -> Result<FlowDriver, SimulationError> {
        let mut fabric = fabric(plan)?;
        fabric.partition_records.posted = Some(RefCell::default());
        let mut messages = Messages::default();
        let jobs = fabric.context.jobs.iter();
        let first_pairs = jobs.map(|plan| {
            let ranks = plan.job.hosts.ids();
            ranks
                .map(|rank| messages.add_pairs(plan.pairs.send_count(rank)))
                .collect()
        });
        let first_pairs = first_pairs.collect();
        let mut fluid = Fluid::default();
        let topology = &fabric.context.topology;
        let mut driver = FlowDriver {
            runs_whole_rings: false,
            ways: Ways::new(topology, &mut fluid, false),
            carried: Carried::new(topology),
            planned: vec![u64::MAX; fabric.nodes.len()],
            fluid,
            fabric,
            messages,
            first_pairs,
            instants: Instants::default(),
            under_way: UnderWay::default(),
            shares: Countdown::default(),
            over_ways: ById::default(),
            limits: ById::default(),
            events: 0,
            settled: 0,
        };
        driver.runs_whole_rings = driver.rings_are_free();
        if !driver.runs_whole_rings {
            ring_jobs::check_ids(&driver.fabric.context)?;
        }
        Ok(driver)
    }

    /// The same with rings as flows one by one, too.
    #[must_use]
    pub fn one_by_one(mut self) -> FlowDriver {
        self.runs_whole_rings = false;
        self
    }

    /// Whether all jobs are rings whose flows never meet.
    fn rings_are_free(&mut self) -> bool {
        let context = Arc::clone(&self.fabric.context);
        if context.jobs.is_empty() || !ring_jobs::may_be_whole(&context) {
            return false;
        }
        let strides: Vec<(JobId, Vec<Rings>)> = context
            .jobs
            .ids()
            .map(|job| (job, ring_jobs::rings_of(&context, job)))
            .collect();
        // Of several jobs with several kinds of rings any may meet.
        let kinds = strides.iter().map(|(_, rings)| rings.len()).max();
        if context.jobs.len() > 1 && kinds > Some(1) {
            return false;
        }
        (0..kinds.unwrap_or(0)).all(|kind| {
            let mut specs = Vec::new();
            for (job, rings) in &strides {
                let Some(rings) = rings.get(kind) else {
                    continue;
                };
                for rank in context.jobs[*job].job.hosts.ids() {
                    match self.ring_spec(*job, rank, *rings) {
                        Some((_, spec)) => specs.push(spec),
                        None => return false,
                    }
                }
            }
            ring_jobs::are_free(&mut self.fluid, &specs)
        })
    }

    /// The message and the flow by which a rank sends to the next of its ring; `None` where it does
    /// not pass the fabric.
    fn ring_spec(&mut self, job: JobId, rank: RankId, rings: Rings) -> Option<(Message, FlowSpec)> {
        let context = Arc::clone(&self.fabric.context);
        let plan = &context.jobs[job];
        let ranks = plan.job.ranks();
        let next = RankId::new((rank.number() + rings.stride) % ranks);
        let ends = [rank, next].map(|rank| plan.job.hosts[rank]);
        if context.is_within_domain(ends[0], ends[1]) {
            return None;
        }
        let first = plan.pairs.find(rank, next, 0)?;
        let pair = self.first_pairs[job][rank].after(first.send.number());
        if self.messages.way(pair).is_none() {
            let of = QueuePairId {
                job,
                from: rank,
                to: next,
                lane: 0,
                queue_pair: 0,
            };
            self.find_way(pair, ends, context.hash(of), 0);
        }
        let size = self.size(rings.bytes);
        let message = Message::new(FlowKey::default(), 0, pair, size);
        let spec = self.spec(&message, Amount::of_bytes(wire_bytes(&message)))?;
        Some((message, spec))
    }

    fn size(&self, bytes: u64) -> Size {
        let cut = self.fabric.context.nic.cut();
        let frames = cut.packets(bytes);
        Size {
            bytes,
            frames: frames as u32,
            frame_bytes: cut.request_frame_bytes(bytes, frames),
        }
    }

    /// When something next happens.
    fn next(&mut self) -> Option<u64> {
        let ends = self.fluid.next_end();
        let others = self.instants.next();
        ends.into_iter().chain(others).min()
    }

    /// Lets all happen that does at an instant.
    fn step(&mut self, at: u64) {
        while self.next() == Some(at) {
            if self.fluid.next_end() == Some(at) {
                for flow in self.fluid.ending(at) {
                    self.flow_ends(flow, at);
                }
            }
            while self.instants.next() == Some(at) {
                for happens in self.instants.take(at) {
                    self.events += 1;
                    self.let_happen(happens, at);
                }
            }
            self.fluid.settle(at);
            self.settled += 1;
            // It looks at all flows, so not each time.
            debug_assert!(!self.settled.is_power_of_two() || self.fluid.check() == Ok(()));
        }
    }

    /// A flow has sent its last byte: it arrives, and the queue pair sends its next message.
    fn flow_ends(&mut self, flow: FlowId, now: u64) {
        self.fluid.withdraw(flow);
        let Some((id, next)) = self.messages.ended(flow) else {
            return;
        };
        let message = *self.messages.get(id);
        self.count(&message, 1);
        let rest = self.rest(&message);
        let arrives = Happens::Delivered(message.sequence, id.number());
        self.instants.add(now + rest.ps(), arrives);
        if let Some(next) = next {
            self.begin(next, now);
        }
    }

    fn rest(&self, message: &Message) -> Time {
        let Some(PairWay { way, .. }) = self.messages.way(message.pair) else {
            return Time::ZERO;
        };
        let cut = self.fabric.context.nic.cut();
        let (bytes, packets) = (message.bytes, u64::from(message.frames));
        let frame = |from: u64| cut.frame_bytes(bytes, from, from + 1) as u32;
        let ends = EndFrames {
            first: frame(0),
            before: packets.checked_sub(2).map(frame),
            last: frame(packets - 1),
        };
        self.ways.way(way).delays.rest(ends)
    }

    fn let_happen(&mut self, happens: Happens, now: u64) {
        match happens {
            Happens::Timer(node) => self.fire(LocalNode::new(node), now),
            Happens::Carried(place) => {
                let (node, packet) = self.under_way.packets[place as usize];
                self.under_way.free.push(place);
                let (model, mut scope) = self.fabric.node(node);
                if let NodeModel::Host(host) = model {
                    host.take_carried(&packet, &mut scope);
                }
                self.look_at(node, now);
            }
            Happens::Delivered(_, id) => self.deliver(MessageId::new(id), now),
            Happens::Acknowledged(_, id) => self.acknowledge(MessageId::new(id), now),
            Happens::Rings(job) => {
                let progress = &self.fabric.context.progress;
                progress.arrived(JobId::new(job), now);
            }
        }
    }

    fn fire(&mut self, node: LocalNode, now: u64) {
        self.planned[node.index()] = u64::MAX;
        let mut domains = Domains {
            instants: &mut self.instants,
            under_way: &mut self.under_way,
        };
        let (model, mut scope) = self.fabric.node(node);
        if let NodeModel::Host(host) = model {
            while host.next_timer().is_some_and(|at| at <= now) {
                host.fire(now, &mut scope, &mut domains);
            }
        }
        self.look_at(node, now);
    }

    /// Takes what a host has posted, and plans its next timer.
    fn look_at(&mut self, node: LocalNode, now: u64) {
        let posted = self.fabric.partition_records.posted.as_ref();
        let posted = posted.map(RefCell::take).unwrap_or_default();
        for posted in posted {
            self.post(posted, now);
        }
        let NodeModel::Host(host) = &self.fabric.nodes[node.index()] else {
            return;
        };
        if let Some(next) = host.next_timer()
            && next < self.planned[node.index()]
        {
            self.planned[node.index()] = next;
            self.instants.add(next, Happens::Timer(node.number()));
        }
    }

    /// Posts the shares of a transfer to its queue pairs.
    fn post(&mut self, posted: Posted, now: u64) {
        let context = Arc::clone(&self.fabric.context);
        let plan = &context.jobs[posted.job];
        let transfer = self
            .fabric
            .schedules
            .of(posted.job)
            .transfer(posted.transfer);
        let turn = self.fabric.schedules.turn(posted.job);
        let lane = transfer.way(plan.job.queue_pair_scope).lane;
        for queue_pair in 0..plan.job.queue_pairs {
            let slot = posted.first.after(u32::from(queue_pair));
            let pair = self.first_pairs[posted.job][posted.rank].after(slot.number());
            if self.messages.way(pair).is_none() {
                let of = QueuePairId::of(posted.job, &transfer, lane, queue_pair);
                self.find_way(pair, plan.job.ends(&transfer), context.hash(of), now);
            }
            let bytes = split::share(transfer.bytes, plan.job.queue_pairs, queue_pair);
            let size = self.size(bytes);
            let key = FlowKey {
                job: posted.job,
                queue_pair,
                transfer: posted.transfer,
            };
            let (id, is_first) = self.messages.post(key, turn, pair, posted.at, size);
            if is_first {
                self.begin(id, now);
            }
        }
    }

    /// Finds the way of a queue pair; where that loads links one by one that others load together,
    /// all ways are found anew.
    fn find_way(&mut self, pair: PairId, ends: [HostId; 2], hash: u32, now: u64) {
        let found = self
            .ways
            .find(self.fabric.net(), &mut self.fluid, ends, hash);
        let way = found.unwrap_or_else(|MixedLoads| {
            self.load_links_one_by_one(now);
            let ways = &mut self.ways;
            let again = ways.find(self.fabric.net(), &mut self.fluid, ends, hash);
            again.unwrap_or_else(|MixedLoads| unreachable!("there are no bundles"))
        });
        let [from, to] = ends;
        let own = PairWay {
            way,
            hash,
            from,
            to,
        };
        self.messages.set_way(pair, own);
    }

    /// Gives every flow under way the links of its way one by one.
    fn load_links_one_by_one(&mut self, now: u64) {
        self.spread();
        self.over_ways = ById::default();
        self.limits = ById::default();
        let topology = &self.fabric.context.topology;
        let before = std::mem::take(&mut self.fluid);
        self.ways = Ways::new(topology, &mut self.fluid, true);
        let pairs = self.messages.take_ways();
        for (pair, PairWay { from, to, hash, .. }) in pairs {
            self.find_way(pair, [from, to], hash, now);
        }
        for id in self.messages.sending() {
            let message = self.messages.get(id);
            let left = message.flow.map(|flow| before.left(flow, now));
            self.begin_with(id, left, now);
        }
    }

    /// A message begins to be sent.
    fn begin(&mut self, id: MessageId, now: u64) {
        self.begin_with(id, None, now);
    }

    /// A message is sent from now on, of which so much is left; all of it where that is not said.
    fn begin_with(&mut self, id: MessageId, left: Option<Amount>, now: u64) {
        let message = *self.messages.get(id);
        let amount = left.unwrap_or(Amount::of_bytes(wire_bytes(&message)));
        if let Some(spec) = self.spec(&message, amount) {
            let flow = self.fluid.begin(now, spec);
            self.messages.begin(id, flow, now);
        }
    }

    /// The flow of so much of a message.
    fn spec(&mut self, message: &Message, amount: Amount) -> Option<FlowSpec> {
        let PairWay { way, from, to, .. } = self.messages.way(message.pair)?;
        let context = &self.fabric.context;
        let enters = self.ways.link(CableEnd {
            node: from.node(),
            port: 0,
        });
        let leaves = context.topology.neighbour(to, 0);
        Some(FlowSpec {
            from: (enters, entry_weight(context, from, message)),
            route: self.ways.way(way).route,
            to: self.ways.link(leaves),
            limit: self.limit(way),
            amount,
        })
    }

    /// The most that a queue pair sends at on a way: its window in each round trip.
    fn limit(&mut self, way: WayId) -> FlowRate {
        if self.limits.len() <= way.index() {
            self.limits.resize(way.index() + 1, None);
        }
        let nic = &self.fabric.context.nic;
        let delays = &self.ways.way(way).delays;
        *self.limits[way].get_or_insert_with(|| super::limits::of_windows(nic, delays))
    }

    /// Counts what so many messages like one have loaded.
    fn count(&mut self, message: &Message, messages: u64) {
        let Some(PairWay { way, from, to, .. }) = self.messages.way(message.pair) else {
            return;
        };
        let load = Load {
            frames: u64::from(message.frames) * messages,
            bytes: message.frame_bytes * messages,
        };
        if self.over_ways.len() <= way.index() {
            self.over_ways.resize(way.index() + 1, Load::default());
        }
        self.over_ways[way].add(load);
        let enters = CableEnd {
            node: from.node(),
            port: 0,
        };
        self.carried.count(enters, load, Weight::WHOLE);
        let leaves = self.fabric.context.topology.neighbour(to, 0);
        self.carried.count(leaves, load, Weight::WHOLE);
        self.carried.receive(to, load);
    }

    /// Spreads what has been sent over ways over their ports.
    fn spread(&mut self) {
        for (way, load) in self.over_ways.numbered_mut() {
            if *load == Load::default() {
                continue;
            }
            for &(end, weight) in &self.ways.way(way).ports {
                self.carried.count(end, *load, weight);
            }
            *load = Load::default();
        }
    }

    /// A message has arrived whole.
    fn deliver(&mut self, id: MessageId, now: u64) {
        let message = *self.messages.get(id);
        let Some(PairWay { way, to, .. }) = self.messages.way(message.pair) else {
            return;
        };
        let back = self.ways.way(way).delays.back.ps();
        let answered = Happens::Acknowledged(message.sequence, id.number());
        self.instants.add(now + back, answered);
        let FlowKey { job, transfer, .. } = message.key;
        let delivery = Delivery {
            slot: ReceiveSlot::default(),
            nth: 0,
            at: now,
            accepted_frames: message.frames,
            accepted_bytes: message.frame_bytes,
            latency_min: 0,
            latency_max: 0,
            latency_sum: 0,
        };
        let shares = u32::from(self.fabric.context.jobs[job].job.queue_pairs);
        let is_whole = self.shares.is_last((job, transfer), shares);
        let Home { node, .. } = self.fabric.context.home(to);
        let (model, mut scope) = self.fabric.node(node);
        scope
            .partition_records
            .delivered(message.key, message.turn, &delivery);
        if let NodeModel::Host(host) = model
            && is_whole
        {
            let receiver = scope.schedules.of(job).transfer(transfer).receiver();
            if let Some(number) = scope.context.number_of(to, job, receiver) {
                host.transfer_arrived(number, job, transfer, now, &mut scope);
            }
        }
        self.look_at(node, now);
    }

    /// The acknowledgement of a message has arrived.
    fn acknowledge(&mut self, id: MessageId, now: u64) {
        let message = self.messages.close(id);
        let Some(PairWay { from, .. }) = self.messages.way(message.pair) else {
            return;
        };
        let Home { node, .. } = self.fabric.context.home(from);
        let (model, mut scope) = self.fabric.node(node);
        scope.partition_records.acknowledged(&Acknowledged {
            slot: SendSlot::default(),
            request: WorkRequest {
                tag: message.key.pack(),
                group: message.turn,
                bytes: message.bytes,
                posted: message.posted,
            },
            first_sent: message.first_sent,
            at: now,
            sent_frames: u64::from(message.frames),
            sent_bytes: message.frame_bytes,
            retransmitted_frames: 0,
        });
        let FlowKey { job, transfer, .. } = message.key;
        if let NodeModel::Host(host) = model {
            host.share_acknowledged(job, transfer, message.posted, now, &mut scope);
        }
        self.look_at(node, now);
    }
}

/// Bytes on the wire of all frames of a message.
fn wire_bytes(message: &Message) -> u64 {
    message.frame_bytes + u64::from(message.frames) * u64::from(WIRE_OVERHEAD_BYTES)
}

/// How much of the wire of its NIC a message takes: gaps behind messages are part of it.
fn entry_weight(context: &Context, from: HostId, message: &Message) -> Weight {
    let wire = wire_bytes(message);
    let gap = context.nic.message_gap;
    if gap.is_zero() {
        return Weight::WHOLE;
    }
    let messages = message.bytes.div_ceil(context.nic.message_bytes).max(1);
    let rate = context.topology.cable(from, 0).rate.bytes_per_second();
    let idle = messages as f64 * gap.as_s() * rate;
    Weight::of(wire + idle.round() as u64, wire)
}

impl Fabric<Unwatched> {
    /// What ways are found in.
    fn net(&self) -> Net<'_> {
        Net {
            context: &self.context,
            topology: &self.topology,
            routing: &self.routing,
            nodes: &self.nodes,
        }
    }
}

impl Driver for FlowDriver {
    type Watcher = Unwatched;

    fn run(&mut self, _: u64, edge: u64, progress: &JobProgress) -> RunOutcome {
        let outcome = loop {
            let Some(next) = self.next() else {
                break RunOutcome::Empty;
            };
            let edge = edge.min(progress.edge_after(next));
            if next >= edge {
                break RunOutcome::Edge(edge);
            }
            self.step(next);
        };
        self.spread();
        outcome
    }

    fn parts(&self) -> usize {
        1
    }

    fn fabric(&self, _: usize) -> &Fabric<Unwatched> {
        &self.fabric
    }

    fn fabric_mut(&mut self, _: usize) -> &mut Fabric<Unwatched> {
        &mut self.fabric
    }

    fn wake(&mut self, home: Home, at: u64) {
        let planned = &mut self.planned[home.node.index()];
        if at < *planned {
            *planned = at;
            self.instants.add(at, Happens::Timer(home.node.number()));
        }
    }

    fn in_flight(&self, _: Home) -> Vec<(u16, Packet)> {
        Vec::new()
    }

    fn lose(&mut self, _: Home, _: u16) -> Vec<Packet> {
        Vec::new()
    }

    fn change(&mut self, _: Home, _: u64, _: &Change) -> bool {
        false
    }

    fn run_rings(&mut self, job: JobId, begin: u64, schedule: &dyn Schedule) -> Option<RingsTaken> {
        let rings = schedule.rings().filter(|_| self.runs_whole_rings)?;
        let context = Arc::clone(&self.fabric.context);
        let delays = context.host_delays;
        let mut ranks = Vec::with_capacity(context.jobs[job].job.hosts.len());
        let mut taken = RingsTaken::default();
        let mut back = 0;
        for rank in context.jobs[job].job.hosts.ids() {
            let (message, spec) = self.ring_spec(job, rank, rings)?;
            ranks.push(RankTimes {
                sending: spec.amount.time_at(self.fluid.rate_alone(&spec))?,
                rest: self.rest(&message).ps(),
            });
            let steps = u64::from(rings.steps);
            self.count(&message, steps);
            taken.frames += u64::from(message.frames) * steps;
            taken.frame_bytes += message.frame_bytes * steps;
            taken.payload += rings.bytes * steps;
            let way = self.messages.way(message.pair)?.way;
            back = back.max(self.ways.way(way).delays.back.ps());
        }
        let begin = begin + delays.start_up.ps() + delays.step.ps();
        let waves = Waves::new(rings, &ranks, begin, delays.step.ps()).run();
        self.settled += u64::from(rings.steps - waves.skipped);
        let times = waves.times.into_iter();
        taken.times = times
            .map(|(time, count)| (Time::from_ps(time), count))
            .collect();
        taken.last = waves.last;
        taken.acknowledged = waves.last + back;
        taken.mesh = ring_jobs::mesh(&context, job, rings);
        self.instants.add(waves.last, Happens::Rings(job.number()));
        Some(taken)
    }

    fn carried(&self) -> Option<&Carried> {
        Some(&self.carried)
    }

    fn stats(&self) -> DriverStats {
        DriverStats {
            node_visits: self.events,
            windows: self.settled,
            window_ps: 0,
            central: false,
        }
    }
}
