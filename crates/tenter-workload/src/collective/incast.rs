//! Incast: all other ranks send to the root at once.
//!
//! Origin: gather, parallel (N:1), of "AI Fabric Test Methodology" (Keysight); sizes and bus
//! bandwidth as the gather of NVIDIA/nccl-tests. Parameter: the root, 0 by default.

use super::star::{Direction, Star};
use super::{CollectiveKind, CollectiveMember, Factor};
use crate::WorkloadError;

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "incast",
    algorithm: "parallel",
    summary: "all other ranks send a block to one root at once",
    model_page: "docs/models/collective-incast.md",
    ranks_max: u32::MAX,
    // The root has its own block already.
    busbw: Factor::AllButOwn,
    default: CollectiveKind::Incast { root: 0 },
};

pub(super) fn schedule(ranks: u32, size_bytes: u64, root: u32) -> Result<Star, WorkloadError> {
    Star::of_blocks(&MEMBER, (ranks, root), size_bytes, Direction::ToRoot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;

    #[test]
    fn everyone_but_the_root_sends_its_block() {
        // S = 10 over 4 ranks: blocks of 2, 3, 2 and 3 bytes; rank 1's stays where it is.
        let incast = schedule(4, 10, 1).unwrap();
        let sent: Vec<_> = (0..3)
            .map(|id| incast.transfer(id))
            .map(|transfer| (transfer.src, transfer.dst, transfer.bytes))
            .collect();
        assert_eq!(sent, [(0, 1, 2), (2, 1, 2), (3, 1, 3)]);
    }

    #[test]
    fn the_root_must_be_a_rank() {
        let refused = schedule(4, 10, 4).err().unwrap();
        assert_eq!(
            refused.to_string(),
            "incast (parallel): root 4 is not one of the 4 ranks; give a root from 0 to 3"
        );
    }
}
