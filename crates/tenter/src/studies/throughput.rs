//! Throughput of measured jobs in a time window: payload that is posted and payload that arrives.

use std::collections::BTreeMap;

use tenter_language::units::Time;
use tenter_results::{FlowRow, Summary};

/// Payload that measured jobs post and receive over the course of a trial.
#[derive(Clone, Debug, Default)]
pub(crate) struct Throughput {
    /// Payload bytes posted in each µs; keys are µs since the start.
    posted: BTreeMap<u64, u64>,
    /// Payload bytes by the µs in which their message's last byte arrived.
    received: BTreeMap<u64, u64>,
}

impl Throughput {
    pub(crate) fn of(flows: &[FlowRow], summary: &Summary) -> Throughput {
        // A flow without a job in the summary counts as measured.
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

    /// Sums both between two instants, in µs since the start. The window ends with the last message
    /// posted, if that is earlier: afterwards the offered load falls, and so does what arrives.
    /// `None` for an empty window.
    pub(crate) fn window(&self, [from, to]: [u64; 2]) -> Option<Window> {
        // The µs in which the last message was posted belongs to the window, hence + 1.
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

/// Payload bytes that measured jobs post and receive in a time window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    us: u64,
    posted: u64,
    received: u64,
}

impl Window {
    /// Returns received payload over the window's length, in Gb/s: bits over ns.
    pub(crate) fn accepted_gbps(&self) -> f64 {
        8.0 * self.received as f64 / (1e3 * self.us as f64)
    }

    /// Returns received payload in percent of posted payload; `None` if nothing was posted.
    pub(crate) fn accepted_percent(&self) -> Option<f64> {
        (self.posted > 0).then(|| 100.0 * self.received as f64 / self.posted as f64)
    }
}

#[cfg(test)]
mod tests {
    use tenter_results::{JobRow, JobSummary};

    use super::*;

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
        let load = JobSummary {
            job: JobRow {
                background: true,
                ..JobRow::default()
            },
            ..JobSummary::default()
        };
        summary.jobs = vec![JobSummary::default(), load];
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
