//! Ideal times: how long collectives would take if they never waited for other traffic.
//! Explanations predict this time, and runs are compared with it.
//!
//! An ideal time is the collective's closed form, with the NICs' ports, the shortest path among its
//! ranks, the delay before each step, and the scale-up domain if there is one. No run in which all
//! bytes arrive is faster.

mod domain;
pub mod nearest;

use std::collections::BTreeMap;

use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_fabric::topology::{HostId, Routing};
use tenter_language::units::{ById, Rate, Time};
use tenter_workload::closed_form::IdealSwitch;
use tenter_workload::{CollectiveRun, Flow, Job, RankId, Traffic, split};

use crate::plan::trial::Plan;
use nearest::least_latency;

/// Most transfers whose sizes are examined one by one; with more, any size is possible.
const TRANSFERS_MAX: u32 = 1 << 18;

/// A job's ports and paths, as the closed forms need them.
#[derive(Debug)]
pub struct Ideal<'a> {
    plan: &'a Plan,
    job: &'a Job,
    /// Lowest and highest rate among the job's NICs, with their clocks at their fastest.
    rates: (Rate, Rate),
    /// For each examined size, the smallest frame that ends a message, and that frame's latency;
    /// empty if latency is left out.
    latencies: Vec<(u32, Time)>,
}

impl<'a> Ideal<'a> {
    /// Prepares ideal times for `job`, with switches that forward by `routing`, for the sizes in
    /// its sequence.
    pub fn of(plan: &'a Plan, routing: &Routing, job: &'a Job) -> Ideal<'a> {
        let mut ideal = Ideal::without_latency(plan, job);
        for run in &job.sequence {
            ideal.look_at(routing, run);
        }
        ideal
    }

    /// Computes the latency for a collective whose size is not in the job's sequence, because it is
    /// drawn.
    pub(crate) fn look_at(&mut self, routing: &Routing, run: &CollectiveRun) {
        let frame = self.least_frame(run);
        if self.latencies.iter().any(|known| known.0 == frame) {
            return;
        }
        // Circuits that come up later may shorten any path, so then the path counts as free.
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

    /// Prepares ideal times without any latency between the ports.
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

    /// Returns the end of the job's last collective if the job starts at `start` and never waits.
    pub fn end(&self, start: Time) -> Time {
        let rounds = u64::from(self.job.iterations) + u64::from(self.job.warm_up);
        // Many iterations with long rounds may exceed 64 bits.
        let whole = u128::from(start.ps()) + self.round_ps() * u128::from(rounds);
        // The gap after the last collective is not waited for.
        let whole = whole.saturating_sub(u128::from(self.job.gap.ps()));
        Time::from_ps(u64::try_from(whole).unwrap_or(u64::MAX))
    }

    /// Returns the time for the job's list of collectives, gaps and computing included, in ps.
    pub fn round_ps(&self) -> u128 {
        let Job { sequence, gap, .. } = self.job;
        sequence.iter().fold(0_u128, |sum, run| {
            let idle = u128::from(gap.ps()) + u128::from(run.compute.mean.ps());
            sum + u128::from(self.completion(run).ps()) + idle
        })
    }

    /// Returns the closed form of one collective. If the job's NICs differ, it is that of the
    /// fastest, or the time of the port with most to carry if that is longer.
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

    /// Returns the time that streams take for all their messages, if no port is offered more than
    /// it carries.
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
        // A stream without end has as many messages as transfer numbers allow, shared evenly.
        let messages = u64::from(u32::MAX) / flows.len().max(1) as u64 * flows.len() as u64;
        let bits = u128::from(messages) * u128::from(message_bytes) * 8;
        let ps = bits * 1_000_000_000_000 / u128::from(rate.max(1));
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Returns the time for which the port with most to send or receive is busy; zero if there are
    /// too many transfers to examine.
    fn busiest_port(&self, run: &CollectiveRun) -> Time {
        let ranks = self.job.ranks();
        let Ok(schedule) = run.traffic.schedule(ranks, run.size_bytes) else {
            return Time::ZERO;
        };
        // Ranks on one NIC share its port.
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

    /// Returns the time from the end of a transfer at its sender to the start of the next that it
    /// releases: the path, and the delay before a step.
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

    /// Returns the delay before a collective's first step.
    fn start_up(&self) -> Time {
        if self.latencies.is_empty() {
            Time::ZERO
        } else {
            self.plan.host_delays.start_up
        }
    }

    /// Returns the smallest frame that may end a message. The last frame to arrive may be that
    /// short, and then no longer frame need precede it on the same path.
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
            // Most schedules repeat sizes, so a size is examined only when it changes.
            if last.replace(bytes) == Some(bytes) {
                continue;
            }
            // The first queue pair has the largest share and the last one the smallest.
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

    /// Returns the time for which a transfer occupies a port: its frames with preamble and gap.
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

/// Returns a NIC's line rate with the fastest clock that the plan allows: a lower bound for times
/// must not depend on the drawn offset.
fn rate(plan: &Plan, host: HostId) -> Rate {
    let nominal = u128::from(plan.topology.line_rate(host).bits_per_second());
    let speed = 1_000_000 + u128::from(plan.nic.clock_offset_max_ppm);
    // Rounded up, because a faster port only lowers the bound.
    let fastest = (nominal * speed).div_ceil(1_000_000);
    Rate::from_bits_per_second(u64::try_from(fastest).unwrap_or(u64::MAX))
}
