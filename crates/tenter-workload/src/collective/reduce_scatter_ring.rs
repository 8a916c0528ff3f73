//! Reduce-scatter, ring: sums travel once round the ring and end where they belong.
//!
//! Origin: the ring of NCCL, reduce-scatter, ring, of "AI Fabric Test Methodology" (Keysight), and
//! the first half of "Bandwidth optimal all-reduce algorithms for clusters of workstations"
//! (Patarasuk, Yuan, 2009). It has no parameters; the ring is the order of the ranks.

use super::chunks::Chunks;
use super::ring::Ring;
use super::{CollectiveKind, CollectiveMember, Factor};

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "reduce-scatter",
    algorithm: "ring",
    summary: "the sum of each block travels once round a ring to its rank",
    model_page: "docs/models/collective-reduce-scatter-ring.md",
    // n(n−1) ≤ 2³²−1.
    ranks_max: 65_536,
    // Each rank's own contribution to its block stays.
    busbw: Factor::AllButOwn,
    default: CollectiveKind::ReduceScatterRing,
};

/// In step s rank r sends block (r − 1 − s) mod n to rank r + 1, so that the last to arrive at a
/// rank (s = n−2, from rank r−1) is block r.
pub(super) fn schedule(ranks: u32, size_bytes: u64) -> Ring {
    Ring::new(
        Chunks::new(size_bytes, ranks),
        ranks - 1,
        ranks - 1,
        ranks - 1,
    )
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
            (0, 0, 1, 2, true),
            (0, 1, 2, 0, true),
            (0, 2, 0, 1, true),
            // The second addition completes block 1 at rank 1, 2 at 2 and 0 at 0.
            (1, 0, 1, 1, true),
            (1, 1, 2, 2, true),
            (1, 2, 0, 0, true),
        ];
        assert_eq!(sent, expected);
    }
}
