//! Scatter, parallel: the root sends each rank its share, all at once.
//!
//! Origin: the grouped sends and receives of NVIDIA/nccl-tests `scatter.cu`; sizes and bus
//! bandwidth as there. Parameter: the root, 0 by default.

use super::star::{Direction, Star};
use super::{CollectiveKind, CollectiveMember, Factor};
use crate::WorkloadError;

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "scatter",
    algorithm: "parallel",
    summary: "one root sends every rank its share at once",
    model_page: "docs/models/collective-scatter-parallel.md",
    ranks_max: u32::MAX,
    // The root keeps its own share.
    busbw: Factor::AllButOwn,
    default: CollectiveKind::ScatterParallel { root: 0 },
};

pub(super) fn schedule(ranks: u32, size_bytes: u64, root: u32) -> Result<Star, WorkloadError> {
    Star::of_blocks(&MEMBER, (ranks, root), size_bytes, Direction::FromRoot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;

    #[test]
    fn shares_come_from_the_root() {
        // S = 7 over 3 ranks: ⌊i·7/3⌋ = 0, 2, 4, 7.
        let scatter = schedule(3, 7, 0).unwrap();
        let sent: Vec<_> = (0..2)
            .map(|id| scatter.transfer(id))
            .map(|transfer| (transfer.src, transfer.dst, transfer.bytes))
            .collect();
        assert_eq!(sent, [(0, 1, 2), (0, 2, 3)]);
    }
}
