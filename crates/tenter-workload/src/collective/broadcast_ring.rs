//! Broadcast, ring: the message goes from each rank to the next, chunk by chunk.
//!
//! Origin: NCCL's ring broadcast, a pipelined chain; size and bus bandwidth as in
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
    /// A message goes chunk by chunk from rank to rank, round a ring that the root opens.
    pub struct BroadcastRing as "`jobs[].collectives[]` with `collective: broadcast` and `algorithm: ring`" {
        /// The rank that all others receive from.
        root: u32 = "0", in RANKS;
        /// The buffer is passed on in chunks of this size.
        chunk_bytes as "chunk_size": u64 as Bytes = "512KiB", in CHUNKS, from "NCCL's default buffer of 4 MiB in 8 slots";
    }
}

impl Collective for BroadcastRing {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "broadcast",
        algorithm: "ring",
        summary: "a message goes chunk by chunk from rank to rank",
        model_page: "docs/models/collective-broadcast-ring.md",
        ranks_max: u32::MAX,
        // Every byte leaves the root once.
        busbw: Factor::One,
    };

    /// Chains the ranks in ascending order, starting with the root.
    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let root = self.root;
        let flow = TreeFlow::rooted(
            &Self::MEMBER,
            Shape::Chain,
            Flow::Down,
            ranks,
            root,
            size_bytes,
            self.chunk_bytes,
        )?;
        Ok(Box::new(flow))
    }

    /// Takes (n−2)·(c(x) + L) + c(S) + L: the first chunk reaches the last sender, which then sends
    /// all chunks.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        switch.pipeline(self.chunk_bytes, switch.ranks.saturating_sub(2), 1)
    }

    fn chunk_bytes(&self) -> Option<u64> {
        Some(self.chunk_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_passes_it_on_but_the_last() {
        // 7 bytes in chunks of 4, from rank 1: 1 → 2 → 0.
        let ring = BroadcastRing {
            root: 1,
            chunk_bytes: 4,
        };
        let ring = ring.schedule(3, 7).unwrap();
        let sent: Vec<_> = (0..ring.transfer_count())
            .map(|id| ring.transfer(id))
            .map(|t| (t.chunk, t.src, t.dst, t.bytes))
            .collect();
        let expected = [(0, 1, 2, 4), (0, 2, 0, 4), (1, 1, 2, 3), (1, 2, 0, 3)];
        assert_eq!(sent, expected);
    }
}
