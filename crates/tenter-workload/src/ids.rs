//! Typed numbers for jobs and ranks: one cannot be passed where the other is meant.

use tenter_language::units::id;

id! {
    /// A rank's number within its job, from 0.
    pub struct RankId(u32);
}

id! {
    /// A job's number within its trial, from 0, background jobs included.
    pub struct JobId(u16);
}
