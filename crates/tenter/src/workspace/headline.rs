//! The results of a trial at a glance.

use tenter_record::{CollectiveRow, Summary};
use tenter_report::binary_size;

use super::trial::Headline;
use crate::Plan;

/// The most percentages of collectives.
const IDEALS: usize = 64;

impl Headline {
    /// Of a summary; the fabric is not in it.
    pub(super) fn of(summary: &Summary) -> Headline {
        let jct = summary.jobs.iter().filter_map(|job| job.job.jct);
        let measured = || {
            let rows = summary.jobs.iter().flat_map(|job| &job.collectives);
            rows.filter(|row| !row.warm_up && row.completion_time.is_some())
        };
        let largest = measured().max_by_key(|row| row.size_bytes);
        let shown =
            |row: &CollectiveRow| format!("{}, {}", row.collective, binary_size(row.size_bytes));
        Headline {
            jobs: Some(summary.jobs.len() as u64),
            jct_ns: jct.max().map(tenter_units::Time::as_ns),
            collective: largest.map(shown),
            ideal_percent: largest.and_then(|row| row.percent_of_ideal),
            algbw_gbytes_per_s: largest.and_then(|row| row.algbw_gbytes_per_s),
            busbw_gbytes_per_s: largest.and_then(|row| row.busbw_gbytes_per_s),
            ideals: measured()
                .map(|row| row.percent_of_ideal)
                .take(IDEALS)
                .collect(),
            digest: Some(summary.engine.digest.clone()),
            seed: Some(summary.seed),
            wall_s: Some(summary.engine.wall_s),
            ..Headline::default()
        }
    }

    /// With the fabric of a plan.
    pub(super) fn on(mut self, plan: &Plan) -> Headline {
        self.fabric = plan.fabric_in_one_line();
        self.hosts = Some(plan.resolved().topology.hosts as u64);
        self.jobs = Some(plan.resolved().jobs.len() as u64);
        self.seed = Some(plan.seed());
        self
    }
}
