//! How long the collectives would take if nobody ever waited for anybody else's traffic.

use std::collections::BTreeMap;

use serde::Serialize;
use tenter_endpoint::MessageCut;
use tenter_net::{DATA_OVERHEAD_BYTES, RETH_BYTES, WIRE_OVERHEAD_BYTES};
use tenter_scenario::Plan;
use tenter_topology::Routing;
use tenter_units::{Rate, Time};
use tenter_workload::closed_form::ideal_completion;
use tenter_workload::collective::{CollectiveKind, Flow};
use tenter_workload::placement::stretches;
use tenter_workload::{CollectiveRun, Job, WorkloadError, split};

use crate::latency::{Link, frame_time, links};
use crate::paths::host_kinds;

/// A job, and what its collectives would take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobFacts {
    /// Its name.
    pub name: String,
    /// How many ranks it has.
    pub ranks: u32,
    /// The hosts of its ranks in their order: `3`, or `8-15` for hosts that follow each other.
    pub hosts: Vec<String>,
    /// How often its list of collectives is run, warm-up included.
    pub rounds: u64,
    /// Whether it is load for the others; it then runs its list as often as it can.
    pub background: bool,
    /// How many streams it has that never end.
    pub flows: u64,
    /// What its ranks compute in one round of the list.
    pub compute_ns: f64,
    /// One entry for each collective and size.
    pub collectives: Vec<IdealTime>,
}

/// A collective of one size on an ideal switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IdealTime {
    /// The operation.
    pub collective: String,
    /// The algorithm.
    pub algorithm: String,
    /// The size as nccl-tests counts it.
    pub size_bytes: u64,
    /// How many transfers it consists of.
    pub transfers: u64,
    /// The closed form, with the ports of the slowest NIC and the shortest path among the ranks;
    /// no fabric of such NICs is faster.
    pub ideal_ns: f64,
    /// The bus bandwidth that goes with it.
    pub ideal_busbw_gbytes_per_s: f64,
}

/// Among more kinds of hosts the shortest path is looked for between neighbours only.
const ALL_PAIRS_MAX: usize = 256;

pub(crate) fn job_facts(
    plan: &Plan,
    routing: &Routing,
    job: &Job,
) -> Result<JobFacts, WorkloadError> {
    let ideal = Ideal::of(plan, routing, job);
    let runs = job.sequence.iter();
    let collectives = runs
        .clone()
        .filter(|run| !run.kind.is_endless())
        .map(|run| ideal.time(run));
    let flows = runs.map(|run| match &run.kind {
        CollectiveKind::Flows { flows } => flows.len() as u64,
        _ => 0,
    });
    Ok(JobFacts {
        name: job.name.clone(),
        ranks: job.ranks(),
        hosts: stretches(&job.hosts),
        rounds: u64::from(job.iterations) + u64::from(job.warm_up),
        background: job.background,
        flows: flows.sum(),
        compute_ns: job
            .sequence
            .iter()
            .map(|run| run.compute.mean.as_ns())
            .sum(),
        collectives: collectives.collect::<Result<_, _>>()?,
    })
}

/// When the last job under test ends and background jobs are cut off, if nothing ever waits.
pub(crate) fn end_of_all(plan: &Plan) -> Time {
    let judged = plan.jobs.iter().filter(|job| !job.background);
    let ends = judged.map(|job| Ideal::without_latency(plan, job).end());
    let end = ends.max().unwrap_or_default();
    let end = end.saturating_add(plan.background_delay);
    plan.time_limit.map_or(end, |limit| limit.min(end))
}

/// How often a job runs its list of collectives; a background job as often as it can until the
/// trial ends, if nothing ever waits.
pub(crate) fn rounds(plan: &Plan, job: &Job, end: Time) -> f64 {
    if !job.background {
        return f64::from(job.iterations) + f64::from(job.warm_up);
    }
    let span = end.saturating_sub(job.start).ps();
    let round = Ideal::without_latency(plan, job).round_ps().max(1);
    span as f64 / round as f64
}

/// The ports and the path that the closed forms are told of.
pub(crate) struct Ideal<'a> {
    plan: &'a Plan,
    job: &'a Job,
    rate: Rate,
    /// The shortest path; empty where latency is left out.
    links: Vec<Link>,
}

impl<'a> Ideal<'a> {
    pub(crate) fn of(plan: &'a Plan, routing: &'a Routing, job: &'a Job) -> Ideal<'a> {
        let (from, to) = nearest(plan, routing, job);
        Ideal {
            links: links(plan, routing, from, to),
            ..Ideal::without_latency(plan, job)
        }
    }

    /// As if there were no way between the ports.
    pub(crate) fn without_latency(plan: &'a Plan, job: &'a Job) -> Ideal<'a> {
        let rates = job.hosts.iter();
        let rates = rates.map(|&host| plan.topology.cable(host, 0).rate);
        Ideal {
            plan,
            job,
            rate: rates.min().unwrap_or_default(),
            links: Vec::new(),
        }
    }

    /// From 0 to the end of the job's last collective, if nothing ever waits.
    pub(crate) fn end(&self) -> Time {
        let rounds = u64::from(self.job.iterations) + u64::from(self.job.warm_up);
        let whole = u128::from(self.job.start.ps()) + self.round_ps() * u128::from(rounds);
        let whole = whole.saturating_sub(u128::from(self.job.gap.ps()));
        Time::from_ps(u64::try_from(whole).unwrap_or(u64::MAX))
    }

    /// What the job's list of collectives takes once, gaps and computing included, in ps.
    fn round_ps(&self) -> u128 {
        let Job { sequence, gap, .. } = self.job;
        sequence.iter().fold(0_u128, |sum, run| {
            let idle = u128::from(gap.ps()) + u128::from(run.compute.mean.ps());
            sum + u128::from(self.completion(run).ps()) + idle
        })
    }

    /// The closed form of one collective of the job.
    pub(crate) fn completion(&self, run: &CollectiveRun) -> Time {
        let ranks = self.job.ranks();
        if let CollectiveKind::Flows { flows } = &run.kind {
            return self.all_messages(flows, run.size_bytes);
        }
        let port_time = |bytes| self.port_time(bytes);
        let latency = self.latency(self.least_transfer(run));
        ideal_completion(&run.kind, ranks, run.size_bytes, &port_time, latency)
    }

    /// How long streams take for all their messages, if no port is offered more than it carries.
    fn all_messages(&self, flows: &[Flow], message_bytes: u64) -> Time {
        let line = |rank: u32| {
            let host = self.job.hosts[rank as usize];
            self.plan.topology.cable(host, 0).rate.bits_per_second()
        };
        let carried = |end: fn(&Flow) -> u32| -> u64 {
            let mut offered: BTreeMap<u32, u64> = BTreeMap::new();
            for flow in flows {
                *offered.entry(end(flow)).or_default() += flow.rate.bits_per_second();
            }
            offered
                .iter()
                .map(|(&rank, &rate)| rate.min(line(rank)))
                .sum()
        };
        let rate = carried(|flow| flow.src).min(carried(|flow| flow.dst));
        let messages = u64::from(u32::MAX) / flows.len().max(1) as u64 * flows.len() as u64;
        let bits = u128::from(messages) * u128::from(message_bytes) * 8;
        let ps = bits * 1_000_000_000_000 / u128::from(rate.max(1));
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// About the least payload that a queue pair carries at a time: half a rank's share, or a
    /// chunk.
    fn least_transfer(&self, run: &CollectiveRun) -> u64 {
        let halves = 2 * u64::from(self.job.ranks().max(1));
        let chunk = run.kind.clone().chunk_bytes_mut().copied();
        let least = chunk.unwrap_or(u64::MAX).min(run.size_bytes / halves);
        least / u64::from(self.job.queue_pairs.max(1))
    }

    fn time(&self, run: &CollectiveRun) -> Result<IdealTime, WorkloadError> {
        let ranks = self.job.ranks();
        let time = self.completion(run);
        let schedule = run.kind.schedule(ranks, run.size_bytes)?;
        let algbw = run.size_bytes as f64 / time.as_s() / 1e9 * run.kind.algbw_factor(ranks);
        Ok(IdealTime {
            collective: run.kind.name().to_owned(),
            algorithm: run.kind.algorithm().to_owned(),
            size_bytes: run.size_bytes,
            transfers: u64::from(schedule.transfer_count()),
            ideal_ns: time.as_ns(),
            ideal_busbw_gbytes_per_s: algbw * run.kind.busbw_factor(ranks),
        })
    }

    /// How long a transfer occupies a port: its frames with preamble and gap.
    fn port_time(&self, bytes: u64) -> Time {
        let cut = MessageCut::new(self.plan.nic.message_bytes, self.plan.nic.mtu_bytes);
        let shares = split::shares(bytes, self.job.queue_pairs);
        let wire = shares.fold(0_u128, |sum, share| {
            let packets = cut.packets(share);
            let frames = cut.frame_bytes(share, 0, packets);
            let gaps = packets * u64::from(WIRE_OVERHEAD_BYTES);
            // A request without payload has a header all the same.
            let empty = if share == 0 { u64::from(RETH_BYTES) } else { 0 };
            sum + u128::from(frames.max(empty) + gaps)
        });
        let ps = wire * 8_000_000_000_000 / u128::from(self.rate.bits_per_second().max(1));
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// From the end of a transfer's last frame at its sender to its end at the receiver.
    fn latency(&self, share_bytes: u64) -> Time {
        let payload = share_bytes.min(u64::from(self.plan.nic.mtu_bytes)) as u32;
        let frame = payload + DATA_OVERHEAD_BYTES;
        let wire = frame + WIRE_OVERHEAD_BYTES;
        let first = self
            .links
            .first()
            .map_or(Time::ZERO, |link| link.rate.serialisation(0).of(wire, 0).0);
        frame_time(&self.links, frame).saturating_sub(first)
    }
}

/// Two hosts of a job with the shortest path between them.
fn nearest(plan: &Plan, routing: &Routing, job: &Job) -> (u32, u32) {
    let kinds = host_kinds(plan, job.hosts.iter().copied());
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for (index, kind) in kinds.iter().enumerate() {
        let (first, second) = kind.hosts;
        pairs.extend(second.map(|second| (first, second)));
        let others = if kinds.len() <= ALL_PAIRS_MAX {
            &kinds[index + 1..]
        } else {
            &kinds[index + 1..(index + 2).min(kinds.len())]
        };
        pairs.extend(others.iter().map(|other| (first, other.hosts.0)));
    }
    let time = |&(from, to): &(u32, u32)| frame_time(&links(plan, routing, from, to), 64);
    let host = job.hosts.first().copied().unwrap_or(0);
    pairs.into_iter().min_by_key(time).unwrap_or((host, host))
}
