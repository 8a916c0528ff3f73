//! The numbers of jobs and ranks, each a type of its own.

use tenter_units::id;

id! {
    /// A rank of a job, by its number in the job.
    pub struct RankId(u32);
}

id! {
    /// A job, by its number among all of a trial.
    pub struct JobId(u16);
}
