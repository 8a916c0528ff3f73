//! Flow count of a workload whose duration decides it.

use std::collections::BTreeMap;

use tenter_fabric::net::{DATA_OVERHEAD_BYTES, WIRE_OVERHEAD_BYTES};
use tenter_fabric::topology::Routing;
use tenter_sim::plan::Plan;
use tenter_sim::plan::ideal::nearest::least_latency;
use tenter_workload::flow_workload::{Arrivals, FlowWay, FlowWorkload};
use tenter_workload::{CollectiveRun, Job, RankId, Schedule};

/// Returns a collective's transfer count, or a workload's approximate flow count. Without routes,
/// paths between hosts count as taking no time.
pub(crate) fn transfers(
    plan: &Plan,
    routing: Option<&Routing>,
    job: &Job,
    run: &CollectiveRun,
    schedule: &dyn Schedule,
) -> u64 {
    let count = u64::from(schedule.transfer_count());
    let Some(workload) = run.traffic.flow_workload() else {
        return count;
    };
    let Some(duration) = workload.duration else {
        return count;
    };
    if let Some(rate) = workload.arrivals_per_second() {
        // The duration may allow less than a flow, or more than the workload has numbers for.
        return ((rate * duration.as_s()) as u64).clamp(1, count);
    }
    let latency = routing.map_or(0, |routing| {
        let frame = plan.nic.mtu_bytes + DATA_OVERHEAD_BYTES;
        2 * least_latency(plan, routing, job, frame) + plan.host_delays.step.ps()
    });
    let rate = flows_per_second(plan, job, workload, latency as f64 / 1e12);
    // Each slot starts its first flow at once.
    let started = (rate * duration.as_s()) as u64;
    started.saturating_add(workload.slots()).min(count)
}

/// Estimates a closed loop's flows per second, if ports are shared evenly among slots: no port
/// carries more than its rate, and each slot has one flow under way.
fn flows_per_second(plan: &Plan, job: &Job, workload: &FlowWorkload, latency_s: f64) -> f64 {
    let bits = mean_bits(plan, workload);
    let line = |rank: u32| line_rate(plan, job, rank);
    let mut slots: [BTreeMap<u32, f64>; 2] = [BTreeMap::new(), BTreeMap::new()];
    for way in &workload.ways {
        *slots[0].entry(way.src).or_default() += f64::from(way.parallel);
        *slots[1].entry(way.dst).or_default() += f64::from(way.parallel);
    }
    let of_way = |way: &FlowWay| {
        let share = (line(way.src) / slots[0][&way.src]).min(line(way.dst) / slots[1][&way.dst]);
        f64::from(way.parallel) / (bits / share + latency_s)
    };
    workload.ways.iter().map(of_way).sum()
}

/// Estimates the open-loop flows that wait when the last one arrives: for each receiver, those
/// beyond its port's rate.
pub(crate) fn waiting(plan: &Plan, job: &Job, workload: &FlowWorkload, flows: u64) -> u64 {
    let Some(all) = workload.arrivals_per_second() else {
        return 0;
    };
    let bits = mean_bits(plan, workload);
    let beyond = |(rank, per_second): (u32, f64)| {
        let carried = line_rate(plan, job, rank) / bits;
        (per_second - carried).max(0.0)
    };
    let beyond: f64 = arrivals_by_receiver(workload, all)
        .into_iter()
        .map(beyond)
        .sum();
    (flows as f64 * beyond / all) as u64
}

/// Returns open-loop flows per second to each receiver; `all` is their sum.
fn arrivals_by_receiver(workload: &FlowWorkload, all: f64) -> BTreeMap<u32, f64> {
    let ways = &workload.ways;
    let count = |rank: &dyn Fn(&FlowWay) -> u32| {
        let mut count: BTreeMap<u32, f64> = BTreeMap::new();
        for way in ways {
            *count.entry(rank(way)).or_default() += 1.0;
        }
        count
    };
    let (of_sender, of_receiver) = (count(&|way| way.src), count(&|way| way.dst));
    let weights = workload.weights();
    let sum: f64 = weights.map_or(0.0, |weights| {
        (0..ways.len()).map(|way| weights.of(way) as f64).sum()
    });
    let mut arrivals: BTreeMap<u32, f64> = BTreeMap::new();
    for (index, way) in ways.iter().enumerate() {
        let here = match (weights, &workload.arrivals) {
            (Some(weights), _) => all * weights.of(index) as f64 / sum.max(1.0),
            (None, Arrivals::EachSender { means, .. }) => {
                // A mean of zero must not become a divisor.
                let mean = means[way.src as usize].as_s().max(1e-12);
                1.0 / (mean * of_sender[&way.src])
            }
            (None, _) => all / (of_receiver.len() as f64 * of_receiver[&way.dst]),
        };
        *arrivals.entry(way.dst).or_default() += here;
    }
    arrivals
}

/// Returns a flow's mean length on the wire, in bits.
fn mean_bits(plan: &Plan, workload: &FlowWorkload) -> f64 {
    let mean = workload.sizes.mean();
    let packets = (mean / f64::from(plan.nic.mtu_bytes)).ceil().max(1.0);
    let headers = DATA_OVERHEAD_BYTES + WIRE_OVERHEAD_BYTES + plan.nic.telemetry_bytes();
    8.0 * (mean + packets * f64::from(headers))
}

fn line_rate(plan: &Plan, job: &Job, rank: u32) -> f64 {
    let host = job.hosts[RankId::new(rank)];
    plan.topology.line_rate(host).bits_per_second() as f64
}
