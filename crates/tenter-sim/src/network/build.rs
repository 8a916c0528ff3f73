//! Builds nodes, links and queue pairs from a plan.

use std::sync::Arc;

use crate::plan::ideal::nearest::least_latency;
use crate::plan::{Fidelity, Plan, SteadyState, unloaded};
use tenter_endpoint::congestion_control::CongestionControl;
use tenter_endpoint::ultra_ethernet::UltraEthernet;
use tenter_engine::{Home, LaneBuilder, LaneLayout, LocalNode, Pace, Part, Windows};
use tenter_fabric::net::{
    ArrivalsByPort, DATA_OVERHEAD_BYTES, PullTarget, ReceiveSlot, SendSlot, Telemetry, Transmitter,
};
use tenter_fabric::topology::{CableEnd, HostId, NodeId, Routing, Topology};
use tenter_language::units::{Budget, ById, Time};
use tenter_workload::{Job, JobId, QUEUE_PAIRS_MAX, QueuePairs, RankId, Schedule, WorkloadError};

use crate::error::SimulationError;
use crate::flow_level::left_out;

use super::context::Context;
use super::driver::WindowedDriver;
use super::fabric::{Fabric, NodeModel};
use super::jobs::{JobPlan, JobProgress, Place, RankHere};
use super::partition_records::PartitionRecords;
use super::scheduled::ScheduledFabric;
use super::schedules::Schedules;
use super::steady::refusal;
use super::ultra_ethernet;
use super::unloaded::Unloaded;
use super::watch::{Unwatched, Watcher};
use super::windows::windows;

/// Evaluates the data that all partitions share, for a run on `threads` threads.
fn context(
    plan: &Plan,
    threads: u16,
    routing: Routing,
    budget: &Budget,
) -> Result<Context, SimulationError> {
    let topology = Arc::new(plan.topology.clone());
    let mut ranks: ById<HostId, Vec<RankHere>> = vec![Vec::new(); topology.hosts].into();
    let mut slots: ById<HostId, FreeSlots> = vec![FreeSlots::default(); topology.hosts].into();
    let mut jobs: ById<JobId, JobPlan> = ById::default();
    let (mut queue_pairs, npus) = (0, plan.npus_per_nic);
    for (index, job) in (0..).map(JobId::new).zip(&plan.jobs) {
        let pairs = QueuePairs::for_job(job, budget)?;
        budget
            .take(pairs.memory_bytes() as u64)
            .map_err(WorkloadError::from)?;
        queue_pairs += sends(job, &pairs);
        if queue_pairs > QUEUE_PAIRS_MAX {
            return Err(WorkloadError::TooManyQueuePairs.into());
        }
        jobs.push(JobPlan {
            unloaded: Unloaded::new(plan, &routing, job),
            least_latency: path_latency(plan, &routing, job),
            job: job.clone(),
            places: places(index, job, &pairs, npus, &mut ranks, &mut slots),
            pairs,
            seed: plan.seeds.arrivals,
        });
    }
    check_connections(plan, &slots)?;
    assert_eq!(
        plan.switches.leaves_take_whole,
        plan.scheduled.is_some(),
        "the leaves of scheduled fabrics take frames whole, and no others need to"
    );
    Ok(Context {
        ultra_ethernet: ultra_ethernet::network(plan, &routing),
        nic: plan.nic.clone(),
        round_trip_of_fabric: round_trip(plan, &routing),
        routing: Arc::new(routing),
        impairments: plan.impairments.clone(),
        incoming: plan.links.clone(),
        lookahead: plan.lookahead,
        switches: plan.switches.clone(),
        port_changes: plan.port_changes.clone(),
        host_delays: plan.host_delays,
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
        fidelity: plan.fidelity,
        seed: plan.seed,
        seeds: plan.seeds,
        spill: plan.spill(),
        records_operations: plan.records_operations,
        background_delay: plan.background_delay,
        ranks,
        homes: homes(&topology, threads),
        topology,
    })
}

/// Counts the queue pairs on which a job's ranks send.
fn sends(job: &Job, pairs: &QueuePairs) -> u64 {
    let ranks = job.hosts.ids();
    ranks.map(|rank| pairs.send_count(rank) as u64).sum()
}

/// Returns the fabric's longest round trip, or zero if no congestion control of `RoCEv2` uses it:
/// finding it takes time on large fabrics.
fn round_trip(plan: &Plan, routing: &Routing) -> Time {
    let control = plan.nic.reacting();
    if control.is_some_and(CongestionControl::uses_round_trip) {
        unloaded::longest_round_trip(plan, routing)
    } else {
        Time::ZERO
    }
}

/// Refuses a host with more connections than a request for receiver credit can number.
fn check_connections(plan: &Plan, slots: &ById<HostId, FreeSlots>) -> Result<(), SimulationError> {
    let own = plan.nic.ultra_ethernet();
    if !own.is_some_and(UltraEthernet::has_credit) {
        return Ok(());
    }
    let most = slots.iter().map(|of| of.receive.number()).max();
    match most.filter(|&most| most > 1 << PullTarget::SLOT_BITS) {
        Some(most) => Err(SimulationError::TooManyConnections(most)),
        None => Ok(()),
    }
}

/// Returns the latency on the shortest path, for jobs whose communication library states step
/// latencies; `None` for others.
fn path_latency(plan: &Plan, routing: &Routing, job: &Job) -> Option<Time> {
    let mut runs = job.sequence.iter();
    let has_latencies = runs.any(|run| run.traffic.has_latencies());
    has_latencies.then(|| Time::from_ps(least_latency(plan, routing, job, DATA_OVERHEAD_BYTES)))
}

/// A host's first QP indices that no queue pair has yet.
#[derive(Clone, Copy, Default)]
struct FreeSlots {
    send: SendSlot,
    receive: ReceiveSlot,
}

/// Assigns queue pairs to a job's ranks: returns where each rank's QP indices begin at its host,
/// and advances `ranks` and `slots` past them.
fn places(
    index: JobId,
    job: &Job,
    pairs: &QueuePairs,
    npus_per_nic: u32,
    ranks: &mut ById<HostId, Vec<RankHere>>,
    slots: &mut ById<HostId, FreeSlots>,
) -> ById<RankId, Place> {
    let place = |(rank, &host): (RankId, &HostId)| {
        let (ranks, slots) = (&mut ranks[host], &mut slots[host]);
        let FreeSlots {
            send: send_base,
            receive: receive_base,
        } = *slots;
        let npu = free_npu(ranks, npus_per_nic);
        ranks.push(RankHere {
            job: index,
            rank,
            receive_base,
            npu,
        });
        // Indices are dense over all ranks on a host, because they index the NIC's tables.
        slots.send = send_base.after(pairs.send_count(rank) as u32);
        slots.receive = receive_base.after(pairs.receive_count(rank) as u32);
        Place {
            send_base,
            receive_base,
        }
    };
    job.hosts.numbered().map(place).collect()
}

/// Returns the NPU for a further rank on a host with `npus` NPUs per NIC: the first among those
/// with the fewest ranks.
fn free_npu(here: &[RankHere], npus: u32) -> u16 {
    if npus == 1 {
        return 0;
    }
    let ranks_of = |npu: &u32| {
        here.iter()
            .filter(|rank| u32::from(rank.npu) == *npu)
            .count()
    };
    // `min_by_key` returns the first of several minima.
    (0..npus).min_by_key(ranks_of).unwrap_or(0) as u16
}

/// Makes the records for in-band telemetry, if congestion control uses it.
fn telemetry(plan: &Plan) -> Option<Arc<Telemetry>> {
    let hops = plan.nic.congestion_control.as_ref()?.telemetry_hops()?;
    Some(Arc::new(Telemetry::new(plan.topology.hosts, hops)))
}

/// Assigns each node to a partition and a number there. Neighbours in the fabric become neighbours
/// in memory.
fn homes(topology: &Topology, threads: u16) -> ById<NodeId, Home> {
    let parts = topology.partition(threads);
    let mut counts = vec![0; usize::from(threads)];
    let mut homes: ById<NodeId, Home> = vec![Home::default(); topology.nodes.len()].into();
    for node in topology.locality_order() {
        let part = parts[node];
        homes[node] = Home {
            part,
            node: LocalNode::new(counts[usize::from(part)]),
        };
        counts[usize::from(part)] += 1;
    }
    homes
}

/// Builds a plan's nodes in one partition, for a driver with its own engine.
///
/// # Errors
/// As [`build`].
pub fn fabric(plan: &Plan) -> Result<Fabric<Unwatched>, SimulationError> {
    let mut parts = build(plan, 1, |_| Unwatched)?.parts;
    Ok(parts.remove(0).nodes)
}

/// Checks that a plan can be run, without building its nodes: finds what [`build`] would refuse.
/// Returns the fabric's routes, which explanations need, too.
///
/// # Errors
/// As [`build`], and if the check would exceed the budget.
pub fn check(plan: &Plan, budget: &Budget) -> Result<Arc<Routing>, SimulationError> {
    let routing = Routing::build(&plan.topology, budget)?;
    checked(plan, 1, routing, budget).map(|context| context.routing)
}

/// Makes the error for a collective whose transfers do not fit 32-bit numbers.
fn too_many_at_once(collective: String, schedule: &dyn Schedule) -> WorkloadError {
    WorkloadError::TooManyAtOnce {
        collective,
        ranks: schedule.ranks(),
        transfers: schedule.transfers(),
    }
}

impl Context {
    /// Refuses collectives whose transfers do not fit 32-bit numbers, with the error that `why`
    /// makes.
    pub(crate) fn check_ids(
        &self,
        why: impl Fn(String, &dyn Schedule) -> WorkloadError,
    ) -> Result<(), WorkloadError> {
        for plan in &self.jobs {
            for (run, schedule) in plan.job.sequence.iter().zip(plan.job.schedules()?) {
                if u32::try_from(schedule.transfers()).is_err() {
                    return Err(why(run.traffic.member().to_string(), &*schedule));
                }
            }
        }
        Ok(())
    }
}

/// Evaluates the shared data, and checks that every effect between nodes takes some time.
fn checked(
    plan: &Plan,
    threads: u16,
    routing: Routing,
    budget: &Budget,
) -> Result<Context, SimulationError> {
    let context = context(plan, threads, routing, budget)?;
    match plan.fidelity {
        Fidelity::Packet => context.check_ids(too_many_at_once)?,
        // Only its refusals matter here; a run asks for the list itself.
        Fidelity::Flow => drop(left_out(plan)?),
    }
    // Flow level has no windows, so it needs no lookahead.
    if plan.lookahead.least_ps > 0 || plan.fidelity == Fidelity::Flow {
        return Ok(context);
    }
    let delays = plan.delays();
    let topology = &context.topology;
    let nodes = topology.node_ids();
    let mut ports = nodes.flat_map(|node| (0..topology.ports(node)).map(move |port| (node, port)));
    // Names the first link without any delay. If all links have one, only a control frame can act
    // at once.
    let at_once = ports.find(|&(node, port)| {
        let mut links = delays.possible_links(CableEnd { node, port });
        links.any(|link| link.latency.is_zero() && !link.stores)
    });
    Err(SimulationError::NoLookahead(at_once.map_or_else(
        || "some control frame".to_owned(),
        |(node, port)| {
            let peer = context.topology.neighbour(node, port).node;
            let name = |node: NodeId| context.topology.name(node);
            format!(
                "the head of a frame from `{}` to `{}`",
                name(node),
                name(peer)
            )
        },
    )))
}

/// Builds a plan's nodes, distributed over `threads` partitions with a watcher each, ready to run.
///
/// # Errors
/// If hosts cannot reach each other, a collective cannot be run, or a link has no delay.
pub fn build<W: Watcher>(
    plan: &Plan,
    threads: u16,
    watcher: impl Fn(&Context) -> W,
) -> Result<WindowedDriver<W>, SimulationError> {
    // Its tables have the size that they had when the plan was checked.
    let budget = Budget::unlimited();
    let context = checked(plan, threads, Routing::rebuild(&plan.topology)?, &budget)?;
    let context = Arc::new(context);
    let jumps = plan.steady_state == SteadyState::Jump && refusal(plan).is_none();
    let (windows, bucket_ps) = windows(Time::from_ps(plan.lookahead.least_ps), plan.window_cap);
    let central = matches!(windows, Windows::Central(_));
    let flight_ps = plan.lookahead.longest_flight_ps;
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
            steady_log: None,
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
        Windows::Central(lookahead) => lookahead.ps(),
    };
    Ok(WindowedDriver {
        parts: parts.collect(),
        windows,
        window_ps,
        pace: Pace::default(),
        // A watcher would miss the events in jumped periods.
        search: (jumps && !W::WATCHED).then(Box::default),
    })
}

/// A partition's lane and nodes, which become a [`Part`].
type Wired = (
    tenter_engine::Lane<tenter_fabric::net::Packet>,
    Vec<NodeModel>,
);

/// Builds the lanes and nodes, partition by partition.
fn wire(context: &Arc<Context>, layout: LaneLayout) -> Vec<Wired> {
    let threads = layout.parts;
    let mut order: Vec<NodeId> = context.homes.ids().collect();
    // A node's number in its partition is the place at which it is added, so nodes are added in the
    // order of their addresses.
    order.sort_unstable_by_key(|&node| context.homes[node]);
    let mut builders: Vec<LaneBuilder> = (0..threads).map(|_| LaneBuilder::default()).collect();
    for &node in &order {
        let part = usize::from(context.homes[node].part);
        builders[part].add_node(context.inputs(node));
    }
    let mut nodes: Vec<Vec<NodeModel>> = (0..threads).map(|_| Vec::new()).collect();
    for &node in &order {
        let part = usize::from(context.homes[node].part);
        let ports = 0..context.topology.ports(node);
        let transmitters = ports.map(|port| {
            let [data, mac] = context.inputs_of(context.topology.neighbour(node, port));
            context.transmitter(CableEnd { node, port }, data, mac)
        });
        let transmitters: Vec<Transmitter> = transmitters.collect();
        nodes[part].push(context.node(node, transmitters));
    }
    let lanes = (0..threads)
        .zip(builders)
        .map(|(part, builder)| builder.build(part, layout));
    lanes.zip(nodes).collect()
}
