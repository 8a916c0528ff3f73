//! How long collectives would take if nobody ever waited for anybody else's traffic: the one ideal
//! time that explanations foretell and runs are compared with.
//!
//! The closed form of each collective, with the ports of the NICs, the shortest path among its
//! ranks, the delay before each step, and the scale-up domain where there is one. No run in which
//! all bytes arrive is faster.

mod domain;
pub mod nearest;

use std::collections::BTreeMap;

use tenter_net::WIRE_OVERHEAD_BYTES;
use tenter_topology::{HostId, Routing};
use tenter_units::{ById, Rate, Time};
use tenter_workload::closed_form::IdealSwitch;
use tenter_workload::{CollectiveRun, Flow, Job, RankId, Traffic, split};

use crate::plan::Plan;
use nearest::least_latency;

/// The sizes of so many transfers are looked at; where there are more, they may have any.
const TRANSFERS_MAX: u32 = 1 << 18;

/// The ports and the path that the closed forms are told of.
#[derive(Debug)]
pub struct Ideal<'a> {
    plan: &'a Plan,
    job: &'a Job,
    /// The least and the greatest rate of its NICs, by their own clocks at their fastest.
    rates: (Rate, Rate),
    /// For each size that was looked at its least frame, and the latency of a frame as long as
    /// that; empty where latency is left out.
    latencies: Vec<(u32, Time)>,
}

impl<'a> Ideal<'a> {
    /// Of a job of a plan, whose switches forward by these routes; for the sizes of its sequence.
    pub fn of(plan: &'a Plan, routing: &Routing, job: &'a Job) -> Ideal<'a> {
        let mut ideal = Ideal::without_latency(plan, job);
        for run in &job.sequence {
            ideal.look_at(routing, run);
        }
        ideal
    }

    /// Finds the latency for a collective that has another size than the job's sequence says, as
    /// one has whose size is drawn.
    pub fn look_at(&mut self, routing: &Routing, run: &CollectiveRun) {
        let frame = self.least_frame(run);
        if self.latencies.iter().any(|known| known.0 == frame) {
            return;
        }
        // Circuits that come up later may shorten any path.
        let fixed = self
            .plan
            .circuits
            .as_ref()
            .is_none_or(|circuits| circuits.changes.is_empty() && circuits.steering.is_none());
        let least = if fixed {
            least_latency(self.plan, routing, self.job, frame)
        } else {
            0
        };
        self.latencies.push((frame, Time::from_ps(least)));
    }

    /// As if there were no way between the ports.
    pub fn without_latency(plan: &'a Plan, job: &'a Job) -> Ideal<'a> {
        let rates = job.hosts.iter().map(|&host| rate(plan, host));
        Ideal {
            plan,
            job,
            rates: (
                rates.clone().min().unwrap_or_default(),
                rates.max().unwrap_or_default(),
            ),
            latencies: Vec::new(),
        }
    }

    /// The end of the last collective of the job, which starts at `start`, if nothing ever waits.
    pub fn end(&self, start: Time) -> Time {
        let rounds = u64::from(self.job.iterations) + u64::from(self.job.warm_up);
        let whole = u128::from(start.ps()) + self.round_ps() * u128::from(rounds);
        let whole = whole.saturating_sub(u128::from(self.job.gap.ps()));
        Time::from_ps(u64::try_from(whole).unwrap_or(u64::MAX))
    }

    /// What the job's list of collectives takes once, gaps and computing included, in ps.
    pub fn round_ps(&self) -> u128 {
        let Job { sequence, gap, .. } = self.job;
        sequence.iter().fold(0_u128, |sum, run| {
            let idle = u128::from(gap.ps()) + u128::from(run.compute.mean.ps());
            sum + u128::from(self.completion(run).ps()) + idle
        })
    }

    /// The closed form of one collective of the job. Where its NICs differ that of the fastest, or
    /// what the port with most to carry takes if that is more.
    pub fn completion(&self, run: &CollectiveRun) -> Time {
        let ranks = self.job.ranks();
        if let Traffic::Flows(flows) = &run.traffic {
            return self.all_messages(flows, run.size_bytes);
        }
        if run.traffic.flow_workload().is_none()
            && let Some(time) = self.through_domain(run)
        {
            return time.saturating_add(self.start_up());
        }
        let latency = self.latency(run);
        let even = run.traffic.ideal_completion(&IdealSwitch {
            ranks,
            size_bytes: run.size_bytes,
            port_time: &|bytes| self.port_time(bytes, self.rates.1),
            latency,
        });
        let time = if self.rates.0 == self.rates.1 {
            even
        } else {
            even.max(self.busiest_port(run).saturating_add(latency))
        };
        time.saturating_add(self.start_up())
    }

    /// How long streams take for all their messages, if no port is offered more than it carries.
    fn all_messages(&self, flows: &[Flow], message_bytes: u64) -> Time {
        let line = |rank: u32| {
            let host = self.job.hosts[RankId::new(rank)];
            self.plan.topology.line_rate(host).bits_per_second()
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
        let Ok(schedule) = run.traffic.schedule(ranks, run.size_bytes) else {
            return Time::ZERO;
        };
        // Ranks of one NIC share its port.
        let mut busy: ById<HostId, [Time; 2]> =
            vec![[Time::ZERO; 2]; self.plan.topology.hosts].into();
        let count = schedule.transfer_count();
        for id in 0..if count <= TRANSFERS_MAX { count } else { 0 } {
            let transfer = schedule.transfer(id);
            let [from, to] = self.job.ends(&transfer);
            if self.plan.is_within_domain(from, to) {
                continue;
            }
            for (way, host) in [from, to].into_iter().enumerate() {
                let rate = rate(self.plan, host);
                let port = &mut busy[host][way];
                *port = port.saturating_add(self.port_time(transfer.bytes, rate));
            }
        }
        busy.iter().flatten().copied().max().unwrap_or_default()
    }

    /// From the end of a transfer at its sender to the start of the next that it releases: the
    /// path, and the delay before a step.
    fn latency(&self, run: &CollectiveRun) -> Time {
        if self.latencies.is_empty() {
            return Time::ZERO;
        }
        let frame = self.least_frame(run);
        let known = self.latencies.iter().find(|known| known.0 == frame);
        debug_assert!(known.is_some(), "a size that was not looked at");
        let path = known.map_or(Time::ZERO, |known| known.1);
        path.saturating_add(self.plan.host_delays.step)
    }

    /// Before the first step of a collective.
    fn start_up(&self) -> Time {
        if self.latencies.is_empty() {
            Time::ZERO
        } else {
            self.plan.host_delays.start_up
        }
    }

    /// The least frame that ends a message: the last one to arrive may be as short, and then no
    /// longer one need have come just before it on the same way.
    fn least_frame(&self, run: &CollectiveRun) -> u32 {
        let cut = self.plan.nic.cut();
        let pairs = self.job.queue_pairs;
        let schedule = run.traffic.schedule(self.job.ranks(), run.size_bytes).ok();
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
        payload + self.plan.nic.header_bytes()
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
fn rate(plan: &Plan, host: HostId) -> Rate {
    let nominal = u128::from(plan.topology.line_rate(host).bits_per_second());
    let speed = 1_000_000 + u128::from(plan.nic.clock_offset_max_ppm);
    let fastest = (nominal * speed).div_ceil(1_000_000);
    Rate::from_bits_per_second(u64::try_from(fastest).unwrap_or(u64::MAX))
}
