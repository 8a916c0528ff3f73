//! Completion times by size, measured and simulated.

use tenter_language::units::Time;
use tenter_results::{Summary, median_time};

/// Largest deviation with which a simulation matches, in percent.
pub const TOLERANCE_PERCENT: f64 = 10.0;

/// A collective's completion times: medians over iterations that count.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeRow {
    /// Name of the job that ran it.
    pub job: String,
    /// Index in the job's list of collectives.
    pub index: u32,
    /// Operation, with the algorithm in parentheses.
    pub collective: String,
    /// Size of the collective in bytes.
    pub size_bytes: u64,
    /// Measured time from start to last arrival.
    pub measured: Time,
    /// Simulated time with the scenario's constants.
    pub stated: Time,
    /// Simulated time with fitted constants, if there are any.
    pub fitted: Option<Time>,
    /// True if the constants were fitted to this collective, which therefore does not judge them.
    pub is_fitted_to: bool,
}

impl SizeRow {
    /// Returns the deviation with the scenario's constants, in percent relative to the measurement.
    pub fn stated_percent(&self) -> f64 {
        percent(self.stated, self.measured)
    }

    /// Returns the deviation with fitted constants, if there are any.
    pub fn fitted_percent(&self) -> Option<f64> {
        self.fitted.map(|fitted| percent(fitted, self.measured))
    }

    /// Returns true if the simulation with the best available constants matches the measurement.
    pub fn matches(&self) -> bool {
        let best = self.fitted_percent().unwrap_or(self.stated_percent());
        best.abs() <= TOLERANCE_PERCENT
    }
}

fn percent(simulated: Time, measured: Time) -> f64 {
    100.0 * (simulated.as_ns() / measured.as_ns().max(1.0) - 1.0)
}

/// A collective's median completion time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Median {
    pub(super) job: String,
    pub(super) index: u32,
    pub(super) collective: String,
    pub(super) size_bytes: u64,
    pub(super) time: Time,
    /// True if frames were sent again in any iteration.
    pub(super) is_lossy: bool,
}

/// Returns the medians for a trial's completed collectives; warm-up iterations do not count.
pub(super) fn medians(summary: &Summary) -> Vec<Median> {
    let mut found: Vec<(Median, Vec<Time>)> = Vec::new();
    for job in &summary.jobs {
        let name = &job.job.name;
        for row in job.collectives.iter().filter(|row| !row.warm_up) {
            let Some(time) = row.completion_time else {
                continue;
            };
            let mut known = found.iter_mut();
            let same = known.find(|(other, _)| other.job == *name && other.index == row.index);
            let is_lossy = row.retransmitted_frames > 0;
            if let Some((of, times)) = same {
                of.is_lossy |= is_lossy;
                times.push(time);
                continue;
            }
            let median = Median {
                job: name.clone(),
                index: row.index,
                collective: format!("{} ({})", row.collective, row.algorithm),
                size_bytes: row.size_bytes,
                time: Time::ZERO,
                is_lossy,
            };
            found.push((median, vec![time]));
        }
    }
    let with_median = |(of, times): (Median, Vec<Time>)| {
        let time = median_time(times)?;
        Some(Median { time, ..of })
    };
    found.into_iter().filter_map(with_median).collect()
}

/// Returns the times that another trial has for the collectives `these`; `None` where it lacks one.
pub(super) fn times_of(these: &[Median], summary: &Summary) -> Vec<Option<Time>> {
    let others = medians(summary);
    let find = |of: &Median| {
        let mut others = others.iter();
        let same = others.find(|other| other.job == of.job && other.index == of.index);
        same.map(|other| other.time)
    };
    these.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use tenter_results::{CollectiveRow, JobRow, JobSummary};

    use super::*;

    #[test]
    fn the_median_of_what_counts_is_compared() {
        let row = |iteration: u32, us: u64| CollectiveRow {
            iteration,
            warm_up: iteration == 0,
            size_bytes: 1_000,
            completion_time: Some(Time::from_us(us)),
            ..CollectiveRow::default()
        };
        let summary = Summary {
            jobs: vec![JobSummary {
                job: JobRow {
                    name: "train".to_owned(),
                    ..JobRow::default()
                },
                collectives: vec![row(0, 900), row(1, 110), row(2, 100), row(3, 130)],
            }],
            ..Summary::default()
        };
        let medians = medians(&summary);
        assert_eq!(medians.len(), 1);
        assert_eq!(medians[0].time, Time::from_us(110));
        assert_eq!(times_of(&medians, &summary), [Some(Time::from_us(110))]);
        assert!((percent(Time::from_us(99), Time::from_us(110)) + 10.0).abs() < 1e-9);
    }
}
