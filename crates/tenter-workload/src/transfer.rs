//! Transfers: the payload that one rank sends another, and the queue pairs that carry it.

use tenter_language::config::choice;

use crate::ids::RankId;

/// One send from a rank to another in a collective, a pattern or a workload.
///
/// `src` and `dst` are plain numbers rather than [`RankId`]s, because algorithms compute with them.
/// They count ranks within the job, not hosts. `bytes` is 0 if the size has fewer bytes than
/// chunks: such a transfer has no payload, but it still has to arrive because other transfers may
/// wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Sending rank, by its number within the job.
    pub src: u32,
    /// Receiving rank, by its number within the job; never equal to `src`.
    pub dst: u32,
    /// Payload in bytes, without headers; may be 0.
    pub bytes: u64,
    /// Chunk number; each algorithm's model page says how it numbers chunks.
    pub chunk: u32,
    /// Ring or tree that this transfer belongs to. Stays 0 unless the algorithm runs several side
    /// by side, whose transfers may overtake each other between the same two ranks.
    pub channel: u32,
    /// Algorithm step, counted from 0; in step lists and graphs, the depth.
    pub step: u32,
    /// Set if the receiver adds the data to its own, clear if it stores the data.
    pub reduce: bool,
}

impl Transfer {
    /// Returns `src` as a typed rank.
    #[inline]
    pub const fn sender(&self) -> RankId {
        RankId::new(self.src)
    }

    /// Returns `dst` as a typed rank.
    #[inline]
    pub const fn receiver(&self) -> RankId {
        RankId::new(self.dst)
    }

    /// Returns the destination whose queue pairs carry this transfer under `scope`.
    pub const fn way(&self, scope: QueuePairScope) -> Destination {
        Destination {
            dst: self.dst,
            lane: scope.lane(self.channel, self.chunk),
        }
    }
}

/// A sender's destination: the receiving rank and the lane on the way there.
///
/// Each destination has its own queue pairs. The lane separates transfers between the same ranks
/// that must not share queue pairs; [`QueuePairScope::lane`] says which these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Destination {
    /// Receiving rank, by its number within the job.
    pub dst: u32,
    /// Channel number under [`QueuePairScope::RankPair`], chunk number under
    /// [`QueuePairScope::Chunk`].
    pub lane: u32,
}

/// Scope in which the transfers between two ranks share queue pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueuePairScope {
    /// The QPs of a rank pair carry all its transfers in order. An algorithm with several channels
    /// has separate QPs for each channel.
    RankPair,
    /// Each data chunk has its own QPs on each hop, as collective testers emulate it.
    Chunk,
}

impl QueuePairScope {
    /// Returns the lane of a transfer: the number that separates the queue pairs between one source
    /// and one destination. The hop needs no number, because source and destination imply it.
    pub(crate) const fn lane(self, channel: u32, chunk: u32) -> u32 {
        match self {
            QueuePairScope::RankPair => channel,
            QueuePairScope::Chunk => chunk,
        }
    }
}

choice!(QueuePairScope {
    "rank-pair" => RankPair,
    "chunk" => Chunk,
});
