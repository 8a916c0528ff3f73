//! Broadcast, ring: the message goes from each rank to the next, chunk by chunk.
//!
//! Origin: the ring broadcast of NCCL, a pipelined chain; size and bus bandwidth as in
//! NVIDIA/nccl-tests. Parameters: the root, 0 by default, and the bytes of a chunk, 512 KiB by
//! default, which is NCCL's buffer of 4 MiB in 8 slots.

use super::tree::Shape;
use super::tree_flow::{Flow, TreeFlow};
use super::{CHUNK_BYTES, CollectiveKind, CollectiveMember, Factor};
use crate::WorkloadError;

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "broadcast",
    algorithm: "ring",
    summary: "a message goes chunk by chunk from rank to rank",
    model_page: "docs/models/collective-broadcast-ring.md",
    ranks_max: u32::MAX,
    // Every byte leaves the root once.
    busbw: Factor::One,
    default: CollectiveKind::BroadcastRing {
        root: 0,
        chunk_bytes: CHUNK_BYTES,
    },
};

/// The ranks from the root on, one behind the other.
pub(super) fn schedule(
    ranks: u32,
    size_bytes: u64,
    root: u32,
    chunk_bytes: u64,
) -> Result<TreeFlow, WorkloadError> {
    let kind = (Shape::Chain, Flow::Down);
    TreeFlow::rooted(&MEMBER, kind, (ranks, root), (size_bytes, chunk_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;

    #[test]
    fn every_rank_passes_it_on_but_the_last() {
        // 7 bytes in chunks of 4, from rank 1: 1 → 2 → 0.
        let ring = schedule(3, 7, 1, 4).unwrap();
        let sent: Vec<_> = (0..ring.transfer_count())
            .map(|id| ring.transfer(id))
            .map(|t| (t.chunk, t.src, t.dst, t.bytes))
            .collect();
        let expected = [(0, 1, 2, 4), (0, 2, 0, 4), (1, 1, 2, 3), (1, 2, 0, 3)];
        assert_eq!(sent, expected);
    }
}
