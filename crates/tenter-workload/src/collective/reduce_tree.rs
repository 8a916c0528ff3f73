//! Reduce, tree: sums go up a binary tree, chunk by chunk.
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
    collective: "reduce",
    algorithm: "tree",
    summary: "sums go chunk by chunk up a binary tree",
    model_page: "docs/models/collective-reduce-tree.md",
    ranks_max: u32::MAX,
    // Every byte enters the root once.
    busbw: Factor::One,
    default: CollectiveKind::ReduceTree {
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
    let kind = (Shape::Binary, Flow::Up);
    TreeFlow::rooted(&MEMBER, kind, (ranks, root), (size_bytes, chunk_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;

    #[test]
    fn a_rank_waits_for_both_below() {
        let tree = schedule(8, 1, 0, 4).unwrap();
        let waits: Vec<_> = (0..7)
            .map(|id| (tree.transfer(id).src, tree.dependencies(id)))
            .collect();
        let expected = [(1, 0), (2, 2), (3, 0), (4, 2), (5, 0), (6, 2), (7, 0)];
        assert_eq!(waits, expected);
    }
}
