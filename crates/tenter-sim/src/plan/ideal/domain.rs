//! Ideal times if some transfers pass a scale-up domain and others the network.

use std::collections::BTreeSet;

use tenter_fabric::topology::HostId;
use tenter_language::units::{ById, Time};
use tenter_workload::closed_form::IdealSwitch;
use tenter_workload::{CollectiveRun, Operations, ScaleUp, Schedule};

use super::{Ideal, rate};

/// Most transfers that are followed one by one: those of an all-to-all among 1,024 ranks.
const TRANSFERS_MAX: u32 = 1 << 20;

/// Result of following all transfers: how long ports are busy, and when the last transfer arrives
/// if each waits only for those that release it.
struct Walk {
    /// Busy time at the port with most to send or to receive.
    port: Time,
    /// Busy time at the NPU with most to send into its domain.
    npu: Time,
    /// Length of the longest chain of transfers that release each other.
    chain: Time,
}

/// Time from a transfer's end to the start of the next that it releases, by the path that it takes.
#[derive(Clone, Copy)]
struct Latencies {
    fabric: Time,
    domain: Time,
}

impl Ideal<'_> {
    /// Returns the time for a collective whose ranks share scale-up domains; `None` if no two ranks
    /// share one.
    pub(super) fn through_domain(&self, run: &CollectiveRun) -> Option<Time> {
        let domain = self.plan.scale_up?;
        let number = |&host: &HostId| {
            u64::from(host.number()) * u64::from(self.plan.npus_per_nic)
                / u64::from(domain.npus_per_host)
        };
        let domains: BTreeSet<u64> = self.job.hosts.iter().map(number).collect();
        if domains.len() == self.job.hosts.len() {
            return None;
        }
        let schedule = run
            .traffic
            .schedule(self.job.ranks(), run.size_bytes)
            .ok()?;
        if schedule.transfer_count() > TRANSFERS_MAX {
            return Some(self.over_both(run, domain));
        }
        let latencies = Latencies {
            fabric: self.latency(run),
            domain: self.domain_latency(domain),
        };
        let walk = self.walk(&*schedule, domain, latencies);
        // A port that carries nothing ends nothing, so no latency follows.
        let end = |busy: Time, latency| match busy {
            Time::ZERO => Time::ZERO,
            busy => busy.saturating_add(latency),
        };
        let ports = end(walk.port, latencies.fabric).max(end(walk.npu, latencies.domain));
        let within = run.traffic.within_hosts(run.size_bytes);
        let computing = run.traffic.operations().map(Operations::computing);
        let time = ports.max(walk.chain).max(computing.unwrap_or_default());
        // Time within hosts comes before the network's steps and again after them.
        Some(time.saturating_add(within).saturating_add(within))
    }

    /// Returns the time from the end of a transfer at its NPU to the start of the next that it
    /// releases.
    fn domain_latency(&self, domain: ScaleUp) -> Time {
        if self.latencies.is_empty() {
            Time::ZERO
        } else {
            domain.latency.saturating_add(self.plan.host_delays.step)
        }
    }

    /// Returns a lower bound for collectives with too many transfers: every rank has a port as fast
    /// as those of its NIC and its domain together, and the shorter of both latencies.
    fn over_both(&self, run: &CollectiveRun, domain: ScaleUp) -> Time {
        let port_time = |bytes| {
            // Rates add up, so times combine like parallel resistors.
            let [a, b] = [
                self.port_time(bytes, self.rates.1),
                domain.time_of(bytes, None),
            ]
            .map(|time| u128::from(time.ps()));
            Time::from_ps((a * b / (a + b).max(1)) as u64)
        };
        let latency = self.latency(run).min(self.domain_latency(domain));
        let ranks = self.job.ranks();
        run.traffic.ideal_completion(&IdealSwitch {
            ranks,
            size_bytes: run.size_bytes,
            port_time: &port_time,
            latency,
        })
    }

    /// Follows all transfers in the order in which they release each other.
    fn walk(&self, schedule: &dyn Schedule, domain: ScaleUp, latencies: Latencies) -> Walk {
        let count = schedule.transfer_count();
        let mut ports: ById<HostId, [Time; 2]> =
            vec![[Time::ZERO; 2]; self.plan.topology.hosts].into();
        let mut npus = vec![Time::ZERO; self.job.hosts.len()];
        // For each transfer the number of arrivals that it still waits for, and the last of them so
        // far.
        let mut missing: Vec<u32> = (0..count).map(|id| schedule.dependencies(id)).collect();
        let mut ready = vec![schedule.start_up(); count as usize];
        let mut next: Vec<u32> = (0..count).filter(|&id| missing[id as usize] == 0).collect();
        let mut chain = Time::ZERO;
        let mut released = Vec::new();
        // Any order gives the same result: it consists of sums and maxima.
        while let Some(id) = next.pop() {
            let transfer = schedule.transfer(id);
            let [from, to] = self.job.ends(&transfer);
            let (time, latency) = if self.plan.is_within_domain(from, to) {
                let time = domain.time_of(transfer.bytes, schedule.pace(id));
                let npu = &mut npus[transfer.src as usize];
                *npu = npu.saturating_add(time);
                (time, latencies.domain)
            } else {
                let times = [from, to].map(|host| {
                    let rate = rate(self.plan, host);
                    (host, self.port_time(transfer.bytes, rate))
                });
                for (way, (host, time)) in times.into_iter().enumerate() {
                    let port = &mut ports[host][way];
                    *port = port.saturating_add(time);
                }
                (times[0].1, latencies.fabric)
            };
            let arrived = ready[id as usize]
                .saturating_add(time)
                .saturating_add(latency.max(schedule.latency(id)));
            chain = chain.max(arrived);
            released.clear();
            schedule.released_by(id, &mut released);
            for &after in &released {
                let ready = &mut ready[after as usize];
                *ready = (*ready).max(arrived);
                let missing = &mut missing[after as usize];
                *missing = missing.saturating_sub(1);
                if *missing == 0 {
                    next.push(after);
                }
            }
        }
        Walk {
            port: ports.into_iter().flatten().max().unwrap_or_default(),
            npu: npus.into_iter().max().unwrap_or_default(),
            chain,
        }
    }
}
