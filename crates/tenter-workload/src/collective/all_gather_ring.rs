//! All-gather, ring: each rank's block travels once round the ring.
//!
//! Origin: the ring of NCCL, all-gather, ring, of "AI Fabric Test Methodology" (Keysight), and the
//! second half of "Bandwidth optimal all-reduce algorithms for clusters of workstations"
//! (Patarasuk, Yuan, 2009). It has no parameters; the ring is the order of the ranks.

use super::chunks::Chunks;
use super::ring::Ring;
use super::{CollectiveKind, CollectiveMember, Factor};

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "all-gather",
    algorithm: "ring",
    summary: "the block of each rank travels once round a ring",
    model_page: "docs/models/collective-all-gather-ring.md",
    // n(n−1) ≤ 2³²−1.
    ranks_max: 65_536,
    // Each rank has its own block already.
    busbw: Factor::AllButOwn,
    default: CollectiveKind::AllGatherRing,
};

/// In step s rank r sends block (r − s) mod n to rank r + 1; it starts with its own.
pub(super) fn schedule(ranks: u32, size_bytes: u64) -> Ring {
    Ring::new(Chunks::new(size_bytes, ranks), 0, ranks - 1, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;

    #[test]
    fn three_ranks_by_hand() {
        let ring = schedule(3, 9);
        let sent: Vec<_> = (0..ring.transfer_count())
            .map(|id| ring.transfer(id))
            .map(|t| (t.step, t.src, t.dst, t.chunk, t.reduce))
            .collect();
        let expected = [
            (0, 0, 1, 0, false),
            (0, 1, 2, 1, false),
            (0, 2, 0, 2, false),
            // Each passes on what it got.
            (1, 0, 1, 2, false),
            (1, 1, 2, 0, false),
            (1, 2, 0, 1, false),
        ];
        assert_eq!(sent, expected);
    }
}
