//! Interference between jobs: the further runs that measure it, and the resulting rows.

use crate::plan::Plan;
use tenter_language::units::Time;
use tenter_results::{InterferenceRow, JobRow};

/// The extent to which interference is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interference {
    /// No further runs are made.
    #[default]
    None,
    /// Each measured job also runs alone.
    Alone,
    /// Each measured job also runs alone, and in a pair with each other job.
    Pairs,
}

/// Returns the jobs of each further run that is needed: first each measured job alone, then pairs
/// with at least one measured job.
pub fn interference_runs(plan: &Plan, asked: Interference) -> Vec<Vec<usize>> {
    let judged = |job: usize| !plan.jobs[job].background;
    let all = 0..plan.jobs.len();
    if asked == Interference::None {
        return Vec::new();
    }
    let mut runs: Vec<Vec<usize>> = all
        .clone()
        .filter(|&job| judged(job))
        .map(|job| vec![job])
        .collect();
    // A pair out of two jobs is the run with all jobs.
    if asked == Interference::Pairs && plan.jobs.len() > 2 {
        for first in all.clone() {
            let seconds = all.clone().skip(first + 1);
            let pairs = seconds.filter(|&second| judged(first) || judged(second));
            runs.extend(pairs.map(|second| vec![first, second]));
        }
    }
    runs
}

/// Makes the rows from the run with all jobs and the further runs, each given by its jobs and the
/// rows of all jobs.
pub fn interference_rows(
    together: &[JobRow],
    runs: &[(Vec<usize>, Vec<JobRow>)],
) -> Vec<InterferenceRow> {
    let jct = |jobs: &[usize], job: usize| -> Option<Time> {
        let run = runs.iter().find(|(own, _)| own == jobs);
        run.and_then(|(_, rows)| rows[job].jct)
    };
    let has_pairs = runs.iter().any(|(jobs, _)| jobs.len() == 2);
    let mut rows = Vec::new();
    for (index, job) in together
        .iter()
        .enumerate()
        .filter(|(_, job)| !job.background)
    {
        let blank = InterferenceRow {
            job: job.job,
            job_name: job.name.clone(),
            ..InterferenceRow::default()
        };
        let alone = jct(&[index], index);
        rows.push(blank.clone().timed(alone, job.jct));
        let others = together.iter().enumerate();
        for (other, beside) in others.filter(|(other, _)| has_pairs && *other != index) {
            let pair = InterferenceRow {
                beside: Some(beside.job),
                beside_name: Some(beside.name.clone()),
                ..blank.clone()
            };
            // Pairs are stored with the smaller index first.
            let together = jct(&[index.min(other), index.max(other)], index);
            rows.push(pair.timed(alone, together));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_put_beside_each_other() {
        let row = |job, us: u64| JobRow {
            job,
            name: format!("job{job}"),
            background: us == 0,
            jct: (us > 0).then(|| Time::from_us(us)),
            ..JobRow::default()
        };
        let together = [row(0, 30), row(1, 20), row(2, 0)];
        let runs = [
            (vec![0], vec![row(0, 10), row(1, 0), row(2, 0)]),
            (vec![1], vec![row(0, 0), row(1, 8), row(2, 0)]),
            (vec![0, 1], vec![row(0, 15), row(1, 12), row(2, 0)]),
            (vec![0, 2], vec![row(0, 25), row(1, 0), row(2, 0)]),
            (vec![1, 2], vec![row(0, 0), row(1, 10), row(2, 0)]),
        ];
        let rows = interference_rows(&together, &runs);
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.job, row.beside, row.slow_down.unwrap()))
            .collect();
        assert_eq!(
            told,
            [
                (0, None, 3.0),
                (0, Some(1), 1.5),
                (0, Some(2), 2.5),
                (1, None, 2.5),
                (1, Some(0), 1.5),
                (1, Some(2), 1.25)
            ]
        );
        assert_eq!(interference_rows(&together, &runs[..2]).len(), 2);
    }
}
