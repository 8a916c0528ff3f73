//! What is read of flow completion times.

use tenter_record::rank;
use tenter_units::Time;

use crate::trial::{Trial, is_meant};

/// Shares of flows are told to a millionth.
const WHOLE: u64 = 1_000_000;

/// The flow completion time, in ms, that so many millionths of the flows of all trials together do
/// not exceed, by nearest rank; of one job, or of all under test.
pub(crate) fn percentile_ms<'a>(
    trials: impl IntoIterator<Item = &'a Trial>,
    job: Option<&str>,
    millionths: u64,
) -> Option<f64> {
    let mut times: Vec<Time> = Vec::new();
    for trial in trials {
        let jobs = &trial.summary.jobs;
        let counts = |of: u32| {
            let row = jobs.get(of as usize).map(|job| &job.job);
            row.is_none_or(|row| is_meant(row, job))
        };
        let of_jobs = trial.completion_times.iter();
        times.extend(
            of_jobs
                .filter(|(job, _)| counts(*job))
                .map(|(_, time)| *time),
        );
    }
    let rank = rank(times.len() as u64, millionths, WHOLE) as usize;
    if times.len() < rank {
        return None;
    }
    let (_, time, _) = times.select_nth_unstable(rank - 1);
    Some(time.as_ns() / 1e6)
}
