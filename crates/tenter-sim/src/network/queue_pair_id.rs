//! Identifies a queue pair by the ranks at its ends.

use tenter_workload::{FarEnd, JobId, RankId, Transfer};

/// A queue pair, in the direction that the packets in question take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueuePairId {
    pub(crate) job: JobId,
    /// The rank that sends the packets.
    pub(crate) from: RankId,
    /// The rank that they go to.
    pub(crate) to: RankId,
    /// Lane between the two ranks: a channel if queue pairs belong to rank pairs, otherwise a
    /// chunk.
    pub(crate) lane: u32,
    /// Number among the lane's queue pairs.
    pub(crate) queue_pair: u16,
}

impl QueuePairId {
    /// Returns a queue pair on which a transfer is sent.
    pub(crate) fn of(job: JobId, transfer: &Transfer, lane: u32, queue_pair: u16) -> QueuePairId {
        QueuePairId {
            job,
            from: transfer.sender(),
            to: transfer.receiver(),
            lane,
            queue_pair,
        }
    }

    /// Returns the queue pair from a rank to its far end.
    pub(crate) fn to<S>(job: JobId, from: RankId, far: &FarEnd<S>) -> QueuePairId {
        QueuePairId {
            job,
            from,
            to: far.rank,
            lane: far.lane,
            queue_pair: far.queue_pair,
        }
    }

    /// Returns the same queue pair in the other direction.
    #[must_use]
    pub(crate) fn back(self) -> QueuePairId {
        QueuePairId {
            from: self.to,
            to: self.from,
            ..self
        }
    }
}
