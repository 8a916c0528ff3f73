//! What is read of what jobs have received: how much, and how late.

use std::collections::BTreeMap;

use tenter_record::{CollectiveRow, FlowRow, JobRow, Summary};
use tenter_units::Time;

/// The rows of the jobs under test that run anything.
fn judged(summary: &Summary) -> impl Iterator<Item = (&JobRow, &[CollectiveRow])> {
    let jobs = summary.jobs.iter().filter(|job| !job.job.background);
    let jobs = jobs.map(|job| (&job.job, job.collectives.as_slice()));
    jobs.filter(|(_, rows)| !rows.is_empty())
}

/// What jobs under test have received; one that has not ended has had the rest of the trial.
pub(crate) fn gbps(summary: &Summary) -> Option<f64> {
    let end = |job: &JobRow| {
        let end = job.end.map(Time::as_ns);
        end.unwrap_or(summary.engine.simulated_ns)
    };
    let first = judged(summary).filter_map(|(job, _)| Some(job.start?.as_ns()));
    let first = first.min_by(f64::total_cmp)?;
    let last = judged(summary).map(|(job, _)| end(job));
    let span = last.max_by(f64::total_cmp)? - first;
    let rows = judged(summary).flat_map(|(_, rows)| rows);
    let bytes: u64 = rows.map(|row| row.rx_payload_bytes).sum();
    (span > 0.0).then(|| 8.0 * bytes as f64 / span)
}

/// Mean latency of their frames; each collective's mean counts as often as it has frames.
pub(crate) fn latency_mean_us(summary: &Summary) -> Option<f64> {
    let rows = judged(summary).flat_map(|(_, rows)| rows);
    let timed = rows.filter_map(|row| Some((row.latency_avg?, row.rx_frames as f64)));
    let (sum, frames) = timed.fold((0.0, 0.0), |(sum, frames), (latency, of)| {
        (sum + latency.as_ns() * of, frames + of)
    });
    (frames > 0.0).then(|| sum / frames / 1e3)
}

/// What jobs under test post and receive, in the course of a trial.
#[derive(Clone, Debug, Default)]
pub(crate) struct Throughput {
    /// By microsecond: the payload of the messages that were posted in it.
    posted: BTreeMap<u64, u64>,
    /// That of the messages whose last byte arrived in it.
    received: BTreeMap<u64, u64>,
}

impl Throughput {
    pub(crate) fn of(flows: &[FlowRow], summary: &Summary) -> Throughput {
        let under_test = |flow: &&FlowRow| {
            let job = summary.jobs.get(flow.job as usize);
            job.is_none_or(|job| !job.job.background)
        };
        let mut throughput = Throughput::default();
        for flow in flows.iter().filter(under_test) {
            let us = |time: Time| time.ps() / Time::from_us(1).ps();
            *throughput.posted.entry(us(flow.posted)).or_default() += flow.payload_bytes;
            *throughput.received.entry(us(flow.received)).or_default() += flow.payload_bytes;
        }
        throughput
    }

    /// What happened between two instants, in us, but not after the last message was posted: from
    /// then on less and less is under way.
    pub(crate) fn window(&self, [from, to]: [u64; 2]) -> Option<Window> {
        let last = self.posted.last_key_value().map(|(&us, _)| us + 1)?;
        let to = to.min(last);
        let within = |of: &BTreeMap<u64, u64>| of.range(from..to).map(|(_, bytes)| bytes).sum();
        (from < to).then(|| Window {
            us: to - from,
            posted: within(&self.posted),
            received: within(&self.received),
        })
    }
}

/// What jobs under test post and receive in a window of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    us: u64,
    posted: u64,
    received: u64,
}

impl Window {
    pub(crate) fn accepted_gbps(&self) -> f64 {
        8.0 * self.received as f64 / (1e3 * self.us as f64)
    }

    pub(crate) fn accepted_percent(&self) -> Option<f64> {
        (self.posted > 0).then(|| 100.0 * self.received as f64 / self.posted as f64)
    }
}

#[cfg(test)]
mod tests {
    use tenter_record::JobSummary;

    use super::*;

    /// A job from `start` to `end`, in us, with what each of its collectives has received: bytes,
    /// frames and their mean latency in us.
    fn job(start: u64, end: Option<u64>, rows: &[(u64, u64, u64)]) -> JobSummary {
        let row = |&(rx_payload_bytes, rx_frames, us): &(u64, u64, u64)| CollectiveRow {
            rx_payload_bytes,
            rx_frames,
            latency_avg: (rx_frames > 0).then(|| Time::from_us(us)),
            ..CollectiveRow::default()
        };
        JobSummary {
            job: JobRow {
                start: Some(Time::from_us(start)),
                end: end.map(Time::from_us),
                ..JobRow::default()
            },
            collectives: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn throughput_and_latency_are_of_jobs_under_test() {
        let mut summary = Summary::default();
        assert_eq!(gbps(&summary), None);
        let mut load = job(0, None, &[(1 << 40, 1 << 30, 1_000)]);
        load.job.background = true;
        let ended = job(10, Some(20), &[(100_000, 100, 2), (25_000, 0, 9)]);
        summary.jobs = vec![load, ended];
        // 125,000 bytes in 10 us.
        assert_eq!(gbps(&summary), Some(100.0));
        assert_eq!(latency_mean_us(&summary), Some(2.0));
        // Another that began later and has not ended when the trial does, and one that never ran.
        summary.engine.simulated_ns = 60_000.0;
        summary.jobs.push(job(15, None, &[(500_000, 300, 6)]));
        summary.jobs.push(job(0, None, &[]));
        assert_eq!(gbps(&summary), Some(100.0));
        // 100 frames of 2 us and 300 of 6 us.
        assert_eq!(latency_mean_us(&summary), Some(5.0));
    }

    #[test]
    fn a_window_counts_what_arrives_while_messages_are_posted() {
        let flow = |job, posted, received, payload_bytes| FlowRow {
            job,
            posted: Time::from_us(posted),
            received: Time::from_us(received),
            payload_bytes,
            ..FlowRow::default()
        };
        let mut summary = Summary::default();
        let mut load = job(0, None, &[]);
        load.job.background = true;
        summary.jobs = vec![job(0, None, &[]), load];
        let flows = [
            flow(0, 0, 9, 4_000),
            flow(0, 5, 10, 1_000),
            flow(0, 12, 19, 1_500),
            flow(1, 12, 15, 9_000),
            flow(0, 29, 31, 7_500),
        ];
        let throughput = Throughput::of(&flows, &summary);
        let window = |from, to| throughput.window([from, to]).unwrap();
        // Of 1,500 bytes posted from 10 to 20 us, 2,500 bytes arrive with what was posted before.
        assert!((window(10, 20).accepted_gbps() - 2.0).abs() < 1e-12);
        assert_eq!(window(10, 20).accepted_percent(), Some(2_500.0 / 15.0));
        // The last message is posted in the 30th microsecond: nothing is counted beyond.
        assert_eq!(window(20, 100), window(20, 30));
        assert!(window(20, 100).accepted_gbps().abs() < 1e-12);
        assert_eq!(throughput.window([30, 100]), None);
        assert_eq!(Throughput::default().window([0, 9]), None);
    }
}
