//! An iteration of a job, as rows name it.

use tenter_workload::JobId;

/// An iteration of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IterationId {
    pub(super) job: JobId,
    /// Its number among the iterations of the job, warm-up included.
    pub(super) iteration: u32,
}

impl IterationId {
    /// The number of the job in rows.
    pub(super) fn job_number(self) -> u32 {
        u32::from(self.job.number())
    }
}
