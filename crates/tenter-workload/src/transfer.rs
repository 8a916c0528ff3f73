//! Transfers: what one rank sends another, and over which queue pairs.

use tenter_config::choice;

use crate::ids::RankId;

/// One send from a rank to another.
///
/// `src` and `dst` are ranks of the job, not hosts: plain numbers, with which algorithms compute.
/// `bytes` may be 0 when the size is smaller than
/// the number of chunks: such a transfer carries nothing but still has to arrive, because others
/// may wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The rank that sends.
    pub src: u32,
    /// The rank that receives; never `src`.
    pub dst: u32,
    /// Payload in bytes.
    pub bytes: u64,
    /// The data chunk it carries, numbered as the algorithm's page says.
    pub chunk: u32,
    /// The channel it belongs to: 0, unless the algorithm runs several rings or trees side by side
    /// whose transfers overtake each other between two ranks.
    pub channel: u32,
    /// The algorithm's step it belongs to, from 0.
    pub step: u32,
    /// Whether the receiver adds the data to its own instead of storing it.
    pub reduce: bool,
}

impl Transfer {
    /// The rank that sends.
    #[inline]
    pub const fn sender(&self) -> RankId {
        RankId::new(self.src)
    }

    /// The rank that receives.
    #[inline]
    pub const fn receiver(&self) -> RankId {
        RankId::new(self.dst)
    }

    /// Where it goes.
    pub const fn way(&self, scope: QueuePairScope) -> Destination {
        Destination {
            dst: self.dst,
            lane: scope.lane(self.channel, self.chunk),
        }
    }
}

/// A place a rank sends to: another rank, and the lane on the way there.
///
/// The lane is what keeps apart transfers of one rank pair that do not share queue pairs; see
/// [`QueuePairScope::lane`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Destination {
    /// The rank that receives.
    pub dst: u32,
    /// The channel in the scope of a rank pair, the chunk in the scope of a chunk.
    pub lane: u32,
}

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

choice!(QueuePairScope {
    "rank-pair" => RankPair,
    "chunk" => Chunk,
});
