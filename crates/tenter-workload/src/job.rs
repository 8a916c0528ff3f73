//! Jobs: who takes part, and which collectives they run one after the other.

use tenter_units::Time;

use crate::collective::CollectiveKind;
use crate::{Schedule, WorkloadError};

/// Whether the transfers between two ranks share their queue pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueuePairScope {
    /// The QPs of a rank pair carry every transfer of that pair, in order; an algorithm with
    /// several channels has QPs of its own for each.
    RankPair,
    /// Each data chunk on each hop has QPs of its own, as collective testers emulate it.
    Chunk,
}

impl QueuePairScope {
    /// What tells the queue pairs of one (source, destination) from each other; the hop is implied
    /// by that pair.
    pub const fn lane(self, channel: u32, chunk: u32) -> u32 {
        match self {
            QueuePairScope::RankPair => channel,
            QueuePairScope::Chunk => chunk,
        }
    }
}

/// One collective operation of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveRun {
    /// Which collective, by which algorithm.
    pub kind: CollectiveKind,
    /// The size as nccl-tests counts it, in bytes.
    pub size_bytes: u64,
}

/// One job: ranks bound to hosts, and a sequence of collectives with a barrier between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its name in every table.
    pub name: String,
    /// Rank r runs on host `hosts[r]`.
    pub hosts: Vec<u32>,
    /// What it runs, in order; the whole list is repeated `warm_up + iterations` times.
    pub sequence: Vec<CollectiveRun>,
    /// Repetitions that count.
    pub iterations: u32,
    /// Repetitions before them that are run but not judged.
    pub warm_up: u32,
    /// When its first collective starts.
    pub start: Time,
    /// From the end of one collective (its last arrival at any rank) to the start of the next.
    pub gap: Time,
    /// QPs per rank pair (or per chunk and hop); a transfer is split evenly over them.
    pub queue_pairs: u16,
    /// What a QP is shared by.
    pub queue_pair_scope: QueuePairScope,
}

impl Job {
    /// How many ranks take part.
    pub fn ranks(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// One schedule per entry of the sequence, in its order.
    ///
    /// # Errors
    /// Those of [`CollectiveKind::schedule`], of the first entry that has one.
    pub fn schedules(&self) -> Result<Vec<Box<dyn Schedule>>, WorkloadError> {
        self.sequence
            .iter()
            .map(|run| run.kind.schedule(self.ranks(), run.size_bytes))
            .collect()
    }
}
