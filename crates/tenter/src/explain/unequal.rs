//! Cost of unequal flows at flow level: each ends by itself, and its end changes the rates of the
//! others that are under way.

use std::collections::BTreeSet;

use tenter_fabric::topology::HostId;
use tenter_language::units::Rate;
use tenter_sim::plan::Plan;
use tenter_workload::flow_workload::FlowWorkload;
use tenter_workload::graph::{Graph, GraphSchedule, Operation};
use tenter_workload::{Job, Schedule};

use crate::explain::traffic::initial;

/// Number of ranks that stand for all.
const RANKS: u32 = 16;
/// Most operations that are read of one rank's graph.
const OPERATIONS: u32 = 1 << 14;
/// Number of sizes up to which flows end together often enough to count as equal.
const FEW_SIZES: usize = 8;
/// Most load that an open loop counts with, as a share of the NICs' rate: the mean number of flows
/// under way has no bound at 1.
const LOAD_MAX: f64 = 0.95;

/// Returns the rates that one end changes, if each NIC has `per_nic` flows out of `flows` in all:
/// hardly any among few flows, an eighth of all among many. Measured on random flows over 1,024
/// NICs: 15, 140, 467, 940 and 3,634 rates for 4, 8, 12, 16 and 32 flows per NIC.
fn rates_of_an_end(per_nic: f64, flows: f64) -> f64 {
    (15.0 * (per_nic / 4.0).powi(3)).min(flows / 8.0)
}

/// Returns the rates that one end changes with a tolerance, which keeps a change within a few
/// links. Measured: 13, 84, 212 and 339 rates for 4, 16, 64 and 244 flows per NIC.
fn rates_within_tolerance(per_nic: f64) -> f64 {
    (5.0 * per_nic).min(27.0 * per_nic.sqrt())
}

/// Returns the rates that the end of one of the plan's flows changes.
pub(crate) fn rates_changed(plan: &Plan) -> f64 {
    let of_jobs = plan.jobs.iter().map(|job| at_once(plan, job));
    let flows: f64 = of_jobs.sum();
    // Flows crowd at the hosts that jobs use, however large the fabric is.
    let used = plan.jobs.iter().flat_map(|job| job.hosts.iter());
    let used: BTreeSet<&HostId> = used.collect();
    let hosts = (used.len() as f64).max(1.0);
    let rates = rates_of_an_end(flows / hosts, flows);
    if plan.queues_are_open() {
        // Only the flows of one NIC share anything.
        rates.min(flows / hosts)
    } else if plan.tolerance > 0 {
        rates.min(rates_within_tolerance(flows / hosts))
    } else {
        rates
    }
}

/// Returns the job's unequal flows that are under way at once; 0 if they have few sizes.
fn at_once(plan: &Plan, job: &Job) -> f64 {
    let schedules = job.schedules().unwrap_or_default();
    let of_schedules = schedules
        .iter()
        .map(|schedule| match schedule.flow_workload() {
            Some(flows) => of_flow_workload(plan, job, flows.workload()),
            None => first_of(&**schedule),
        });
    of_schedules.fold(0.0, f64::max)
}

/// Returns the flows of a flow workload that are under way at once: in a closed loop all that may
/// be, in an open one the mean under fair sharing (M/G/1 processor sharing).
fn of_flow_workload(plan: &Plan, job: &Job, workload: &FlowWorkload) -> f64 {
    if workload.sizes.quantile(1) == workload.sizes.largest() {
        return 0.0;
    }
    let all = workload.flows.map_or(f64::INFINITY, f64::from);
    let Some(per_second) = workload.arrivals_per_second() else {
        return all.min(workload.slots() as f64);
    };
    let hosts = job
        .hosts
        .iter()
        .map(|host| plan.topology.cable(*host, 0).rate);
    let rate: f64 = hosts.map(Rate::bytes_per_second).sum();
    let load = (per_second * workload.sizes.mean() / rate.max(1.0)).min(LOAD_MAX);
    all.min(job.hosts.len() as f64 * load / (1.0 - load))
}

/// Returns the transfers that wait for nothing; 0 if they have few sizes.
fn first_of(schedule: &dyn Schedule) -> f64 {
    let ranks = schedule.ranks();
    let step = ranks.div_ceil(RANKS).max(1);
    let some: Vec<u32> = (0..ranks).step_by(step as usize).collect();
    let mut sizes = Vec::new();
    if let Some(graph) = GraphSchedule::of(schedule).map(GraphSchedule::graph) {
        for &rank in &some {
            first_sends(graph, rank, &mut sizes);
        }
    } else {
        initial(schedule, &some, |schedule, id| {
            sizes.push(schedule.transfer(id).bytes);
        });
    }
    let flows = sizes.len() as f64 * f64::from(ranks) / some.len().max(1) as f64;
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() > FEW_SIZES { flows } else { 0.0 }
}

/// Adds the sizes that a rank sends before it has received anything, among its graph's first
/// operations.
fn first_sends(graph: &Graph, rank: u32, sizes: &mut Vec<u64>) {
    let places = graph.operations_of(rank).min(OPERATIONS);
    let mut waits = vec![false; places as usize];
    for place in 0..places {
        for (follower, _) in graph.followers(rank, place) {
            if let Some(waits) = waits.get_mut(follower as usize) {
                *waits = true;
            }
        }
    }
    let free = (0..places).zip(waits).filter(|(_, waits)| !waits);
    sizes.extend(
        free.filter_map(|(place, _)| match graph.operation(rank, place) {
            (Operation::Send { bytes, .. }, _) => Some(bytes),
            _ => None,
        }),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_change_more_rates_the_more_flows_a_nic_has() {
        for (per_nic, measured) in [(4.0, 15.0), (8.0, 140.0), (12.0, 467.0), (16.0, 940.0)] {
            let found = rates_of_an_end(per_nic, 1_024.0 * per_nic);
            assert!((found / measured - 1.0).abs() < 0.2, "{per_nic}: {found}");
        }
        assert!(rates_of_an_end(0.5, 512.0) < 0.1);
        for (per_nic, measured) in [(16.0, 84.0), (64.0, 212.0), (244.0, 339.0)] {
            let found = rates_within_tolerance(per_nic);
            assert!((found / measured - 1.0).abs() < 0.3, "{per_nic}: {found}");
        }
    }
}
