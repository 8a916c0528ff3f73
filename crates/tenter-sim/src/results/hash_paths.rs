//! Paths that queue pairs take where the 5-tuple's hash alone decides: they are known before a run.

use std::iter;

use tenter_fabric::topology::{CableEnd, HostId, NodeId};
use tenter_language::units::ById;
use tenter_workload::{Job, JobId, Schedule, WorkloadError};

use crate::network::{Context, Driver, JobPlan, NodeModel, QueuePairId};

/// Most queue pairs, or transfers, whose paths are computed: more would take longer than the result
/// is worth.
const FOLLOWED_MAX: u64 = 1 << 20;

/// A transfer on one queue pair, with the switch ports on its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashPath {
    /// The job that sends it.
    pub job: JobId,
    /// The collective's index in the job's sequence.
    pub collective: u32,
    /// The algorithm's step to which the transfer belongs.
    pub step: u32,
    /// The host that sends it.
    pub from: HostId,
    /// The host that receives it.
    pub to: HostId,
    /// Identifies the queue pair between the two ranks: lane and number.
    pub queue_pair: (u32, u16),
    /// The switches' output ports on the path.
    pub ports: Vec<CableEnd>,
}

/// Computes the paths of all transfers in the jobs' sequences, each once. `None` if the load
/// balancer may choose another port for each packet, or if there are more than 2²⁰ transfers.
///
/// # Errors
/// If a collective cannot be run by its ranks.
pub(crate) fn transfers<D: Driver>(driver: &D) -> Result<Option<Vec<HashPath>>, WorkloadError> {
    let mut paths = Vec::new();
    let context = driver.context();
    if context.port_changes.entropy.is_some() {
        return Ok(None);
    }
    for (number, plan) in context.jobs.numbered() {
        for (collective, schedule) in (0..).zip(plan.job.schedules()?) {
            let count = u64::from(schedule.transfer_count()) * u64::from(plan.job.queue_pairs);
            if paths.len() as u64 + count > FOLLOWED_MAX {
                return Ok(None);
            }
            let found = of_schedule(driver, number, &plan.job, collective, &*schedule);
            let Some(found) = found else {
                return Ok(None);
            };
            paths.extend(found);
        }
    }
    Ok(Some(paths))
}

fn of_schedule<D: Driver>(
    driver: &D,
    number: JobId,
    job: &Job,
    collective: u32,
    schedule: &dyn Schedule,
) -> Option<Vec<HashPath>> {
    let context = driver.context();
    let planes = context.topology.nic_ports;
    let transfers = (0..schedule.transfer_count()).map(|id| schedule.transfer(id));
    let transfers = transfers.filter(|of| !context.is_carried(number, of));
    let flows = transfers.flat_map(|transfer| (0..job.queue_pairs).map(move |q| (transfer, q)));
    let paths = flows.map(|(transfer, queue_pair)| {
        let lane = transfer.way(job.queue_pair_scope).lane;
        let [from, to] = job.ends(&transfer);
        let hash = context.hash(QueuePairId::of(number, &transfer, lane, queue_pair));
        let plane = context.nic.plane_of(hash, planes)?;
        Some(HashPath {
            job: number,
            collective,
            step: transfer.step,
            from,
            to,
            queue_pair: (lane, queue_pair),
            ports: ports(driver, (from, plane), to, hash).collect::<Option<_>>()?,
        })
    });
    // One transfer without a known path makes the whole schedule's paths unknown.
    paths.collect()
}

/// Counts the queue pairs that send data through each port of each switch and NIC, by node and
/// port. `None` if the load balancer may choose another port for each packet, or if there are more
/// than 2²⁰ queue pairs.
pub(crate) fn queue_pairs<D: Driver>(driver: &D) -> Option<ById<NodeId, Vec<u64>>> {
    let context = driver.context();
    if context.port_changes.entropy.is_some() || queue_pair_count(context) > FOLLOWED_MAX {
        return None;
    }
    let ports_of = |node: &tenter_fabric::topology::Node| vec![0; node.ports.len()];
    let mut counts: ById<NodeId, Vec<u64>> = context.topology.nodes.iter().map(ports_of).collect();
    for (number, plan) in context.jobs.numbered() {
        for (rank, &from) in plan.job.hosts.numbered() {
            for slot in plan.pairs.send_slots(rank) {
                let peer = plan.pairs.peer_of(rank, slot);
                let to = plan.job.hosts[peer.rank];
                // Within a domain a queue pair sends nothing through its NIC.
                if context.is_within_domain(from, to) {
                    continue;
                }
                let hash = context.hash(QueuePairId::to(number, rank, &peer));
                let planes = context.topology.nic_ports;
                let plane = context.nic.plane_of(hash, planes)?;
                counts[from.node()][usize::from(plane)] += 1;
                for end in ports(driver, (from, plane), to, hash) {
                    let CableEnd { node, port } = end?;
                    counts[node][usize::from(port)] += 1;
                }
            }
        }
    }
    Some(counts)
}

fn queue_pair_count(context: &Context) -> u64 {
    let of_job = |plan: &JobPlan| -> u64 {
        let ranks = plan.job.hosts.ids();
        ranks.map(|rank| plan.pairs.send_count(rank) as u64).sum()
    };
    context.jobs.iter().map(of_job).sum()
}

/// Returns the output ports of switches for packets with this hash, on their path from a host's
/// port. `None` marks a switch that may choose another port for each packet.
fn ports<D: Driver>(
    driver: &D,
    from: (HostId, u16),
    to: HostId,
    hash: u32,
) -> impl Iterator<Item = Option<CableEnd>> {
    let context = driver.context();
    let mut node = context.topology.neighbour(from.0, from.1).node;
    iter::from_fn(move || {
        let NodeModel::Switch(switch) = driver.node(node) else {
            return None;
        };
        // Without a fixed port the walk stays here and yields `None` again; callers stop at the
        // first.
        let port = switch.fixed_port(hash, to, &context.routing);
        let end = port.map(|port| CableEnd { node, port });
        if let Some(CableEnd { node: here, port }) = end {
            node = context.topology.neighbour(here, port).node;
        }
        Some(end)
    })
}
