//! Jobs that start when another has ended.

use crate::network::JobPlan;

/// For each job those that wait for its end.
#[derive(Debug)]
pub(super) struct Followers(Vec<Vec<usize>>);

impl Followers {
    pub(super) fn new(jobs: &[JobPlan]) -> Followers {
        let mut followers = vec![Vec::new(); jobs.len()];
        for (index, plan) in jobs.iter().enumerate().filter(|(_, plan)| plan.has_turn(0)) {
            if let Some(before) = plan.job.after {
                followers[before as usize].push(index);
            }
        }
        Followers(followers)
    }

    /// Those of one job.
    pub(super) fn of(&self, job: usize) -> &[usize] {
        &self.0[job]
    }

    /// How long after the end of a job the first collective of any of them starts, in ps.
    pub(super) fn soonest(&self, job: usize, jobs: &[JobPlan]) -> Option<u64> {
        let followers = self.of(job).iter().map(|&index| &jobs[index]);
        followers.map(|plan| plan.first_start(0)).min()
    }
}
