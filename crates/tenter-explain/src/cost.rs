//! The cost of a run: packets, memory, time.

use serde::Serialize;
use tenter_net::{ClassSpec, UNLIMITED_POOL};
use tenter_plan::ideal::Ideal;
use tenter_plan::{CENTRAL_BELOW, Plan, WINDOW_MAX};
use tenter_topology::Routing;
use tenter_units::Time;
use tenter_workload::{Job, WorkloadError};

use crate::credit::updates;
use crate::error::ExplainError;
use crate::ideal::{end_of_all, in_rounds, rounds, starts};
use crate::memory::{Entries, MemoryParts, memory};
use crate::traffic::traffic;

/// The cost of a run, as an estimate.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Packets carried, counted once per link, without pauses and retransmissions.
    pub packet_hops: f64,
    /// Of them, data.
    pub data_packet_hops: f64,
    /// Flows (data chunks on queue pairs).
    pub flows: u64,
    /// Whether every transfer was counted; otherwise some of them stand for all.
    pub exact: bool,
    /// Simulated time at least: the ideal times and gaps of the longest job.
    pub simulated_ns: f64,
    /// Wall time on one thread of the machine of the measured constants.
    pub wall_s: f64,
    /// Of it, for each packet-hop, visits of nodes included.
    pub ns_per_packet_hop: f64,
    /// Of it, for each flow.
    pub ns_per_flow: f64,
    /// Peak resident memory.
    pub peak_bytes: u64,
    /// The parts of the memory.
    pub memory: MemoryParts,
}

/// The most transfers that are counted in all collectives together.
const TRANSFERS_MAX: u64 = 4 << 20;
/// And the least in each of them, whatever their number.
const TRANSFERS_MIN: u64 = 4_096;

/// A packet-hop in a fabric of up to [`HOSTS_CACHED`] hosts, in ns; on the machine of
/// `benches/README.md`, as are the others.
const HOP_NS: f64 = 40.0;
/// Additional time for each doubling of the fabric.
const HOP_NS_PER_DOUBLING: f64 = 5.0;
/// Hosts whose state stays in the cache.
const HOSTS_CACHED: f64 = 128.0;
/// Additional time of a packet-hop with a shared buffer: its accounts.
const SHARED_NS: f64 = 20.0;
/// With a lossless class in addition: pauses, and visits in the order of time.
const LOSSLESS_NS: f64 = 10.0;
/// With a load balancer that chooses for each packet.
const BALANCER_NS: f64 = 25.0;
/// In a scheduled fabric: requests, credits, announcements, and leaves in the order of time.
const SCHEDULED_NS: f64 = 45.0;
/// In a fabric that sends by credit: its accounts, and visits in the order of time.
const CREDIT_NS: f64 = 30.0;
/// With senders that are slowed down: their rates and timers.
const CONGESTION_CONTROL_NS: f64 = 20.0;
/// A visit of a node in a window with events.
const VISIT_NS: f64 = 85.0;
/// A visit if windows go from event to event: its way through the calendar in addition.
const CENTRAL_VISIT_NS: f64 = 160.0;
/// A flow: its queue pair, its records and its row.
const FLOW_NS: f64 = 1_600.0;

/// The cost of running a plan.
pub(crate) fn cost(plan: &Plan, routing: &Routing) -> Result<Cost, WorkloadError> {
    let runs: u64 = plan.jobs.iter().map(|job| job.sequence.len() as u64).sum();
    let most = (TRANSFERS_MAX / runs.max(1)).max(TRANSFERS_MIN);
    let mut cost = Cost {
        exact: true,
        ..Cost::default()
    };
    let mut simulated = Time::ZERO;
    let end = end_of_all(plan);
    for (job, start) in plan.jobs.iter().zip(starts(plan)) {
        let own_end = Ideal::of(plan, routing, job).end(start);
        let rounds = rounds(plan, job, start, own_end, end);
        let part = job_cost(plan, routing, job, rounds, most)?;
        cost.packet_hops += part.packet_hops;
        cost.data_packet_hops += part.data_packet_hops;
        cost.flows = cost.flows.saturating_add(part.flows);
        cost.exact &= part.exact;
        if !job.background {
            simulated = simulated.max(own_end);
        }
    }
    simulated = simulated.min(plan.time_limit.unwrap_or(Time::MAX));
    cost.simulated_ns = simulated.as_ns();
    cost.ns_per_packet_hop = hop_ns(plan) + visits_ns(plan, simulated, cost.packet_hops);
    cost.ns_per_flow = FLOW_NS;
    let ns = cost.packet_hops * cost.ns_per_packet_hop + cost.flows as f64 * FLOW_NS;
    cost.wall_s = ns / 1e9;
    cost.memory = memory(plan)?;
    cost.peak_bytes = cost.memory.total();
    Ok(cost)
}

/// The packet-hops of a run of a plan, as an explanation counts them.
///
/// # Errors
/// When hosts cannot reach each other, or a collective cannot be run.
pub fn packet_hops(plan: &Plan) -> Result<f64, ExplainError> {
    Ok(cost_of(plan)?.packet_hops)
}

/// The cost of running a plan, as in an explanation.
///
/// # Errors
/// As [`packet_hops`].
pub fn cost_of(plan: &Plan) -> Result<Cost, ExplainError> {
    let routing = Routing::build(&plan.topology)?;
    Ok(cost(plan, &routing)?)
}

/// The time of a packet-hop itself.
fn hop_ns(plan: &Plan) -> f64 {
    let doublings = (plan.topology.hosts as f64 / HOSTS_CACHED).log2().max(0.0);
    let mut pools = plan.switches.iter().flat_map(|spec| &spec.pool_bytes);
    let lossless = |class: &ClassSpec| class.lossless.is_some();
    let parts = [
        (pools.any(|&pool| pool != UNLIMITED_POOL), SHARED_NS),
        (plan.switches.any_class(lossless), LOSSLESS_NS),
        (
            plan.switches.usual.load_balancing.ecmp().is_none(),
            BALANCER_NS,
        ),
        (plan.nic.reacting().is_some(), CONGESTION_CONTROL_NS),
        (plan.scheduled.is_some(), SCHEDULED_NS),
        (plan.credit.is_some(), CREDIT_NS),
    ];
    let extra = parts.iter().filter(|(has, _)| *has).map(|(_, ns)| ns);
    HOP_NS + HOP_NS_PER_DOUBLING * doublings + extra.sum::<f64>()
}

/// The part of a packet-hop in the visits of nodes: each node is visited once in a window, or for
/// each packet if that is less often.
fn visits_ns(plan: &Plan, simulated: Time, packet_hops: f64) -> f64 {
    let lookahead = Time::from_ps(plan.lookahead.least_ps);
    let window = lookahead.min(plan.window_cap.unwrap_or(WINDOW_MAX));
    let window = window.min(WINDOW_MAX).max(Time::from_ps(1));
    let ranks: usize = plan.jobs.iter().map(|job| job.hosts.len()).sum();
    let nodes = ranks.min(plan.topology.hosts) + plan.topology.switches();
    let visits = simulated.as_s() / window.as_s() * nodes as f64;
    let each = if lookahead < CENTRAL_BELOW {
        CENTRAL_VISIT_NS
    } else {
        VISIT_NS
    };
    each * (visits / packet_hops.max(1.0)).min(1.0)
}

fn job_cost(
    plan: &Plan,
    routing: &Routing,
    job: &Job,
    rounds: f64,
    most: u64,
) -> Result<Cost, WorkloadError> {
    let pairs = u64::from(job.queue_pairs);
    let mut links = 0.0_f64;
    let mut cost = Cost {
        exact: true,
        ..Cost::default()
    };
    for run in &job.sequence {
        let traffic = traffic(plan, routing, job, run, most)?;
        let data = traffic.data_hops * rounds;
        cost.data_packet_hops += data;
        let control = traffic.control_hops * rounds;
        cost.packet_hops += data + control + updates(plan, data, control);
        let flows = traffic.transfers.saturating_mul(pairs);
        if !run.traffic.is_endless() {
            cost.flows = cost.flows.saturating_add(in_rounds(flows, rounds));
        }
        cost.exact &= traffic.exact;
        links = links.max(traffic.links);
    }
    if plan.nic.connection_set_up {
        // A request and its reply for each queue pair.
        let queue_pairs = Entries::of(job)?.count.saturating_mul(pairs);
        cost.packet_hops += 2.0 * links * queue_pairs as f64;
    }
    Ok(cost)
}
