//! What is read of what jobs have received: how much, and how late.

use tenter_record::{CollectiveRow, JobRow, Summary};
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
}
