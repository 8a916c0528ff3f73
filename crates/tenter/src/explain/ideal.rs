//! Ideal times for collectives, without waiting for other traffic.

use serde::Serialize;
use tenter_fabric::topology::{HostId, Routing};
use tenter_language::units::Time;
use tenter_sim::plan::Plan;
use tenter_sim::plan::ideal::Ideal;
use tenter_workload::placement::stretches;
use tenter_workload::{CollectiveRun, Job, JobId, Traffic, WorkloadError};

use crate::explain::flow_workload::transfers;

/// A job with its collectives' ideal times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobFacts {
    /// Job name in the scenario.
    pub name: String,
    /// Rank count of the job.
    pub ranks: u32,
    /// Hosts in rank order: `3`, or `8-15` for consecutive ones. Consecutive ranks on one host
    /// count once.
    pub hosts: Vec<String>,
    /// Leaves that the job's hosts span.
    pub leaves: u32,
    /// Fewest leaves that could hold its hosts.
    pub fewest_leaves: u32,
    /// Pods that its hosts span; a pod stays connected without the highest tier.
    pub pods: u32,
    /// Fewest pods that could hold its hosts.
    pub fewest_pods: u32,
    /// Rounds through the collective list, warm-up included.
    pub rounds: u64,
    /// True for load on the other jobs, which repeats its list as long as they run.
    pub background: bool,
    /// Name of the job whose end this one waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Start time: from 0, or from the other job's end.
    pub start_ns: f64,
    /// Number of streams that never end.
    pub flows: u64,
    /// Mean computing time per rank in one round through the list.
    pub compute_ns: f64,
    /// Ideal times, one for each collective and size.
    pub collectives: Vec<IdealTime>,
}

/// A collective with one size on an ideal switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IdealTime {
    /// Operation name, such as `all-reduce`.
    pub collective: String,
    /// Algorithm name, such as `ring`.
    pub algorithm: String,
    /// Size as nccl-tests counts it; for a flow workload the approximate total.
    pub size_bytes: u64,
    /// Transfer count; for a flow workload the approximate count that its duration allows.
    pub transfers: u64,
    /// Closed form with the NICs' ports and the shortest path among the ranks; no run in which all
    /// bytes arrive is faster. For an operation graph, the time of its busiest port or stream: a
    /// lower bound that ignores waiting, such as a pipeline's bubble.
    pub ideal_ns: f64,
    /// Bus bandwidth at the ideal time; missing for flow workloads and operation graphs, which have
    /// none.
    pub ideal_busbw_gbytes_per_s: Option<f64>,
}

pub(crate) fn job_facts(
    plan: &Plan,
    routing: &Routing,
    job: &Job,
) -> Result<JobFacts, WorkloadError> {
    let ideal = Ideal::of(plan, routing, job);
    let runs = job.sequence.iter();
    let collectives = runs
        .clone()
        .filter(|run| !run.traffic.is_endless())
        .map(|run| ideal_time(plan, routing, job, &ideal, run));
    let flows = runs.map(|run| match &run.traffic {
        Traffic::Flows(flows) => flows.len() as u64,
        _ => 0,
    });
    let topology = &plan.topology;
    let (leaves, pods) = (
        topology.leaf_span(&job.hosts),
        topology.pod_span(&job.hosts),
    );
    Ok(JobFacts {
        leaves: leaves.groups,
        fewest_leaves: leaves.fewest,
        pods: pods.groups,
        fewest_pods: pods.fewest,
        name: job.name.clone(),
        ranks: job.ranks(),
        hosts: stretches(&nics_in_order(&job.hosts)),
        rounds: u64::from(job.iterations) + u64::from(job.warm_up),
        background: job.background,
        after: job
            .after
            .map(|before| plan.jobs[before.index()].name.clone()),
        start_ns: job.start.as_ns(),
        flows: flows.sum(),
        compute_ns: job
            .sequence
            .iter()
            .map(|run| run.compute.mean.as_ns())
            .sum(),
        collectives: collectives.collect::<Result<_, _>>()?,
    })
}

/// Returns the ranks' hosts, consecutive ranks on one host once.
fn nics_in_order(hosts: &[HostId]) -> Vec<HostId> {
    let mut nics = hosts.to_vec();
    nics.dedup();
    nics
}

/// Returns when the last measured job ends and background jobs are cut off, if nothing waits.
pub(crate) fn end_of_all(plan: &Plan) -> Time {
    let jobs = plan.jobs.iter().zip(starts(plan));
    let judged = jobs.filter(|(job, _)| !job.background);
    let ends = judged.map(|(job, start)| Ideal::without_latency(plan, job).end(start));
    let end = ends.max().unwrap_or_default();
    let end = end.saturating_add(plan.background_delay);
    plan.time_limit.map_or(end, |limit| limit.min(end))
}

/// Returns each job's start, if nothing waits and frames take no time on their paths.
pub(crate) fn starts(plan: &Plan) -> Vec<Time> {
    let mut starts: Vec<Option<Time>> = vec![None; plan.jobs.len()];
    for index in 0..plan.jobs.len() {
        // Follow the chain to a job whose start is known, then resolve it backwards; recursion
        // would be as deep as the chain.
        let mut chain = vec![index];
        while let Some(&job) = chain.last() {
            let Job { after, start, .. } = plan.jobs[job];
            let end = |before: JobId| {
                let ideal = Ideal::without_latency(plan, &plan.jobs[before.index()]);
                starts[before.index()].map(|start| ideal.end(start))
            };
            match after.map(|before| (before, end(before))) {
                Some((before, None)) => chain.push(before.index()),
                Some((_, Some(end))) => {
                    starts[job] = Some(end.saturating_add(start));
                    chain.pop();
                }
                None => {
                    starts[job] = Some(start);
                    chain.pop();
                }
            }
        }
    }
    // Every start is known by now.
    starts.into_iter().flatten().collect()
}

/// Multiplies a count by `rounds`, and rounds to the nearest integer.
pub(crate) fn in_rounds(count: u64, rounds: f64) -> u64 {
    (count as f64 * rounds).round() as u64
}

/// Returns how often a job that starts at `start` runs its collective list, if nothing waits. A
/// measured job makes steady progress until `own_end` or the time limit; a background job repeats
/// its list until `end_of_all`.
pub(crate) fn rounds(plan: &Plan, job: &Job, start: Time, own_end: Time, end_of_all: Time) -> f64 {
    let span = |end: Time| end.saturating_sub(start).ps();
    if !job.background {
        let rounds = f64::from(job.iterations) + f64::from(job.warm_up);
        return match plan.time_limit {
            // A job without any time has done nothing before its start, and everything at it; 1 ps
            // avoids 0 / 0.
            Some(limit) if limit < own_end => {
                rounds * span(limit) as f64 / span(own_end).max(1) as f64
            }
            _ => rounds,
        };
    }
    let span = span(end_of_all);
    let round = Ideal::without_latency(plan, job).round_ps().max(1);
    span as f64 / round as f64
}

fn ideal_time(
    plan: &Plan,
    routing: &Routing,
    job: &Job,
    ideal: &Ideal<'_>,
    run: &CollectiveRun,
) -> Result<IdealTime, WorkloadError> {
    let ranks = job.ranks();
    let time = ideal.completion(run);
    let schedule = run.traffic.schedule(ranks, run.size_bytes)?;
    let transfers = transfers(plan, Some(routing), job, run, &*schedule);
    let flows = run.traffic.flow_workload();
    let of_flows = flows.map(|flows| (flows.sizes.mean() * transfers as f64) as u64);
    let size_bytes = of_flows.unwrap_or(run.size_bytes);
    let algbw = size_bytes as f64 / time.as_s() / 1e9 * run.traffic.algbw_factor(ranks);
    Ok(IdealTime {
        collective: run.traffic.name().to_owned(),
        algorithm: run.traffic.algorithm().to_owned(),
        size_bytes,
        transfers,
        ideal_ns: time.as_ns(),
        ideal_busbw_gbytes_per_s: (flows.is_none() && run.traffic.operations().is_none())
            .then(|| algbw * run.traffic.busbw_factor(ranks)),
    })
}
