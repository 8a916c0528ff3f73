//! Gather, parallel: all ranks send their share to the root at once (N:1).
//!
//! Origin: gather, parallel, of "AI Fabric Test Methodology" (Keysight) and the grouped sends and
//! receives of NVIDIA/nccl-tests `gather.cu`; sizes and bus bandwidth as there. Parameter: the
//! root, 0 by default.

use super::star::{Direction, Star};
use super::{CollectiveKind, CollectiveMember, Factor};
use crate::WorkloadError;

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "gather",
    algorithm: "parallel",
    summary: "all ranks send their share to one root at once",
    model_page: "docs/models/collective-gather-parallel.md",
    ranks_max: u32::MAX,
    // The root has its own share already.
    busbw: Factor::AllButOwn,
    default: CollectiveKind::GatherParallel { root: 0 },
};

pub(super) fn schedule(ranks: u32, size_bytes: u64, root: u32) -> Result<Star, WorkloadError> {
    Star::of_blocks(&MEMBER, (ranks, root), size_bytes, Direction::ToRoot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;

    #[test]
    fn shares_go_to_the_root() {
        // S = 7 over 3 ranks: ⌊i·7/3⌋ = 0, 2, 4, 7.
        let gather = schedule(3, 7, 0).unwrap();
        let sent: Vec<_> = (0..2)
            .map(|id| gather.transfer(id))
            .map(|transfer| (transfer.src, transfer.dst, transfer.bytes))
            .collect();
        assert_eq!(sent, [(1, 0, 2), (2, 0, 3)]);
    }
}
