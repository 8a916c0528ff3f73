//! Sampling interval for queues and rates, if the scenario leaves it to the run's length.

use tenter_endpoint::NicSpec;
use tenter_fabric::net::Switches;
use tenter_fabric::topology::Topology;
use tenter_language::units::Time;
use tenter_workload::closed_form::IdealSwitch;
use tenter_workload::{Job, JobId};

use crate::resolve::observe::{Observe, Sampling};
use tenter_language::notation::tree::Node;

/// Sample count in a run without waiting; a real run lasts longer and has more.
const SAMPLES: u64 = 500;
const SHORTEST: Time = Time::from_us(1);
const LONGEST: Time = Time::from_us(1_000_000_000);
/// Interval for a run with unknown length.
const UNKNOWN: Time = Time::from_us(100);
/// Switches between two hosts, assumed for a step's latency.
const SWITCHES: u64 = 3;

impl Observe {
    /// Returns the time between samples; `None` without samples.
    pub(crate) fn interval(&self, length: impl Fn() -> Time, effective: &mut Node) -> Option<Time> {
        self.samples
            .then(|| self.sample_interval.bind(length, effective))
    }
}

impl Sampling {
    /// Returns the time between samples. An `auto` interval follows from the run's `length`, and is
    /// written into the effective configuration.
    fn bind(self, length: impl Fn() -> Time, effective: &mut Node) -> Time {
        let interval = match self {
            Sampling::Every(interval) => return interval,
            Sampling::Auto => interval(length()),
        };
        let path = ["observe", "sample_interval"];
        effective.put(&path, Node::plain(interval.to_string()));
        interval
    }
}

/// Divides a length by [`SAMPLES`], and rounds up to two digits.
fn interval(length: Time) -> Time {
    // `Time::MAX` is a sum that has saturated, and no length.
    if length.is_zero() || length == Time::MAX {
        return UNKNOWN;
    }
    let exact = length.ps().div_ceil(SAMPLES);
    let mut digit = 1_u64;
    while exact / digit >= 100 {
        digit *= 10;
    }
    Time::from_ps(exact.div_ceil(digit) * digit).clamp(SHORTEST, LONGEST)
}

/// Estimates a run's time without waiting: until the last measured job ends, or the limit.
pub(crate) fn length(
    jobs: &[Job],
    topology: &Topology,
    switches: &Switches,
    nic: &NicSpec,
    limit: Option<Time>,
) -> Time {
    let usual = &switches.usual;
    let delays = topology.cables.iter().map(|cable| cable.delay);
    let cable = delays.max().unwrap_or_default();
    let switch = usual.ingress_latency.saturating_add(usual.egress_latency);
    let times = |time: Time, count: u64| Time::from_ps(time.ps().saturating_mul(count));
    let ends = nic.transmit_latency.saturating_add(nic.receive_latency);
    let latency = ends.saturating_add(times(switch, SWITCHES));
    let latency = latency.saturating_add(times(cable, SWITCHES + 1));
    let own: Vec<Time> = jobs
        .iter()
        .map(|job| of_job(job, topology, latency))
        .collect();
    // Background jobs end with the others and lengthen no run.
    let judged = (0..jobs.len()).filter(|&job| !jobs[job].background);
    let ends = judged.map(|job| {
        // Jobs that wait for each other run in sequence. A circle of them is refused later; `take`
        // ends it here.
        let before = std::iter::successors(Some(job), |&job| jobs[job].after.map(JobId::index));
        let before = before.take(jobs.len());
        before.fold(Time::ZERO, |sum, job| sum.saturating_add(own[job]))
    });
    let end = ends.max().unwrap_or_default();
    match limit {
        // Endless load gives no length, but a limit does.
        Some(limit) if end.is_zero() => limit,
        Some(limit) => end.min(limit),
        None => end,
    }
}

/// Estimates a job's time from its earliest start to its end.
fn of_job(job: &Job, topology: &Topology, latency: Time) -> Time {
    let rates = job.hosts.iter().map(|&host| topology.line_rate(host));
    let rate = rates.min().unwrap_or_default();
    let port_time = |bytes: u64| rate.time_of_bits(u128::from(bytes) * 8);
    // Long jobs may exceed 64 bits of picoseconds.
    let round = job.sequence.iter().fold(0_u128, |sum, run| {
        let time = run.traffic.ideal_completion(&IdealSwitch {
            ranks: job.ranks(),
            size_bytes: run.size_bytes,
            port_time: &port_time,
            latency,
        });
        sum + [time, run.compute.mean, job.gap]
            .map(|time| u128::from(time.ps()))
            .iter()
            .sum::<u128>()
    });
    let rounds = u128::from(job.iterations) + u128::from(job.warm_up);
    let whole = u128::from(job.start.ps()) + round * rounds;
    Time::from_ps(u64::try_from(whole).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::{Format, load};

    #[test]
    fn an_interval_has_two_digits() {
        // 61.8 ms / 500 = 123.6 us.
        assert_eq!(interval(Time::from_ns(61_800_000)), Time::from_us(130));
        assert_eq!(interval(Time::from_us(50_000)), Time::from_us(100));
        assert_eq!(interval(Time::from_us(90)), SHORTEST);
        assert_eq!(interval(Time::ZERO), UNKNOWN);
        assert_eq!(interval(Time::MAX), UNKNOWN);
        assert_eq!(
            interval(Time::from_ps(u64::MAX - 1)),
            Time::from_us(37_000_000_000).min(LONGEST)
        );
    }

    fn sampled(jobs: &str) -> (Time, String) {
        let text = format!(
            "schema_version: 1\nfabric: {{kind: single-switch, hosts: 8, rate: 100 Gb/s}}\n{jobs}"
        );
        let loaded = load(&text, "x.yaml", Format::Yaml, &[], None).expect("a scenario");
        let interval = loaded.plan.sample_interval.expect("samples are on");
        (interval, loaded.effective)
    }

    #[test]
    fn samples_follow_the_length_of_the_run() {
        // 7 shares of 12.5 MB at 12.5 GB/s take 7 ms: a sample every 14 us, and with latency a
        // little more.
        let text = "jobs: [{collectives: [{collective: all-to-all, size: 100MB}]}]\n";
        let (interval, effective) = sampled(text);
        assert_eq!(interval, Time::from_us(15));
        assert!(effective.contains("sample_interval: 15us"), "{effective}");
        let limited = format!("{text}limits: {{time: 1ms}}\n");
        assert_eq!(sampled(&limited).0, Time::from_us(2));
        let own = format!("{text}observe: {{sample_interval: 70us}}\n");
        assert_eq!(sampled(&own).0, Time::from_us(70));
    }
}
