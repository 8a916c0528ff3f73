//! Headlines: results of a trial at a glance.

use crate::report::binary_size;
use tenter_results::{CollectiveRow, JobSummary, Summary};

use super::trial::Headline;
use crate::Plan;

/// Most collectives whose percentages a headline keeps.
const IDEALS: usize = 64;

impl Headline {
    /// Makes a summary's headline; a summary does not have the fabric.
    pub(super) fn of(summary: &Summary) -> Headline {
        let longest = summary.longest_job();
        let done = |(_, row): &(&JobSummary, &CollectiveRow)| row.completion_time.is_some();
        let measured = || summary.measured_collectives().filter(done);
        // Flows have no ideal time: the largest collective then stands for the trial.
        let shown = summary
            .lowest_ideal()
            .or_else(|| measured().max_by_key(|(_, row)| row.size_bytes));
        let row = shown.map(|(_, row)| row);
        let is_one_job = summary.measured_jobs().count() == 1;
        let named = |(job, row): (&JobSummary, &CollectiveRow)| {
            let of = format!("{}, {}", row.collective, binary_size(row.size_bytes));
            if is_one_job {
                of
            } else {
                format!("{}: {of}", job.job.name)
            }
        };
        Headline {
            jobs: Some(summary.jobs.len() as u64),
            jct_ns: longest.and_then(|job| Some(job.job.jct?.as_ns())),
            jct_job: longest.map(|job| job.job.name.clone()),
            collective: shown.map(named),
            ideal_percent: row.and_then(|row| row.percent_of_ideal),
            algbw_gbytes_per_s: row.and_then(|row| row.algbw_gbytes_per_s),
            busbw_gbytes_per_s: row.and_then(|row| row.busbw_gbytes_per_s),
            ideals: measured()
                .map(|(_, row)| row.percent_of_ideal)
                // A list draws them as a small chart, which has no room for more.
                .take(IDEALS)
                .collect(),
            digest: Some(summary.engine.digest.clone()),
            seed: Some(summary.seed),
            wall_s: Some(summary.engine.wall_s),
            ..Headline::default()
        }
    }

    /// Adds a plan's fabric and job count.
    pub(super) fn on(mut self, plan: &Plan) -> Headline {
        self.fabric = plan.fabric_in_one_line();
        self.hosts = Some(plan.resolved().topology.hosts as u64);
        self.jobs = Some(plan.resolved().jobs.len() as u64);
        self.seed = Some(plan.seed());
        self
    }
}
