//! What is read of what jobs have received: how much, how late, and at what power.

use tenter_record::{CollectiveRow, JobRow, Summary};
use tenter_units::Time;

use crate::description::Reading;
use crate::trial::Trial;

/// What one of these readings says of a trial; nothing of one without what it needs.
pub(crate) fn read(reading: Reading, trial: &Trial) -> Option<f64> {
    let summary = &trial.summary;
    let power = summary.power.as_ref();
    match reading {
        Reading::ThroughputGbps => throughput_gbps(summary),
        Reading::LatencyMeanUs => latency_mean_us(summary),
        Reading::StaticWPerGbps => power?.static_per_gbps,
        Reading::DynamicWPerGbps => power?.dynamic_per_gbps,
        Reading::PjPerBit => power?.picojoules_per_bit,
        _ => None,
    }
}

/// The rows of the jobs under test that run anything.
fn judged(summary: &Summary) -> impl Iterator<Item = (&JobRow, &[CollectiveRow])> {
    let jobs = summary.jobs.iter().filter(|job| !job.job.background);
    let jobs = jobs.map(|job| (&job.job, job.collectives.as_slice()));
    jobs.filter(|(_, rows)| !rows.is_empty())
}

/// A job that has not ended has had the rest of the trial.
fn throughput_gbps(summary: &Summary) -> Option<f64> {
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

/// Each collective's mean counts as often as it has frames.
fn latency_mean_us(summary: &Summary) -> Option<f64> {
    let rows = judged(summary).flat_map(|(_, rows)| rows);
    let timed = rows.filter_map(|row| Some((row.latency_avg?, row.rx_frames as f64)));
    let (sum, frames) = timed.fold((0.0, 0.0), |(sum, frames), (latency, of)| {
        (sum + latency.as_ns() * of, frames + of)
    });
    (frames > 0.0).then(|| sum / frames / 1e3)
}

#[cfg(test)]
mod tests {
    use tenter_record::{JobSummary, PowerRow};

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
        let mut trial = Trial::default();
        assert_eq!(read(Reading::ThroughputGbps, &trial), None);
        let mut load = job(0, None, &[(1 << 40, 1 << 30, 1_000)]);
        load.job.background = true;
        let ended = job(10, Some(20), &[(100_000, 100, 2), (25_000, 0, 9)]);
        trial.summary.jobs = vec![load, ended];
        // 125,000 bytes in 10 us.
        assert_eq!(read(Reading::ThroughputGbps, &trial), Some(100.0));
        assert_eq!(read(Reading::LatencyMeanUs, &trial), Some(2.0));
        // Another that began later and has not ended when the trial does, and one that never ran.
        trial.summary.engine.simulated_ns = 60_000.0;
        trial.summary.jobs.push(job(15, None, &[(500_000, 300, 6)]));
        trial.summary.jobs.push(job(0, None, &[]));
        assert_eq!(read(Reading::ThroughputGbps, &trial), Some(100.0));
        // 100 frames of 2 us and 300 of 6 us.
        assert_eq!(read(Reading::LatencyMeanUs, &trial), Some(5.0));
    }

    #[test]
    fn power_is_that_of_the_summary() {
        let mut trial = Trial::default();
        assert_eq!(read(Reading::StaticWPerGbps, &trial), None);
        trial.summary.power = Some(PowerRow {
            static_per_gbps: Some(0.5),
            dynamic_per_gbps: Some(0.25),
            picojoules_per_bit: Some(750.0),
            ..PowerRow::default()
        });
        let of = |reading| read(reading, &trial);
        assert_eq!(of(Reading::StaticWPerGbps), Some(0.5));
        assert_eq!(of(Reading::DynamicWPerGbps), Some(0.25));
        assert_eq!(of(Reading::PjPerBit), Some(750.0));
    }
}
