//! A run's estimated cost: packets, memory, time.

use serde::Serialize;
use tenter_fabric::net::{ClassSpec, UNLIMITED_POOL};
use tenter_fabric::topology::Routing;
use tenter_language::units::{Budget, Time};
use tenter_sim::plan::ideal::Ideal;
use tenter_sim::plan::{CENTRAL_BELOW, Fidelity, Plan, WINDOW_MAX};
use tenter_workload::{Job, WorkloadError};

use crate::explain::credit::updates;
use crate::explain::error::ExplainError;
use crate::explain::ideal::{end_of_all, in_rounds, rounds, starts};
use crate::explain::memory::{Entries, MemoryParts, memory};
use crate::explain::traffic::traffic;
use crate::explain::unequal::rates_changed;

/// A run's estimated cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Level at which the trial runs: `packet` or `flow`.
    pub level: &'static str,
    /// Packets carried, counted once per link, without pauses and retransmissions. At flow level,
    /// the packets that flows stand for.
    pub packet_hops: f64,
    /// Data packets among the packet-hops.
    pub data_packet_hops: f64,
    /// Flows (data chunks on queue pairs).
    pub flows: u64,
    /// True if every transfer was counted; else a sample stands for all.
    pub exact: bool,
    /// Lower bound on the simulated time, in ns: ideal times and gaps in the longest measured job.
    pub simulated_ns: f64,
    /// Wall time in s, on one thread of the machine on which the constants were measured.
    pub wall_s: f64,
    /// Wall time for each packet-hop in ns, node visits included; 0 at flow level.
    pub ns_per_packet_hop: f64,
    /// Wall time for each flow in ns.
    pub ns_per_flow: f64,
    /// Peak resident memory in bytes.
    pub peak_bytes: u64,
    /// Parts that the peak memory consists of.
    pub memory: MemoryParts,
}

/// Most transfers that are counted over all collectives.
const TRANSFERS_MAX: u64 = 4 << 20;
/// Fewest transfers that are counted in each collective, however many collectives there are.
const TRANSFERS_MIN: u64 = 4_096;

/// Work units from the budget for each transfer that is counted.
const UNITS_PER_TRANSFER: u64 = 10;

/// Time per packet-hop in a fabric with up to [`HOSTS_CACHED`] hosts, in ns. This and the
/// following constants were measured on the machine in `benches/README.md`.
const HOP_NS: f64 = 40.0;
/// Additional time for each doubling of the host count: more state misses the cache.
const HOP_NS_PER_DOUBLING: f64 = 5.0;
/// Hosts whose state stays in the cache.
const HOSTS_CACHED: f64 = 128.0;
/// Additional time for accounting in a shared buffer.
const SHARED_NS: f64 = 20.0;
/// Additional time with a lossless class: pauses, and visits in time order.
const LOSSLESS_NS: f64 = 10.0;
/// Additional time with a load balancer that chooses for each packet.
const BALANCER_NS: f64 = 25.0;
/// Additional time in a scheduled fabric: requests, credits, announcements, and leaves in the order
/// of time.
const SCHEDULED_NS: f64 = 45.0;
/// Additional time in a credit-based fabric: its accounts, and visits in time order.
const CREDIT_NS: f64 = 30.0;
/// Additional time with congestion control: rates and timers.
const CONGESTION_CONTROL_NS: f64 = 20.0;
/// Time to match inputs and outputs, for each port at an input-queued switch.
const MATCHED_PORT_NS: f64 = 17.0;
/// Time to match inputs and outputs, for each port pair.
const MATCHED_PAIR_NS: f64 = 0.16;
/// Switches on a path for each of its links, roughly.
const SWITCHES_PER_LINK: f64 = 0.7;
/// Visit to a node in a window with events.
const VISIT_NS: f64 = 85.0;
/// Visit to a node if windows go from event to event, including its way through the calendar.
const CENTRAL_VISIT_NS: f64 = 160.0;
/// Fixed time for each flow: queue pair, records and row.
const FLOW_NS: f64 = 1_600.0;

/// Time per flow at flow level if its path shares no link between leaves: its begin, its end and
/// the rates that change with them. Measured on the same machine with 128 to 512 NICs, as are the
/// constants that follow; single trials take from half to twice as long.
const FLOW_LEVEL_NS: f64 = 1_500.0;
/// Time per flow if each queue pair's hash picks one among several paths: flows that collide change
/// each other's rates.
const FLOW_LEVEL_HASHED_NS: f64 = 3_300.0;
/// Time per flow if a message is sprayed over several paths.
const FLOW_LEVEL_SPRAYED_NS: f64 = 6_000.0;
/// Time per rate that changes at the end of another flow.
const FLOW_LEVEL_RATE_NS: f64 = 120.0;
/// Time per rank in rings that run as a whole, whatever they carry.
const FLOW_LEVEL_RING_RANK_NS: f64 = 500_000.0;

/// Estimates what it costs to run a plan, over the routes built for its fabric.
///
/// # Errors
/// If a collective cannot be run, or if counting would exceed the budget.
pub fn cost_on(plan: &Plan, routing: &Routing, budget: &Budget) -> Result<Cost, ExplainError> {
    let runs: u64 = plan.jobs.iter().map(|job| job.sequence.len() as u64).sum();
    // The limit holds for all collectives together, so that many of them do not cost more to count.
    let most = (TRANSFERS_MAX / runs.max(1)).max(TRANSFERS_MIN);
    let mut cost = Cost {
        exact: true,
        level: match plan.fidelity {
            Fidelity::Packet => "packet",
            Fidelity::Flow => "flow",
        },
        ..Cost::default()
    };
    let mut simulated = Time::ZERO;
    let end = end_of_all(plan);
    for (job, start) in plan.jobs.iter().zip(starts(plan)) {
        let own_end = Ideal::of(plan, routing, job).end(start);
        // Background load repeats its list until the measured jobs end.
        let rounds = rounds(plan, job, start, own_end, end);
        let part = job_cost(plan, routing, job, rounds, most)?;
        let counted = part
            .flows
            .min(most.saturating_mul(job.sequence.len() as u64));
        budget.work(counted.saturating_mul(UNITS_PER_TRANSFER))?;
        cost.packet_hops += part.packet_hops;
        cost.data_packet_hops += part.data_packet_hops;
        cost.flows = cost.flows.saturating_add(part.flows);
        cost.exact &= part.exact;
        if !job.background {
            // Background load ends with the measured jobs, so it does not extend the trial.
            simulated = simulated.max(own_end);
        }
    }
    simulated = simulated.min(plan.time_limit.unwrap_or(Time::MAX));
    cost.simulated_ns = simulated.as_ns();
    cost.memory = memory(plan)?;
    cost.peak_bytes = cost.memory.total();
    match plan.fidelity {
        Fidelity::Packet => {
            let waits = cost.memory.packets_bytes > 0;
            let matching = if waits { matching_ns(plan) } else { 0.0 };
            let visits = visits_ns(plan, simulated, cost.packet_hops);
            cost.ns_per_packet_hop = hop_ns(plan) + matching + visits;
            cost.ns_per_flow = FLOW_NS;
        }
        Fidelity::Flow => cost.ns_per_flow = flow_level_ns(plan, cost.flows),
    }
    let ns = cost.packet_hops * cost.ns_per_packet_hop + cost.flows as f64 * cost.ns_per_flow;
    cost.wall_s = ns / 1e9;
    Ok(cost)
}

/// Returns the packet-hops in a plan's run, as an explanation counts them.
///
/// # Errors
/// If hosts cannot reach each other, or if a collective cannot be run.
pub fn packet_hops(plan: &Plan, budget: &Budget) -> Result<f64, ExplainError> {
    Ok(cost_of(plan, budget)?.packet_hops)
}

/// Estimates what it costs to run a plan, as in an explanation.
///
/// # Errors
/// As [`packet_hops`].
pub fn cost_of(plan: &Plan, budget: &Budget) -> Result<Cost, ExplainError> {
    let routing = Routing::build(&plan.topology, budget)?;
    cost_on(plan, &routing, budget)
}

/// Returns the time per flow at flow level, if there are `flows` flows.
fn flow_level_ns(plan: &Plan, flows: u64) -> f64 {
    let mut balancers = plan.switches.iter().map(|of| &of.load_balancing);
    // A single switch has no links to share between leaves. Spines of a scheduled fabric spread
    // what leaves send evenly.
    let is_free = plan.topology.switches() == 1 || plan.scheduled.is_some();
    if runs_whole_rings(plan, is_free) {
        let ranks: usize = plan.jobs.iter().map(|job| job.hosts.len()).sum();
        return FLOW_LEVEL_RING_RANK_NS * ranks as f64 / flows.max(1) as f64;
    }
    let own = if is_free {
        FLOW_LEVEL_NS
    } else if balancers.all(tenter_fabric::net::load_balancing::LoadBalancing::keeps_ways)
        && plan.port_changes.entropy.is_none()
    {
        FLOW_LEVEL_HASHED_NS
    } else {
        FLOW_LEVEL_SPRAYED_NS
    };
    own + FLOW_LEVEL_RATE_NS * rates_changed(plan)
}

/// Returns true if all jobs are rings that flow level does not run transfer by transfer: their
/// flows never meet, or their largest collectives together have more transfers than
/// `engine.ring_transfers`.
fn runs_whole_rings(plan: &Plan, is_free: bool) -> bool {
    let has_changes = plan.circuits.is_some() || !plan.faults.events.is_empty();
    if has_changes || !plan.nic.start_skew_max.is_zero() {
        return false;
    }
    let mut all = 0_u64;
    for job in &plan.jobs {
        let schedules = job.schedules().unwrap_or_default();
        let are_rings = schedules.iter().all(|schedule| schedule.rings().is_some());
        if job.queue_pairs != 1 || schedules.is_empty() || !are_rings {
            return false;
        }
        let transfers = schedules.iter().map(|schedule| schedule.transfers());
        all = all.saturating_add(transfers.max().unwrap_or(0));
    }
    is_free || all > plan.ring_transfers
}

/// Returns the time that a packet-hop itself takes.
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

/// Returns the part of a packet-hop that matching inputs and outputs takes. Packets are assumed to
/// pass switches in proportion to their ports.
fn matching_ns(plan: &Plan) -> f64 {
    if plan.input_queued.is_none() {
        return 0.0;
    }
    let (mut all, mut weighted) = (0.0, 0.0);
    for switch in plan.topology.switch_nodes() {
        let ports = f64::from(plan.topology.ports(switch));
        // A switch with twice the ports passes twice the packets, so it weighs twice.
        all += ports;
        weighted += ports * (MATCHED_PORT_NS * ports + MATCHED_PAIR_NS * ports * ports);
    }
    SWITCHES_PER_LINK * weighted / all.max(1.0)
}

/// Returns the part of a packet-hop that visits take. A node is visited once in each window, or
/// once for each packet if that is less often.
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
    // Without an event in a window no node is visited, so there are never more visits than packets.
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
        // Streams have no end, so they leave no flow row.
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
