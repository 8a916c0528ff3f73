//! Identifies a job's iteration in rows.

use tenter_workload::JobId;

/// A job's iteration, by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IterationId {
    pub(super) job: JobId,
    /// Number among the job's iterations, warm-up included.
    pub(super) iteration: u32,
}

impl IterationId {
    /// Returns the job's number as it appears in rows.
    pub(super) fn job_number(self) -> u32 {
        u32::from(self.job.number())
    }
}
