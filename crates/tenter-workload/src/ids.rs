//! Typed numbers of jobs and ranks: one cannot be passed where the other is meant.

use tenter_units::id;

id! {
    /// Number of a rank within its job, from 0.
    pub struct RankId(u32);
}

id! {
    /// Number of a job within its trial, from 0, background jobs included.
    pub struct JobId(u16);
}
