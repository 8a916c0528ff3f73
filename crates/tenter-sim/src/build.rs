//! From a plan to nodes, links and queue pairs.

use std::fmt::Write;
use std::sync::Arc;

use tenter_endpoint::{Directory, DmaRates, Nic, NicAddress, NicSpec, ROCE_UDP_PORT, ReplyPath};
use tenter_engine::{LaneBuilder, LaneLayout, Output, Pace, Part, Stream, Windows, mix64};
use tenter_net::impairment::{ImpairmentSpec, TesterRule};
use tenter_net::input_queued::InputQueuedSpec;
use tenter_net::load_balancing::FiveTuple;
use tenter_net::scheduled::ScheduledSpec;
use tenter_net::{
    ArrivalsByPort, CreditSpec, FarEnd, MacControl, SignalSpec, Switch, SwitchModel, SwitchSpec,
    Switches, Telemetry, Transmitter,
};
use tenter_plan::{CENTRAL_BELOW, LinkImpairment, Plan, RulePlan, WINDOW_MAX};
use tenter_topology::{CableEnd, Routing, Topology};
use tenter_units::{Rate, Time};
use tenter_workload::collective::ScaleUp;
use tenter_workload::{Destination, QueuePairs, Schedule, split};

use crate::driver::WindowedDriver;
use crate::fabric::{Fabric, NodeModel};
use crate::host::{Host, RankHere};
use crate::jobs::{JobPlan, JobProgress, Place};
use crate::partition_records::{FlowKey, PartitionRecords};
use crate::run::SimulationError;
use crate::scale_up;
use crate::scheduled::ScheduledFabric;
use crate::unloaded::Unloaded;
use crate::watch::{Unwatched, Watcher};

/// Calendar buckets under central windows.
const CENTRAL_BUCKET: Time = Time::from_ns(50);
/// The smallest frame and its gap: what a store-and-forward hop adds to the lookahead at least.
const SMALLEST_WIRE_BYTES: u32 = 64 + tenter_net::WIRE_OVERHEAD_BYTES;
/// Queue pairs take about 300 bytes each when they are used: so many take 40 GB.
pub(crate) const QUEUE_PAIRS_MAX: u64 = 1 << 27;
const UDP_PROTOCOL: u8 = 17;
/// `RoCEv2` takes its source ports from the dynamic range.
const FIRST_SOURCE_PORT: u16 = 0xc000;

/// What all parts share and nothing changes.
#[derive(Debug)]
pub struct Context {
    pub(crate) topology: Arc<Topology>,
    /// The routes while no link is down.
    pub(crate) routing: Arc<Routing>,
    pub(crate) impairments: Vec<LinkImpairment>,
    pub(crate) switches: Switches,
    pub(crate) nic: NicSpec,
    /// The DMA rates of each NIC; empty without PCIe.
    dma: Vec<DmaRates>,
    /// What connects the NPUs of a host.
    pub(crate) scale_up: Option<ScaleUp>,
    /// NPUs that share each NIC.
    pub(crate) npus_per_nic: u32,
    /// In-band telemetry, if packets carry any.
    telemetry: Option<Arc<Telemetry>>,
    /// What is different in a scheduled fabric.
    pub(crate) scheduled: Option<ScheduledFabric>,
    /// What frames need before they are sent; `None` where they need no credit.
    pub(crate) credit: Option<CreditSpec>,
    /// How frames wait at the inputs of switches, if they do.
    pub(crate) input_queued: Option<InputQueuedSpec>,
    /// What senders are told of long queues, if anything.
    pub(crate) signals: Option<SignalSpec>,
    pub(crate) addresses: Vec<NicAddress>,
    pub(crate) jobs: Vec<JobPlan>,
    pub(crate) progress: JobProgress,
    pub(crate) seed: u64,
    /// With more than this to wait for at circuits leaves send through the tree, where their load
    /// balancer may choose for each packet.
    pub(crate) spill: Option<Time>,
    /// How long background jobs run on without the others, in ps.
    pub(crate) background_delay: u64,
    /// The ranks on each host, in order of job and so of slots.
    pub(crate) ranks: Vec<Vec<RankHere>>,
    /// For each node its part and its number there.
    pub(crate) homes: Vec<(u16, u32)>,
}

impl Context {
    /// The topology.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// A node's part and its number there.
    pub fn home(&self, node: u32) -> (u16, u32) {
        self.homes[node as usize]
    }

    /// Hashes of all packets that travel between two hosts, in both directions, ascending.
    pub fn hashes_between(&self, a: u32, b: u32) -> Vec<u32> {
        let mut hashes = Vec::new();
        for (from, to) in [(a, b), (b, a)] {
            for here in self.ranks_on(from) {
                let plan = &self.jobs[usize::from(here.job)];
                for slot in 0..plan.pairs.send_slots(here.rank) as u32 {
                    let peer = plan.pairs.peer_of(here.rank, slot);
                    if plan.job.hosts[peer.rank as usize] == to {
                        let forth =
                            self.hash(here.job, (here.rank, peer.rank), peer.lane, peer.queue_pair);
                        let back =
                            self.hash(here.job, (peer.rank, here.rank), peer.lane, peer.queue_pair);
                        self.add_hashes(forth, &mut hashes);
                        hashes.push(back);
                    }
                }
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    /// Adds all hashes of the packets by which a queue pair sends data.
    fn add_hashes(&self, base: u32, hashes: &mut Vec<u32>) {
        // Connection set-up has the queue pair's own.
        hashes.push(base);
        let entropy = self.nic.entropy.iter();
        hashes.extend(entropy.flat_map(|entropy| entropy.hashes(base)));
    }

    /// The ranks on a host.
    pub(crate) fn ranks_on(&self, host: u32) -> &[RankHere] {
        &self.ranks[host as usize]
    }

    /// The number of a rank of a job among the ranks on its host.
    pub(crate) fn number_of(&self, host: u32, (job, rank): (u16, u32)) -> Option<u16> {
        let mut ranks = self.ranks_on(host).iter();
        let number = ranks.position(|here| (here.job, here.rank) == (job, rank))?;
        Some(number as u16)
    }

    /// Whether a rank is the first of its job on its host.
    pub(crate) fn is_first_there(&self, host: u32, (job, rank): (u16, u32)) -> bool {
        let mut ranks = self.ranks_on(host).iter();
        let first = ranks.find(|here| here.job == job);
        first.is_some_and(|here| here.rank == rank)
    }

    /// The rank a receive slot of a host belongs to, and its number there.
    pub(crate) fn rank_of_slot(&self, host: u32, slot: u32) -> (u16, RankHere) {
        let ranks = self.ranks_on(host);
        let number = ranks.partition_point(|here| here.receive_base <= slot) - 1;
        (number as u16, ranks[number])
    }

    /// The way back from a receive slot of a host.
    pub(crate) fn reply_path(&self, host: u32, slot: u32) -> ReplyPath {
        let (_, here) = self.rank_of_slot(host, slot);
        let plan = &self.jobs[usize::from(here.job)];
        let source = plan.pairs.source_of(here.rank, slot - here.receive_base);
        let ranks = (here.rank, source.rank);
        ReplyPath {
            destination: plan.job.hosts[source.rank as usize],
            slot: plan.places[source.rank as usize].send_base + source.slot,
            hash: self.hash(here.job, ranks, source.lane, source.queue_pair),
        }
    }

    /// How long a job has run at `now`.
    pub(crate) fn elapsed(&self, job: u16, now: u64) -> Time {
        let start = self.progress.start(usize::from(job)).unwrap_or(now);
        Time::from_ps(now.saturating_sub(start))
    }

    /// A flow's number within its collective: densely from 0.
    pub(crate) fn flow_index(&self, key: FlowKey) -> usize {
        let queue_pairs = usize::from(self.jobs[usize::from(key.job)].job.queue_pairs);
        key.transfer as usize * queue_pairs + usize::from(key.queue_pair)
    }

    /// The NICs of a job with their line rates, rank by rank.
    pub(crate) fn nics_of(&self, job: usize) -> Vec<(u32, Rate)> {
        let hosts = self.jobs[job].job.hosts.iter();
        hosts
            .map(|&host| (host, self.topology.cable(host, 0).rate))
            .collect()
    }

    /// Hash of the 5-tuple of packets from one rank to another.
    pub(crate) fn hash(&self, job: u16, ranks: (u32, u32), lane: u32, queue_pair: u16) -> u32 {
        let hosts = &self.jobs[usize::from(job)].job.hosts;
        self.switches.usual.load_balancing.hash(&FiveTuple {
            source_address: self.addresses[hosts[ranks.0 as usize] as usize].address,
            destination_address: self.addresses[hosts[ranks.1 as usize] as usize].address,
            protocol: UDP_PROTOCOL,
            source_port: self.udp_source_port(job, ranks, lane, queue_pair),
            destination_port: ROCE_UDP_PORT,
        })
    }

    /// The UDP source port of a queue pair: fixed for its life, evenly spread over the dynamic
    /// range.
    pub(crate) fn udp_source_port(
        &self,
        job: u16,
        (from, to): (u32, u32),
        lane: u32,
        queue_pair: u16,
    ) -> u16 {
        let pair = mix64(u64::from(from) << 32 | u64::from(to));
        let lane = mix64(u64::from(lane) << 32 | u64::from(job) << 16 | u64::from(queue_pair));
        let mixed = mix64(self.seed ^ pair.rotate_left(17) ^ lane);
        FIRST_SOURCE_PORT | (mixed >> 48) as u16
    }

    /// How many inputs a node has: for each port one for data and one for MAC control frames; a
    /// host has one more from each NIC of its domain, and a leaf of a scheduled fabric from each
    /// leaf.
    pub fn inputs(&self, node: u32) -> u16 {
        let ports = 2 * self.topology.nodes[node as usize].ports.len() as u16;
        let domain = self.scale_up.filter(|_| self.topology.is_host(node));
        let domain = domain.map_or(0, |domain| {
            (domain.npus_per_host / self.npus_per_nic) as u16
        });
        let fabric = self.scheduled.as_ref();
        ports + domain + fabric.map_or(0, |fabric| fabric.control_inputs(node))
    }

    /// The model of a switch.
    pub(crate) fn switch(&self, node: u32) -> &SwitchSpec {
        self.switches.of(&self.topology, node)
    }

    /// Latency of the link behind a port, from the wire to the other end's event list, and whether
    /// frames arrive there whole.
    pub(crate) fn link(&self, node: u32, port: u16) -> (Time, bool) {
        let cable = self.topology.cable(node, port);
        let peer = self.topology.neighbour(node, port).node;
        self.link_to((node, port), peer, cable.delay)
    }

    /// The same of a link with a propagation delay that leads to another node.
    pub(crate) fn link_to(&self, (node, port): (u32, u16), peer: u32, delay: Time) -> (Time, bool) {
        let leave = if self.topology.is_host(node) {
            self.nic.transmit_latency
        } else {
            self.switch(node).egress_latency
        };
        let enter = if self.topology.is_host(peer) {
            self.nic.receive_latency
        } else {
            self.switch(peer).ingress_latency
        };
        let rate = self.topology.cable(node, port).rate;
        (leave + delay + enter, self.arrives_whole_at(peer, rate))
    }

    /// All links that may begin at a port, by their latency and whether frames arrive whole: one,
    /// and those of every circuit that an optical switch may give it.
    fn possible_links(&self, node: u32, port: u16) -> impl Iterator<Item = (Time, bool)> + '_ {
        let possible = self.topology.optics.possible(CableEnd { node, port });
        let circuits =
            possible.map(move |(peer, delay)| self.link_to((node, port), peer.node, delay));
        std::iter::once(self.link(node, port)).chain(circuits)
    }

    /// Whether frames of this rate arrive whole at a node.
    pub(crate) fn arrives_whole_at(&self, peer: u32, rate: Rate) -> bool {
        self.topology.is_host(peer) || self.switches.take_whole(&self.topology, peer, rate)
    }
}

/// Who is at the other end of each queue pair, and what it sends now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peers<'a> {
    pub(crate) context: &'a Context,
    pub(crate) schedules: &'a Schedules,
}

impl Directory for Peers<'_> {
    fn reply_path(&self, host: u32, slot: u32) -> ReplyPath {
        self.context.reply_path(host, slot)
    }

    fn transfer_bytes(&self, host: u32, slot: u32, nth: u32) -> Option<u64> {
        let (_, here) = self.context.rank_of_slot(host, slot);
        let plan = &self.context.jobs[usize::from(here.job)];
        let source = plan.pairs.source_of(here.rank, slot - here.receive_base);
        let way = Destination {
            dst: here.rank,
            lane: source.lane,
        };
        let schedule = self.schedules.of(here.job);
        let id = schedule.nth(source.rank, way, plan.job.queue_pair_scope, nth)?;
        let (bytes, queue_pairs) = (schedule.transfer(id).bytes, plan.job.queue_pairs);
        Some(split::share(bytes, queue_pairs, source.queue_pair))
    }
}

/// The schedule each job runs now; every part has its own copy, changed at edges.
#[derive(Clone, Default)]
pub(crate) struct Schedules(Vec<Option<(u32, Arc<dyn Schedule>)>>);

impl std::fmt::Debug for Schedules {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_list()
            .entries(self.0.iter().map(|now| now.as_ref().map(|n| n.0)))
            .finish()
    }
}

impl Schedules {
    pub(crate) fn set(&mut self, job: usize, turn: u32, schedule: Arc<dyn Schedule>) {
        self.0.resize_with(self.0.len().max(job + 1), || None);
        self.0[job] = Some((turn, schedule));
    }

    pub(crate) fn of(&self, job: u16) -> &dyn Schedule {
        &*self.running(job).1
    }

    /// Which of the job's collectives runs.
    pub(crate) fn turn(&self, job: u16) -> u32 {
        self.running(job).0
    }

    fn running(&self, job: u16) -> &(u32, Arc<dyn Schedule>) {
        self.0[usize::from(job)]
            .as_ref()
            .expect("packets move only while a collective runs")
    }
}

/// Everything that is the same for all parts, for a plan over so many threads.
fn context(plan: &Plan, threads: u16) -> Result<Context, SimulationError> {
    let topology = Arc::new(plan.topology.clone());
    let routing = Routing::build(&topology)?;
    let mut ranks = vec![Vec::new(); topology.hosts];
    let mut slots = vec![(0_u32, 0_u32); topology.hosts];
    let mut jobs = Vec::new();
    let mut queue_pairs = 0;
    for (index, job) in (0..).zip(&plan.jobs) {
        let pairs = QueuePairs::for_job(job)?;
        let sends = (0..job.ranks()).map(|rank| pairs.send_slots(rank) as u64);
        queue_pairs += sends.sum::<u64>();
        if queue_pairs > QUEUE_PAIRS_MAX {
            return Err(SimulationError::TooManyQueuePairs(queue_pairs));
        }
        let mut places = Vec::with_capacity(job.hosts.len());
        for (rank, &host) in (0..).zip(&job.hosts) {
            let (send_base, receive_base) = slots[host as usize];
            let npu = free_npu(&ranks[host as usize], plan.npus_per_nic);
            ranks[host as usize].push(RankHere {
                job: index,
                rank,
                receive_base,
                npu,
            });
            places.push(Place {
                send_base,
                receive_base,
            });
            slots[host as usize].0 += pairs.send_slots(rank) as u32;
            slots[host as usize].1 += pairs.receive_slots(rank) as u32;
        }
        jobs.push(JobPlan {
            unloaded: Unloaded::new(plan, &routing, job),
            job: job.clone(),
            pairs,
            places,
            seed: plan.seed,
        });
    }
    let homes = homes(&topology, threads);
    assert_eq!(
        plan.switches.leaves_take_whole,
        plan.scheduled.is_some(),
        "the leaves of scheduled fabrics take frames whole, and no others need to"
    );
    Ok(Context {
        routing: Arc::new(routing),
        impairments: plan.impairments.clone(),
        switches: plan.switches.clone(),
        nic: plan.nic.clone(),
        dma: plan.dma.clone(),
        scale_up: plan.scale_up,
        npus_per_nic: plan.npus_per_nic,
        telemetry: telemetry(plan),
        scheduled: ScheduledFabric::of(plan),
        credit: plan.credit,
        input_queued: plan.input_queued,
        signals: plan.signals,
        addresses: plan.addresses.clone(),
        progress: JobProgress::new(&jobs),
        jobs,
        seed: plan.seed,
        spill: plan.spill(),
        background_delay: plan.background_delay.ps(),
        ranks,
        homes,
        topology,
    })
}

/// The NPU that a further rank on a host gets, of so many: one with the fewest ranks, and of these
/// the first.
fn free_npu(here: &[RankHere], npus: u32) -> u16 {
    if npus == 1 {
        return 0;
    }
    let ranks_of = |npu: &u32| {
        here.iter()
            .filter(|rank| u32::from(rank.npu) == *npu)
            .count()
    };
    (0..npus).min_by_key(ranks_of).unwrap_or(0) as u16
}

/// The records of in-band telemetry, where the congestion control goes by it.
fn telemetry(plan: &Plan) -> Option<Arc<Telemetry>> {
    let hops = plan.nic.congestion_control.as_ref()?.telemetry_hops()?;
    Some(Arc::new(Telemetry::new(plan.topology.hosts, hops)))
}

/// Each node's part and its number there: neighbours in the fabric are neighbours in memory.
fn homes(topology: &Topology, threads: u16) -> Vec<(u16, u32)> {
    let parts = topology.partition(threads);
    let mut counts = vec![0; usize::from(threads)];
    let mut homes = vec![(0, 0); topology.nodes.len()];
    for node in topology.locality_order() {
        let part = parts[node as usize];
        homes[node as usize] = (part, counts[usize::from(part)]);
        counts[usize::from(part)] += 1;
    }
    homes
}

/// The shortest time in which one node can affect another, in ps.
pub fn lookahead(context: &Context) -> u64 {
    let spec = context.scheduled.as_ref().map(|fabric| &fabric.spec);
    let cell = spec.map_or(u32::MAX, ScheduledSpec::shortest_wire_bytes);
    let data = flights(context, SMALLEST_WIRE_BYTES.min(cell)).min();
    let pause = context.pause_lookahead();
    let within = scale_up::lookahead(context);
    let control = context.control_latencies().map(|(least, _)| least);
    let others = pause.into_iter().chain(control).chain(within);
    data.into_iter().chain(others).min().unwrap_or(u64::MAX)
}

/// The longest time a frame is under way from one node to the next, in ps.
fn longest_flight(context: &Context) -> u64 {
    let frame_bytes = context.nic.longest_frame_bytes();
    let wire_bytes = frame_bytes + tenter_net::WIRE_OVERHEAD_BYTES;
    let spec = context.scheduled.as_ref().map(|fabric| &fabric.spec);
    let cell = spec.map_or(0, |spec| spec.longest_wire_bytes(frame_bytes));
    let control = context.control_latencies().map_or(0, |(_, most)| most);
    flights(context, wire_bytes.max(cell)).fold(control, u64::max)
}

/// For every link the time from the start of a frame to its arrival, in ps.
fn flights(context: &Context, wire_bytes: u32) -> impl Iterator<Item = u64> {
    let nodes = (0..).zip(&context.topology.nodes);
    let ports =
        nodes.flat_map(|(node, of)| (0..of.ports.len() as u16).map(move |port| (node, port)));
    ports.flat_map(move |(node, port)| {
        let serialisation = context.serialisation(node, port).of(wire_bytes, 0).0;
        let links = context.possible_links(node, port);
        links.map(move |(latency, whole)| latency.ps() + if whole { serialisation.ps() } else { 0 })
    })
}

/// The nodes of a plan in one part, for a driver that brings an engine of its own.
///
/// # Errors
/// As [`build`].
pub fn fabric(plan: &Plan) -> Result<Fabric<Unwatched>, SimulationError> {
    let mut parts = build(plan, 1, |_| Unwatched)?.parts;
    Ok(parts.remove(0).nodes)
}

/// Whether a plan can be run: what [`build`] would refuse, without its nodes.
///
/// # Errors
/// As [`build`].
pub fn check(plan: &Plan) -> Result<(), SimulationError> {
    checked(plan, 1).map(|_| ())
}

/// What the nodes of a plan are made from, and how soon one can affect another.
fn checked(plan: &Plan, threads: u16) -> Result<(Context, u64), SimulationError> {
    let context = context(plan, threads)?;
    let lookahead = lookahead(&context);
    if lookahead > 0 {
        return Ok((context, lookahead));
    }
    let nodes = (0..).zip(&context.topology.nodes);
    let mut ports =
        nodes.flat_map(|(node, of)| (0..of.ports.len() as u16).map(move |port| (node, port)));
    let at_once = ports.find(|&(node, port)| {
        let mut links = context.possible_links(node, port);
        links.any(|(latency, whole)| latency.is_zero() && !whole)
    });
    Err(SimulationError::NoLookahead(at_once.map_or_else(
        || "some control frame".to_owned(),
        |(node, port)| {
            let peer = context.topology.neighbour(node, port).node;
            let name = |node: u32| &context.topology.nodes[node as usize].name;
            format!(
                "the head of a frame from `{}` to `{}`",
                name(node),
                name(peer)
            )
        },
    )))
}

/// The nodes of a plan, spread over `threads` parts with a watcher each, ready to run.
///
/// # Errors
/// When hosts cannot reach each other, a collective cannot be run, or a link has no delay.
pub fn build<W: Watcher>(
    plan: &Plan,
    threads: u16,
    watcher: impl Fn(&Context) -> W,
) -> Result<WindowedDriver<W>, SimulationError> {
    let (context, lookahead) = checked(plan, threads)?;
    let context = Arc::new(context);
    let (windows, bucket_ps) = windows(lookahead, plan.window_cap);
    let central = matches!(windows, Windows::Central(_));
    let flight_ps = longest_flight(&context);
    let layout = LaneLayout {
        parts: threads,
        bucket_ps,
        flight_ps,
        central,
    };
    let parts = wire(&context, layout);
    let parts = parts.into_iter().map(|(lane, nodes)| {
        let fabric = Fabric {
            nodes,
            schedules: Schedules::default(),
            partition_records: PartitionRecords::new(&context.jobs),
            watcher: watcher(&context),
            turns: ArrivalsByPort::default(),
            routing: Arc::clone(&context.routing),
            topology: Arc::clone(&context.topology),
            context: Arc::clone(&context),
        };
        Part {
            lane,
            nodes: fabric,
        }
    });
    let window_ps = match windows {
        Windows::Buckets => bucket_ps,
        Windows::Central(lookahead) => lookahead,
    };
    Ok(WindowedDriver {
        parts: parts.collect(),
        windows,
        window_ps,
        pace: Pace::default(),
    })
}

/// How windows are laid, and how long a calendar bucket is.
fn windows(lookahead: u64, cap: Option<Time>) -> (Windows, u64) {
    let cap = cap.unwrap_or(WINDOW_MAX).min(WINDOW_MAX).ps().max(1);
    if lookahead < CENTRAL_BELOW.ps() {
        (Windows::Central(lookahead.min(cap)), CENTRAL_BUCKET.ps())
    } else {
        (Windows::Buckets, lookahead.min(cap))
    }
}

type Wired = (tenter_engine::Lane<tenter_net::Packet>, Vec<NodeModel>);

/// Lanes and nodes of each part.
fn wire(context: &Arc<Context>, layout: LaneLayout) -> Vec<Wired> {
    let threads = layout.parts;
    let mut order: Vec<u32> = (0..context.homes.len() as u32).collect();
    order.sort_unstable_by_key(|&node| context.homes[node as usize]);
    let mut builders: Vec<LaneBuilder> = (0..threads).map(|_| LaneBuilder::default()).collect();
    for &node in &order {
        let part = usize::from(context.homes[node as usize].0);
        builders[part].add_node(context.inputs(node));
    }
    let mut nodes: Vec<Vec<NodeModel>> = (0..threads).map(|_| Vec::new()).collect();
    for &node in &order {
        let part = usize::from(context.homes[node as usize].0);
        let ports = 0..context.topology.nodes[node as usize].ports.len() as u16;
        let transmitters = ports.map(|port| {
            let [data, mac] = context.inputs_of(context.topology.neighbour(node, port));
            context.transmitter((node, port), data, mac)
        });
        let transmitters: Vec<Transmitter> = transmitters.collect();
        nodes[part].push(context.node(node, transmitters));
    }
    let lanes = (0..threads)
        .zip(builders)
        .map(|(part, builder)| builder.build(part, layout));
    lanes.zip(nodes).collect()
}

impl Context {
    /// The inputs of a port of a node: for data, and for MAC control frames, which have inputs of
    /// their own behind those of data.
    fn inputs_of(&self, end: CableEnd) -> [Output; 2] {
        let (part, node) = self.homes[end.node as usize];
        let ports = self.topology.nodes[end.node as usize].ports.len() as u16;
        [end.port, ports + end.port].map(|input| Output { part, node, input })
    }

    /// What a port of a switch leads to when it is joined with another by a circuit.
    pub(crate) fn far_end(&self, from: CableEnd, to: CableEnd, delay: Time) -> FarEnd {
        let [output, mac_output] = self.inputs_of(to);
        let (latency, arrives_whole) = self.link_to((from.node, from.port), to.node, delay);
        FarEnd {
            output,
            latency,
            arrives_whole,
            mac_output,
            mac_latency: self.mac_latency_over(from, delay),
        }
    }

    pub(crate) fn serialisation(&self, node: u32, port: u16) -> tenter_units::SerialisationTime {
        self.serialisation_at(node, self.topology.cable(node, port).rate)
    }

    /// What bytes take at a port of a node that sends at a rate, by the node's clock.
    pub(crate) fn serialisation_at(
        &self,
        node: u32,
        rate: Rate,
    ) -> tenter_units::SerialisationTime {
        rate.serialisation(self.clock_offset_ppm(node))
    }

    /// Hosts' clocks are off by a random amount; switches' are the standard the others are measured
    /// by.
    fn clock_offset_ppm(&self, node: u32) -> i32 {
        let most = self.nic.clock_offset_max_ppm;
        if most == 0 || !self.topology.is_host(node) {
            return 0;
        }
        let name = &self.topology.nodes[node as usize].name;
        let drawn = Stream::new(self.seed, name, "clock-offset").below(u64::from(2 * most + 1));
        (drawn as u32).cast_signed() - most.cast_signed()
    }

    fn transmitter(
        &self,
        (node, port): (u32, u16),
        output: Output,
        mac_output: Output,
    ) -> Transmitter {
        let mac = MacControl {
            output: mac_output,
            latency: self.mac_latency(node, port),
            xoff_frames: 0,
            xon_frames: 0,
        };
        let mut transmitter = Transmitter::new(
            (node, port),
            output,
            self.serialisation(node, port),
            self.link(node, port),
            mac,
        );
        if let Some(telemetry) = &self.telemetry
            && !self.topology.is_host(node)
        {
            transmitter.write_telemetry(telemetry.clone());
        }
        let sender = CableEnd { node, port };
        if let Some(found) = self.impairments.iter().find(|of| of.sender == sender) {
            let name = self.topology.port_name(node, port);
            let stream = Stream::new(self.seed, &name, "impairment");
            transmitter.impair(self.impairment(found), stream);
        }
        transmitter
    }

    fn impairment(&self, plan: &LinkImpairment) -> ImpairmentSpec {
        let rule = |rule: &RulePlan| TesterRule {
            kinds: rule.kinds,
            hashes: rule.from.map(|from| self.hashes_from(from)),
            destination: rule.to,
            strikes: rule.strikes,
            action: rule.action,
        };
        ImpairmentSpec {
            frame_loss: plan.frame_loss,
            bit_errors: plan.bit_errors,
            rules: plan.rules.iter().map(rule).collect(),
        }
    }

    /// Hashes of all packets that a host sends, ascending.
    fn hashes_from(&self, host: u32) -> Vec<u32> {
        let mut hashes = Vec::new();
        for (job, plan) in (0..).zip(&self.jobs) {
            for (rank, &from) in (0..).zip(&plan.job.hosts) {
                for slot in 0..plan.pairs.send_slots(rank) as u32 {
                    let peer = plan.pairs.peer_of(rank, slot);
                    if from == host {
                        let ranks = (rank, peer.rank);
                        let base = self.hash(job, ranks, peer.lane, peer.queue_pair);
                        self.add_hashes(base, &mut hashes);
                    }
                    if plan.job.hosts[peer.rank as usize] == host {
                        let ranks = (peer.rank, rank);
                        hashes.push(self.hash(job, ranks, peer.lane, peer.queue_pair));
                    }
                }
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    fn node(self: &Arc<Context>, node: u32, transmitters: Vec<Transmitter>) -> NodeModel {
        if self.topology.is_host(node) {
            let [transmitter] = transmitters.try_into().expect("a NIC has one port");
            return NodeModel::Host(Box::new(self.host(node, transmitter)));
        }
        let index = node - self.topology.hosts as u32;
        let seed = mix64(self.seed ^ mix64(u64::from(index))) as u32;
        let headrooms = self.headrooms(node);
        let place = (node, index, seed);
        let spec = self.switch(node);
        let model = self.switch_model(node);
        let mut switch = if let SwitchModel::Spine { spec: fabric, .. } = model {
            let spine = spec.of_spine(fabric.indication);
            Switch::new(place, &spine, transmitters, &Vec::new(), model)
        } else {
            Switch::new(place, spec, transmitters, &headrooms, model)
        };
        switch.stand_at(self.topology.tree_place(node));
        switch.lead_to_hosts(self.leads_to_hosts(node));
        if let Some(limit) = self.spill.filter(|_| self.topology.tier(node) == Some(0)) {
            switch.spill(limit);
        }
        self.give_signals(node, &mut switch);
        self.give_headers(node, &mut switch);
        NodeModel::Switch(Box::new(switch))
    }

    /// The model of a switch.
    fn switch_model(&self, node: u32) -> SwitchModel<'_> {
        if let Some(fabric) = &self.scheduled {
            self.scheduled_model(node, fabric)
        } else if let Some(spec) = &self.input_queued {
            SwitchModel::InputQueued(spec)
        } else if let Some(spec) = &self.credit {
            SwitchModel::Credit(spec)
        } else {
            SwitchModel::OutputQueued
        }
    }

    fn host(&self, node: u32, transmitter: Transmitter) -> Host {
        let slots = self
            .ranks_on(node)
            .iter()
            .fold((0, 0), |(send, receive), here| {
                let pairs = &self.jobs[usize::from(here.job)].pairs;
                (
                    send + pairs.send_slots(here.rank),
                    receive + pairs.receive_slots(here.rank),
                )
            });
        let classes = self.nic_classes(node);
        let line = self.topology.cable(node, 0).rate;
        let mut nic = Nic::new(node, &self.nic, classes, (transmitter, line), slots);
        if let Some(rates) = self.dma.get(node as usize) {
            nic.limit_dma(&self.nic, rates, line);
        }
        if let Some(telemetry) = &self.telemetry {
            nic.carry_telemetry(telemetry.clone());
        }
        self.give_nic_credit(node, &mut nic);
        self.obey_signals(node, &mut nic);
        Host::new(nic, self.start_skew(node))
    }

    /// For each rank on a host where the delays of its starts come from; none without skew. A
    /// stream belongs to a NIC and a job (and the rank, where it is not the job's first there), so
    /// a further job does not move another's delays.
    fn start_skew(&self, node: u32) -> Box<[Stream]> {
        if self.nic.start_skew_max.is_zero() {
            return Box::default();
        }
        let nic = &self.topology.nodes[node as usize].name;
        let stream = |here: &RankHere| {
            let job = &self.jobs[usize::from(here.job)].job.name;
            let mut purpose = format!("start-skew of {job}");
            if !self.is_first_there(node, (here.job, here.rank)) {
                let _ = write!(purpose, ", rank {}", here.rank);
            }
            Stream::new(self.seed, nic, &purpose)
        };
        self.ranks_on(node).iter().map(stream).collect()
    }
}
