//! A trial's outcome: summary, rows and digest.

use tenter_results::{CollectiveRow, Counts, Digest, JobRow, Summary};

/// A trial's outcome, besides the rows that its sink has received.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The trial at a glance. The caller fills in wall times and peak memory.
    pub summary: Summary,
    /// One row per job, in their order.
    pub jobs: Vec<JobRow>,
    /// One row per collective and iteration.
    pub collectives: Vec<CollectiveRow>,
    /// Counters in ports, queues and switches.
    pub counts: Counts,
    /// Digest over all completion times and counters.
    pub digest: Digest,
}
