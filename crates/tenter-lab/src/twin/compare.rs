//! Completion times by size, measured and simulated.

use tenter_record::{Summary, median_time};
use tenter_units::Time;

/// A simulation that is within this of the measurement matches it.
pub const TOLERANCE_PERCENT: f64 = 10.0;

/// A collective of a job: its completion times, the median of the iterations that count.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeRow {
    /// The job.
    pub job: String,
    /// Index of the collective in the job's sequence.
    pub index: u32,
    /// The operation and its algorithm.
    pub collective: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// What was measured.
    pub measured: Time,
    /// What was simulated with the constants that the scenario states.
    pub stated: Time,
    /// What was simulated with fitted ones, where there are any.
    pub fitted: Option<Time>,
    /// Whether the constants were fitted to this size, among others.
    pub is_fitted_to: bool,
}

impl SizeRow {
    /// The deviation of the simulation without fitted constants, in percent of the measurement.
    pub fn stated_percent(&self) -> f64 {
        percent(self.stated, self.measured)
    }

    /// The same with them.
    pub fn fitted_percent(&self) -> Option<f64> {
        self.fitted.map(|fitted| percent(fitted, self.measured))
    }

    /// Whether the best simulation there is matches the measurement.
    pub fn matches(&self) -> bool {
        let best = self.fitted_percent().unwrap_or(self.stated_percent());
        best.abs() <= TOLERANCE_PERCENT
    }
}

fn percent(simulated: Time, measured: Time) -> f64 {
    100.0 * (simulated.as_ns() / measured.as_ns().max(1.0) - 1.0)
}

/// A collective of a job, and its median time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Median {
    pub(super) job: String,
    pub(super) index: u32,
    pub(super) collective: String,
    pub(super) size_bytes: u64,
    pub(super) time: Time,
    /// Whether packets were sent again in it.
    pub(super) is_lossy: bool,
}

/// The collectives of a trial that were completed.
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

/// The times of the same collectives in another trial; `None` where one is missing there.
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
    use tenter_record::{CollectiveRow, JobRow, JobSummary};

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
