//! Jobs that start when another job has ended.

use tenter_language::units::{ById, Instant, Time};
use tenter_workload::JobId;

use crate::network::JobPlan;

/// For each job the jobs that wait for its end.
#[derive(Debug)]
pub(super) struct Followers(ById<JobId, Vec<JobId>>);

impl Followers {
    pub(super) fn new(jobs: &ById<JobId, JobPlan>) -> Followers {
        let mut followers: ById<JobId, Vec<JobId>> = vec![Vec::new(); jobs.len()].into();
        for (index, plan) in jobs.numbered().filter(|(_, plan)| plan.has_turn(0)) {
            if let Some(before) = plan.job.after {
                followers[before].push(index);
            }
        }
        Followers(followers)
    }

    /// Returns the jobs that wait for `job`.
    pub(super) fn of(&self, job: JobId) -> &[JobId] {
        &self.0[job]
    }

    /// Returns the shortest time from the end of a job to the first collective of a job that waits
    /// for it.
    pub(super) fn soonest(&self, job: JobId, jobs: &ById<JobId, JobPlan>) -> Option<Time> {
        let followers = self.of(job).iter().map(|&index| &jobs[index]);
        followers
            .map(|plan| plan.first_start(Instant::START).since_start())
            .min()
    }
}
