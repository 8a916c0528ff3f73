//! What a trial leaves.

use tenter_record::{CollectiveRow, Counts, Digest, JobRow, Summary};

/// What a trial leaves beside the rows its sink was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Everything about the trial at a glance; its wall times and peak memory are the caller's to
    /// fill in.
    pub summary: Summary,
    /// One row per job.
    pub jobs: Vec<JobRow>,
    /// One row per collective and iteration.
    pub collectives: Vec<CollectiveRow>,
    /// What ports, queues and switches have counted.
    pub counts: Counts,
    /// Digest of all completion times and counters.
    pub digest: Digest,
}
