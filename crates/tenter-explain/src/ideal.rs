//! How long the collectives would take if nobody ever waited for anybody else's traffic.

use std::collections::BTreeMap;

use serde::Serialize;
use tenter_net::{DATA_OVERHEAD_BYTES, WIRE_OVERHEAD_BYTES};
use tenter_scenario::Plan;
use tenter_topology::Routing;
use tenter_units::{Rate, Time};
use tenter_workload::closed_form::ideal_completion;
use tenter_workload::collective::{CollectiveKind, Flow};
use tenter_workload::placement::stretches;
use tenter_workload::{CollectiveRun, Job, WorkloadError, split};

use crate::flow_workload::transfers;
use crate::nearest::least_latency;

/// A job, and what its collectives would take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobFacts {
    /// Its name.
    pub name: String,
    /// How many ranks it has.
    pub ranks: u32,
    /// The hosts of its ranks in their order: `3`, or `8-15` for hosts that follow each other;
    /// ranks that follow each other on the same host count once.
    pub hosts: Vec<String>,
    /// Leaves that its hosts span.
    pub leaves: u32,
    /// The fewest leaves that could hold as many.
    pub fewest_leaves: u32,
    /// Pods that its hosts span: what stays connected without the highest tier.
    pub pods: u32,
    /// The fewest pods that could hold as many.
    pub fewest_pods: u32,
    /// How often its list of collectives is run, warm-up included.
    pub rounds: u64,
    /// Whether it is load for the others; it then runs its list as often as it can.
    pub background: bool,
    /// The job whose end it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// When it starts: from 0, or from that end on.
    pub start_ns: f64,
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
    /// The size as nccl-tests counts it; of a workload of flows what they carry, about.
    pub size_bytes: u64,
    /// How many transfers it consists of; of a workload of flows about how many there is time for.
    pub transfers: u64,
    /// The closed form, with the ports of the NICs and the shortest path among the ranks; no run in
    /// which all bytes arrive is faster.
    pub ideal_ns: f64,
    /// The bus bandwidth that goes with it.
    pub ideal_busbw_gbytes_per_s: f64,
}

/// The sizes of so many transfers are looked at; where there are more, they may have any.
const TRANSFERS_MAX: u32 = 1 << 18;

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
            .map(|before| plan.jobs[before as usize].name.clone()),
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

/// The hosts of ranks, where those that follow each other on one host count once.
fn nics_in_order(hosts: &[u32]) -> Vec<u32> {
    let mut nics = hosts.to_vec();
    nics.dedup();
    nics
}

/// When the last job under test ends and background jobs are cut off, if nothing ever waits.
pub(crate) fn end_of_all(plan: &Plan) -> Time {
    let jobs = plan.jobs.iter().zip(starts(plan));
    let judged = jobs.filter(|(job, _)| !job.background);
    let ends = judged.map(|(job, start)| Ideal::without_latency(plan, job).end(start));
    let end = ends.max().unwrap_or_default();
    let end = end.saturating_add(plan.background_delay);
    plan.time_limit.map_or(end, |limit| limit.min(end))
}

/// When each job starts, if nothing ever waits and no frame takes any time on its way.
pub(crate) fn starts(plan: &Plan) -> Vec<Time> {
    let mut starts: Vec<Option<Time>> = vec![None; plan.jobs.len()];
    for index in 0..plan.jobs.len() {
        // From the job back to one whose start is known, and forth again.
        let mut chain = vec![index];
        while let Some(&job) = chain.last() {
            let Job { after, start, .. } = plan.jobs[job];
            let end = |before: u32| {
                let ideal = Ideal::without_latency(plan, &plan.jobs[before as usize]);
                starts[before as usize].map(|start| ideal.end(start))
            };
            match after.map(|before| (before, end(before))) {
                Some((before, None)) => chain.push(before as usize),
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
    starts.into_iter().flatten().collect()
}

/// How often a job that starts at `start` runs its list of collectives. One under test would end by
/// itself at `own_end`, and makes the same progress all the time until then or until the limit; a
/// background job runs it as often as it can until all others have ended, if nothing ever waits.
pub(crate) fn rounds(
    plan: &Plan,
    (job, start): (&Job, Time),
    own_end: Time,
    end_of_all: Time,
) -> f64 {
    let span = |end: Time| end.saturating_sub(start).ps();
    if !job.background {
        let rounds = f64::from(job.iterations) + f64::from(job.warm_up);
        return match plan.time_limit {
            // Of what takes no time nothing is done before it starts, and then all.
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

/// The ports and the path that the closed forms are told of.
pub(crate) struct Ideal<'a> {
    plan: &'a Plan,
    /// None where latency is left out.
    routing: Option<&'a Routing>,
    job: &'a Job,
    /// The least and the greatest rate of its NICs, by their own clocks at their fastest.
    rates: (Rate, Rate),
    /// For each collective its least frame, and the latency of a frame as long as that; empty where
    /// latency is left out.
    latencies: Vec<(u32, Time)>,
}

impl<'a> Ideal<'a> {
    pub(crate) fn of(plan: &'a Plan, routing: &'a Routing, job: &'a Job) -> Ideal<'a> {
        let mut ideal = Ideal::without_latency(plan, job);
        ideal.routing = Some(routing);
        for run in &job.sequence {
            let frame = ideal.least_frame(run);
            if ideal.latencies.iter().all(|known| known.0 != frame) {
                let latency = Time::from_ps(least_latency(plan, routing, job, frame));
                ideal.latencies.push((frame, latency));
            }
        }
        ideal
    }

    /// As if there were no way between the ports.
    pub(crate) fn without_latency(plan: &'a Plan, job: &'a Job) -> Ideal<'a> {
        let rates = job.hosts.iter().map(|&host| rate(plan, host));
        Ideal {
            plan,
            routing: None,
            job,
            rates: (
                rates.clone().min().unwrap_or_default(),
                rates.max().unwrap_or_default(),
            ),
            latencies: Vec::new(),
        }
    }

    /// The end of the last collective of the job, which starts at `start`, if nothing ever waits.
    pub(crate) fn end(&self, start: Time) -> Time {
        let rounds = u64::from(self.job.iterations) + u64::from(self.job.warm_up);
        let whole = u128::from(start.ps()) + self.round_ps() * u128::from(rounds);
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

    /// The closed form of one collective of the job. Where its NICs differ that of the fastest, or
    /// what the port with most to carry takes if that is more.
    pub(crate) fn completion(&self, run: &CollectiveRun) -> Time {
        let ranks = self.job.ranks();
        if let CollectiveKind::Flows { flows } = &run.kind {
            return self.all_messages(flows, run.size_bytes);
        }
        if self.plan.scale_up.is_some() && run.kind.flow_workload().is_none() {
            // What passes within hosts takes less; what is left is bound by the ports alone.
            return self.busiest_port(run);
        }
        let port_time = |bytes| self.port_time(bytes, self.rates.1);
        let latency = self.latency(run);
        let even = ideal_completion(&run.kind, ranks, run.size_bytes, &port_time, latency);
        if self.rates.0 == self.rates.1 {
            return even;
        }
        even.max(self.busiest_port(run).saturating_add(latency))
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

    /// How long the port with most to send or to receive is busy; zero where there are too many
    /// transfers to look at.
    fn busiest_port(&self, run: &CollectiveRun) -> Time {
        let ranks = self.job.ranks();
        let Ok(schedule) = run.kind.schedule(ranks, run.size_bytes) else {
            return Time::ZERO;
        };
        // Ranks of one NIC share its port.
        let mut busy = vec![[Time::ZERO; 2]; self.plan.topology.hosts];
        let count = schedule.transfer_count();
        for id in 0..if count <= TRANSFERS_MAX { count } else { 0 } {
            let transfer = schedule.transfer(id);
            let [from, to] = [transfer.src, transfer.dst].map(|rank| self.job.hosts[rank as usize]);
            if self.plan.is_within_domain(from, to) {
                continue;
            }
            for (way, host) in [from, to].into_iter().enumerate() {
                let rate = rate(self.plan, host);
                let port = &mut busy[host as usize][way];
                *port = port.saturating_add(self.port_time(transfer.bytes, rate));
            }
        }
        busy.into_iter().flatten().max().unwrap_or_default()
    }

    fn latency(&self, run: &CollectiveRun) -> Time {
        if self.latencies.is_empty() {
            return Time::ZERO;
        }
        let frame = self.least_frame(run);
        let known = self.latencies.iter().find(|known| known.0 == frame);
        known.map_or(Time::ZERO, |known| known.1)
    }

    /// The least frame that ends a message: the last one to arrive may be as short, and then no
    /// longer one need have come just before it on the same way.
    fn least_frame(&self, run: &CollectiveRun) -> u32 {
        let cut = self.plan.nic.cut();
        let pairs = self.job.queue_pairs;
        let schedule = run.kind.schedule(self.job.ranks(), run.size_bytes).ok();
        let few = schedule.filter(|schedule| schedule.transfer_count() <= TRANSFERS_MAX);
        let mut payload = if few.is_some() {
            self.plan.nic.mtu_bytes
        } else {
            0
        };
        let mut last = None;
        for id in 0..few.as_ref().map_or(0, |few| few.transfer_count()) {
            let bytes = few
                .as_ref()
                .map_or(0, |schedule| schedule.transfer(id).bytes);
            if last.replace(bytes) == Some(bytes) {
                continue;
            }
            for pair in [0, pairs.saturating_sub(1)] {
                let share = split::share(bytes, pairs, pair);
                payload = payload.min(cut.request_tail(share));
                if share > self.plan.nic.message_bytes {
                    payload = payload.min(cut.full_message_tail());
                }
            }
        }
        payload + DATA_OVERHEAD_BYTES + self.plan.nic.telemetry_bytes()
    }

    fn time(&self, run: &CollectiveRun) -> Result<IdealTime, WorkloadError> {
        let ranks = self.job.ranks();
        let time = self.completion(run);
        let schedule = run.kind.schedule(ranks, run.size_bytes)?;
        let transfers = transfers((self.plan, self.routing), self.job, run, &*schedule);
        let flows = run.kind.flow_workload();
        let of_flows = flows.map(|flows| (flows.sizes.mean() * transfers as f64) as u64);
        let size_bytes = of_flows.unwrap_or(run.size_bytes);
        let algbw = size_bytes as f64 / time.as_s() / 1e9 * run.kind.algbw_factor(ranks);
        Ok(IdealTime {
            collective: run.kind.name().to_owned(),
            algorithm: run.kind.algorithm().to_owned(),
            size_bytes,
            transfers,
            ideal_ns: time.as_ns(),
            ideal_busbw_gbytes_per_s: algbw * run.kind.busbw_factor(ranks),
        })
    }

    /// How long a transfer occupies a port: its frames with preamble and gap.
    fn port_time(&self, bytes: u64, rate: Rate) -> Time {
        let cut = self.plan.nic.cut();
        let shares = split::shares(bytes, self.job.queue_pairs);
        let wire = shares.fold(0_u128, |sum, share| {
            let packets = cut.packets(share);
            let gaps = packets * u64::from(WIRE_OVERHEAD_BYTES);
            sum + u128::from(cut.request_frame_bytes(share, packets) + gaps)
        });
        let ps = wire * 8_000_000_000_000 / u128::from(rate.bits_per_second().max(1));
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// The line rate of a NIC whose clock is as fast as any may be.
fn rate(plan: &Plan, host: u32) -> Rate {
    let nominal = u128::from(plan.topology.cable(host, 0).rate.bits_per_second());
    let speed = 1_000_000 + u128::from(plan.nic.clock_offset_max_ppm);
    let fastest = (nominal * speed).div_ceil(1_000_000);
    Rate::from_bits_per_second(u64::try_from(fastest).unwrap_or(u64::MAX))
}
