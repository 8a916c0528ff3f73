//! All-gather, ring: each rank's block travels once round the ring.
//!
//! Origin: NCCL's ring; all-gather, ring, in "AI Fabric Test Methodology" (Keysight); the second
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
    /// All-gather round a ring in the order of the ranks.
    pub struct AllGatherRing;
}

impl Collective for AllGatherRing {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-gather",
        algorithm: "ring",
        summary: "the block of each rank travels once round a ring",
        model_page: "docs/models/collective-all-gather-ring.md",
        // n(n−1) transfers must not exceed 2³²−1 ids.
        ranks_max: 65_536,
        // Each rank already has its own block.
        busbw: Factor::AllButOwn,
    };

    /// In step s rank r sends block (r − s) mod n to rank r + 1, starting with its own block.
    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let blocks = Chunks::new(size_bytes, ranks);
        Ok(Box::new(Ring::new(blocks, 0, ranks - 1, 0)))
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
        let ring = AllGatherRing.schedule(3, 9).unwrap();
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
