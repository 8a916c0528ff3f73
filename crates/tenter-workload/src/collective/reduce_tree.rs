//! Reduce, tree: sums go up a binary tree, chunk by chunk.
//!
//! Origin: the pipelined binary tree in "Two-tree algorithms for full bandwidth broadcast,
//! reduction and scan" (Sanders, Speck, Träff, 2009); size and bus bandwidth as in
//! NVIDIA/nccl-tests. Parameters: the root, by default 0, and the chunk size, by default 512 KiB,
//! one slot of NCCL's 4 MiB buffer with 8 slots.

use tenter_language::config::component;
use tenter_language::units::{Bytes, Time};

use super::algorithm::Collective;
use super::limits::{CHUNKS, RANKS};
use super::member::{CollectiveMember, Factor};
use super::tree::Shape;
use super::tree_flow::{Flow, TreeFlow};
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// Sums go chunk by chunk up a binary tree.
    pub struct ReduceTree as "`jobs[].collectives[]` with `collective: reduce` and `algorithm: tree`" {
        /// The rank that all others send to.
        root: u32 = "0", in RANKS;
        /// The buffer is passed on in chunks of this size.
        chunk_bytes as "chunk_size": u64 as Bytes = "512KiB", in CHUNKS, from "NCCL's default buffer of 4 MiB in 8 slots";
    }
}

impl Collective for ReduceTree {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "reduce",
        algorithm: "tree",
        summary: "sums go chunk by chunk up a binary tree",
        model_page: "docs/models/collective-reduce-tree.md",
        ranks_max: u32::MAX,
        // Every byte enters the root once.
        busbw: Factor::One,
    };

    /// Builds a binary tree with the ranks in ascending order from the root on.
    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let root = self.root;
        let flow = TreeFlow::rooted(
            &Self::MEMBER,
            Shape::Binary,
            Flow::Up,
            ranks,
            root,
            size_bytes,
            self.chunk_bytes,
        )?;
        Ok(Box::new(flow))
    }

    /// Takes at least (h−1)·(c(x) + L) + f·c(S) + L: as the ring, but a port receives everything f
    /// times.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        switch.along_a_tree(self.chunk_bytes)
    }

    fn chunk_bytes(&self) -> Option<u64> {
        Some(self.chunk_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_waits_for_both_below() {
        let tree = ReduceTree {
            root: 0,
            chunk_bytes: 4,
        };
        let tree = tree.schedule(8, 1).unwrap();
        let waits: Vec<_> = (0..7)
            .map(|id| (tree.transfer(id).src, tree.dependencies(id)))
            .collect();
        let expected = [(1, 0), (2, 2), (3, 0), (4, 2), (5, 0), (6, 2), (7, 0)];
        assert_eq!(waits, expected);
    }
}
