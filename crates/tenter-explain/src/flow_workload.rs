//! How many flows a workload comes to, where time decides.

use std::collections::BTreeMap;

use tenter_net::{DATA_OVERHEAD_BYTES, WIRE_OVERHEAD_BYTES};
use tenter_scenario::Plan;
use tenter_scenario::ideal::nearest::least_latency;
use tenter_topology::Routing;
use tenter_workload::flow_workload::FlowWorkload;
use tenter_workload::{CollectiveRun, Job, Schedule};

/// How many transfers a collective has, or about how many flows a workload. Without routes the way
/// between hosts is taken to take no time.
pub(crate) fn transfers(
    (plan, routing): (&Plan, Option<&Routing>),
    job: &Job,
    run: &CollectiveRun,
    schedule: &dyn Schedule,
) -> u64 {
    let count = u64::from(schedule.transfer_count());
    let Some(workload) = run.kind.flow_workload() else {
        return count;
    };
    let Some(duration) = workload.duration else {
        return count;
    };
    if let Some(rate) = workload.arrivals_per_second() {
        return ((rate * duration.as_s()) as u64).clamp(1, count);
    }
    let latency = routing.map_or(0, |routing| {
        let frame = plan.nic.mtu_bytes + DATA_OVERHEAD_BYTES;
        2 * least_latency(plan, routing, job, frame) + plan.nic.step_delay.ps()
    });
    let rate = flows_per_second(plan, job, workload, latency as f64 / 1e12);
    // Each slot starts one at once.
    let started = (rate * duration.as_s()) as u64;
    started.saturating_add(workload.slots()).min(count)
}

/// Flows per second, if ports are shared evenly among slots: no port carries more than its rate,
/// and no slot has more than one flow under way.
fn flows_per_second(plan: &Plan, job: &Job, workload: &FlowWorkload, latency_s: f64) -> f64 {
    let mean = workload.sizes.mean();
    let packets = (mean / f64::from(plan.nic.mtu_bytes)).ceil().max(1.0);
    let headers = DATA_OVERHEAD_BYTES + WIRE_OVERHEAD_BYTES + plan.nic.telemetry_bytes();
    let bits = 8.0 * (mean + packets * f64::from(headers));
    let line = |rank: u32| {
        let host = job.hosts[rank as usize];
        plan.topology.cable(host, 0).rate.bits_per_second() as f64
    };
    let mut slots: [BTreeMap<u32, f64>; 2] = [BTreeMap::new(), BTreeMap::new()];
    for way in &workload.ways {
        *slots[0].entry(way.src).or_default() += f64::from(way.parallel);
        *slots[1].entry(way.dst).or_default() += f64::from(way.parallel);
    }
    let of_way = |way: &tenter_workload::flow_workload::FlowWay| {
        let share = (line(way.src) / slots[0][&way.src]).min(line(way.dst) / slots[1][&way.dst]);
        f64::from(way.parallel) / (bits / share + latency_s)
    };
    workload.ways.iter().map(of_way).sum()
}
