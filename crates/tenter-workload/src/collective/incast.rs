//! Incast: all other ranks send to the root at once.
//!
//! Origin: gather, parallel (N:1), of "AI Fabric Test Methodology" (Keysight); sizes and bus
//! bandwidth as the gather of NVIDIA/nccl-tests. Parameter: the root, 0 by default.

use super::chunks::Chunks;
use super::{CollectiveKind, CollectiveMember};
use crate::{Destination, QueuePairScope, Schedule, Transfer, WorkloadError};

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "incast",
    algorithm: "parallel",
    summary: "all other ranks send a block to one root at once",
    model_page: "docs/models/collective-incast.md",
    ranks_max: u32::MAX,
    default: CollectiveKind::Incast { root: 0 },
};

/// (n−1)/n: the root has its own block already.
pub(super) fn busbw_factor(ranks: u32) -> f64 {
    f64::from(ranks - 1) / f64::from(ranks)
}

/// Transfer ids follow the senders in ascending order; the chunk is the sender's rank.
pub(super) struct Incast {
    root: u32,
    /// One block per rank, of the buffer at the root.
    blocks: Chunks,
}

impl Incast {
    pub(super) fn new(ranks: u32, size_bytes: u64, root: u32) -> Result<Incast, WorkloadError> {
        if root >= ranks {
            let collective = MEMBER.to_string();
            return Err(WorkloadError::RootOutOfRange {
                collective,
                root,
                ranks,
            });
        }
        Ok(Incast {
            root,
            blocks: Chunks::new(size_bytes, ranks),
        })
    }
}

impl Schedule for Incast {
    fn ranks(&self) -> u32 {
        self.blocks.count()
    }

    fn transfer_count(&self) -> u32 {
        self.ranks() - 1
    }

    fn transfer(&self, id: u32) -> Transfer {
        let src = id + u32::from(id >= self.root);
        let bytes = self.blocks.bytes(src);
        Transfer {
            src,
            dst: self.root,
            bytes,
            chunk: src,
            step: 0,
            reduce: false,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        if rank != self.root {
            out.push(rank - u32::from(rank > self.root));
        }
    }

    fn released_by(&self, _id: u32, _out: &mut Vec<u32>) {}

    fn dependencies(&self, _id: u32) -> u32 {
        0
    }

    fn nth(&self, src: u32, _: Destination, _: QueuePairScope, nth: u32) -> Option<u32> {
        (nth == 0).then(|| src - u32::from(src > self.root))
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        if rank != self.root {
            out.push(Destination {
                dst: self.root,
                lane: scope.lane(rank),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_but_the_root_sends_its_block() {
        // S = 10 over 4 ranks: blocks of 2, 3, 2 and 3 bytes; rank 1's stays where it is.
        let incast = Incast::new(4, 10, 1).unwrap();
        let sent: Vec<_> = (0..3)
            .map(|id| incast.transfer(id))
            .map(|transfer| (transfer.src, transfer.dst, transfer.bytes))
            .collect();
        assert_eq!(sent, [(0, 1, 2), (2, 1, 2), (3, 1, 3)]);
    }

    #[test]
    fn the_root_must_be_a_rank() {
        let refused = Incast::new(4, 10, 4).err().unwrap();
        assert_eq!(
            refused.to_string(),
            "incast (parallel): root 4 is not one of the 4 ranks; give a root from 0 to 3"
        );
    }
}
