//! The outcome of a trial.

use tenter_record::{CollectiveRow, Counts, Digest, JobRow, Summary};

/// The outcome of a trial, besides the rows that its sink has received.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The trial at a glance. The caller fills in wall times and peak memory.
    pub summary: Summary,
    /// One row per job.
    pub jobs: Vec<JobRow>,
    /// One row per collective and iteration.
    pub collectives: Vec<CollectiveRow>,
    /// Counters of ports, queues and switches.
    pub counts: Counts,
    /// Digest of all completion times and counters.
    pub digest: Digest,
}
