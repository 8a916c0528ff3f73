//! Broadcast, tree: the message goes down a binary tree, chunk by chunk.
//!
//! Origin: the pipelined binary tree of "Two-tree algorithms for full bandwidth broadcast,
//! reduction and scan" (Sanders, Speck, Träff, 2009); size and bus bandwidth as in
//! NVIDIA/nccl-tests. Parameters: the root, 0 by default, and the bytes of a chunk, 512 KiB by
//! default, which is NCCL's buffer of 4 MiB in 8 slots.

use super::tree::Shape;
use super::tree_flow::{Flow, TreeFlow};
use super::{CHUNK_BYTES, CollectiveKind, CollectiveMember, Factor};
use crate::WorkloadError;

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "broadcast",
    algorithm: "tree",
    summary: "a message goes chunk by chunk down a binary tree",
    model_page: "docs/models/collective-broadcast-tree.md",
    ranks_max: u32::MAX,
    // Every byte leaves the root once.
    busbw: Factor::One,
    default: CollectiveKind::BroadcastTree {
        root: 0,
        chunk_bytes: CHUNK_BYTES,
    },
};

/// A binary tree in the order of the ranks, from the root on.
pub(super) fn schedule(
    ranks: u32,
    size_bytes: u64,
    root: u32,
    chunk_bytes: u64,
) -> Result<TreeFlow, WorkloadError> {
    let kind = (Shape::Binary, Flow::Down);
    TreeFlow::rooted(&MEMBER, kind, (ranks, root), (size_bytes, chunk_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;

    #[test]
    fn the_root_sends_to_one_and_that_one_to_two() {
        let tree = schedule(8, 1, 0, 4).unwrap();
        let mut released = Vec::new();
        let mut posted = Vec::new();
        tree.initial(0, &mut posted);
        assert_eq!(posted.len(), 1);
        assert_eq!(tree.transfer(posted[0]).dst, 4);
        tree.released_by(posted[0], &mut released);
        let next: Vec<_> = released.iter().map(|&id| tree.transfer(id).dst).collect();
        assert_eq!(next, [2, 6]);
    }
}
