//! Reduce-scatter, ring: sums travel once round the ring and end where they belong.
//!
//! Origin: NCCL's ring; reduce-scatter, ring, in "AI Fabric Test Methodology" (Keysight); the first
//! half of "Bandwidth optimal all-reduce algorithms for clusters of workstations" (Patarasuk, Yuan,
//! 2009). It has no parameters; the ring follows the order of the ranks.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::chunks::Chunks;
use super::member::{CollectiveMember, Factor};
use super::ring::Ring;
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// Reduce-scatter round a ring in the order of the ranks.
    pub struct ReduceScatterRing;
}

impl Collective for ReduceScatterRing {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "reduce-scatter",
        algorithm: "ring",
        summary: "the sum of each block travels once round a ring to its rank",
        model_page: "docs/models/collective-reduce-scatter-ring.md",
        // n(n−1) transfers must not exceed 2³²−1 ids.
        ranks_max: 65_536,
        // Each rank's own contribution to its block stays where it is.
        busbw: Factor::AllButOwn,
    };

    /// In step s rank r sends block (r − 1 − s) mod n to rank r + 1. The last block to arrive at a
    /// rank (s = n−2, from rank r−1) is therefore block r.
    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let blocks = Chunks::new(size_bytes, ranks);
        Ok(Box::new(Ring::new(blocks, ranks - 1, ranks - 1, ranks - 1)))
    }

    /// Takes (n−1)·(c + L): each step waits for the arrival from the previous one.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        switch.steps(switch.others())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ranks_by_hand() {
        let ring = ReduceScatterRing.schedule(3, 9).unwrap();
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
