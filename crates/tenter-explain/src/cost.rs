//! What a run costs: packets, memory, time.

use serde::Serialize;
use tenter_scenario::Plan;
use tenter_topology::Routing;
use tenter_units::Time;
use tenter_workload::{Job, WorkloadError};

use crate::ideal::{Ideal, end_of_all, rounds};
use crate::latency::lookahead;
use crate::memory::{Entries, memory};
use crate::traffic::traffic;

/// What a run costs, as an estimate.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Packets carried, counted once per link, without pauses and without what is sent again.
    pub packet_hops: f64,
    /// Of them, data.
    pub data_packet_hops: f64,
    /// Flows (data chunks on queue pairs).
    pub flows: u64,
    /// Whether every transfer was counted; otherwise some of them stand for all.
    pub exact: bool,
    /// Simulated time at least: the ideal times and gaps of the longest job.
    pub simulated_ns: f64,
    /// Wall time on one thread of the machine that the constants were measured on.
    pub wall_s: f64,
    /// Of it, for each packet-hop.
    pub ns_per_packet_hop: f64,
    /// Of it, for each flow.
    pub ns_per_flow: f64,
    /// Peak resident memory.
    pub peak_bytes: u64,
    /// What the memory is for.
    pub memory: MemoryParts,
}

/// What the memory of a run is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MemoryParts {
    /// The program.
    pub process_bytes: u64,
    /// Nodes, links, routes, and what they have counted.
    pub fabric_bytes: u64,
    /// Queue pairs.
    pub queue_pairs_bytes: u64,
    /// Flows under way, and what is kept of all flows.
    pub flows_bytes: u64,
    /// Packets in queues.
    pub packets_bytes: u64,
    /// Rows that wait to be written.
    pub tables_bytes: u64,
}

impl MemoryParts {
    /// All of it.
    pub fn total(&self) -> u64 {
        let parts = [
            self.fabric_bytes,
            self.queue_pairs_bytes,
            self.flows_bytes,
            self.packets_bytes,
            self.tables_bytes,
        ];
        parts
            .into_iter()
            .fold(self.process_bytes, u64::saturating_add)
    }
}

/// So many transfers are looked at in all collectives together.
const TRANSFERS_MAX: u64 = 4 << 20;
/// And so many in each of them, however many there are.
const TRANSFERS_MIN: u64 = 4_096;

/// A packet-hop in a fabric of up to [`HOSTS_CACHED`] hosts, in ns; on the machine of
/// `benches/README.md`, as are the two that follow.
const HOP_NS: f64 = 50.0;
/// What it takes longer whenever the fabric doubles.
const HOP_NS_PER_DOUBLING: f64 = 5.0;
/// Hosts whose state stays in the cache.
const HOSTS_CACHED: f64 = 128.0;
/// Where one node can affect another so soon, windows go from event to event.
const CENTRAL_BELOW: Time = Time::from_ns(50);
/// How much longer a packet-hop takes then.
const CENTRAL_FACTOR: f64 = 4.0;
/// A flow: its queue pair, its records and its row.
const FLOW_NS: f64 = 1_500.0;

/// What running a plan costs.
pub(crate) fn cost(plan: &Plan, routing: &Routing) -> Result<Cost, WorkloadError> {
    let runs: u64 = plan.jobs.iter().map(|job| job.sequence.len() as u64).sum();
    let most = (TRANSFERS_MAX / runs.max(1)).max(TRANSFERS_MIN);
    let mut cost = Cost {
        exact: true,
        ..Cost::default()
    };
    let mut simulated = Time::ZERO;
    let end = end_of_all(plan);
    for job in &plan.jobs {
        let part = job_cost((plan, routing), job, rounds(plan, job, end), most)?;
        cost.packet_hops += part.packet_hops;
        cost.data_packet_hops += part.data_packet_hops;
        cost.flows = cost.flows.saturating_add(part.flows);
        cost.exact &= part.exact;
        if !job.background {
            simulated = simulated.max(Ideal::of(plan, routing, job).end());
        }
    }
    if let Some(limit) = plan.time_limit.filter(|limit| *limit < simulated) {
        let share = limit.as_s() / simulated.as_s();
        cost.packet_hops *= share;
        cost.data_packet_hops *= share;
        simulated = limit;
    }
    let central = lookahead(plan) < CENTRAL_BELOW;
    let doublings = (plan.topology.hosts as f64 / HOSTS_CACHED).log2().max(0.0);
    cost.simulated_ns = simulated.as_ns();
    let factor = if central { CENTRAL_FACTOR } else { 1.0 };
    cost.ns_per_packet_hop = (HOP_NS + HOP_NS_PER_DOUBLING * doublings) * factor;
    cost.ns_per_flow = FLOW_NS;
    let ns = cost.packet_hops * cost.ns_per_packet_hop + cost.flows as f64 * FLOW_NS;
    cost.wall_s = ns / 1e9;
    cost.memory = memory(plan)?;
    cost.peak_bytes = cost.memory.total();
    Ok(cost)
}

fn job_cost(
    (plan, routing): (&Plan, &Routing),
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
        cost.packet_hops += data + traffic.control_hops * rounds;
        let flows = traffic.transfers.saturating_mul(pairs);
        if !run.kind.is_endless() {
            let all = (flows as f64 * rounds).ceil() as u64;
            cost.flows = cost.flows.saturating_add(all);
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
