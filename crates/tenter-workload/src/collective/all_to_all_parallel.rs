//! All-to-all, parallel: every rank sends its block for each other rank at once.
//!
//! Origin: the parallel all-to-all in "AI Fabric Test Methodology" (Keysight) and the grouped
//! send/receive loop in NVIDIA/nccl-tests `alltoall.cu`; sizes and bus bandwidth as in nccl-tests.
//! It has no parameters. The posting order is a rotation (rank r posts to r+1, r+2, …), the "linear
//! shift" all-to-all in MPI libraries, so that in no round do two ranks post to the same
//! destination.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::chunks::Chunks;
use super::member::{CollectiveMember, Factor};
use crate::closed_form::IdealSwitch;
use crate::{Destination, QueuePairScope, Schedule, Transfer, WorkloadError};

component! {
    /// All-to-all, all pairs at once, interleaved over the destinations.
    pub struct AllToAllParallel;
}

impl Collective for AllToAllParallel {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-to-all",
        algorithm: "parallel",
        summary: "every rank sends a block to every other rank at once",
        model_page: "docs/models/collective-all-to-all-parallel.md",
        // n(n−1) transfers must not exceed 2³²−1 ids.
        ranks_max: 65_536,
        // Each rank keeps its own block.
        busbw: Factor::AllButOwn,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        Ok(Box::new(Transfers::new(ranks, size_bytes)))
    }

    /// Takes (n−1)·c + L: each port sends n−1 blocks.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        switch.one_port(switch.others())
    }
}

/// The schedule. Transfer id and chunk are the same number, ordered by source, then by destination.
pub(super) struct Transfers {
    /// Blocks in each rank's send buffer, one for each rank.
    blocks: Chunks,
}

impl Transfers {
    pub(super) fn new(ranks: u32, size_bytes: u64) -> Transfers {
        Transfers {
            blocks: Chunks::new(size_bytes, ranks),
        }
    }

    /// Returns the bytes of the block for `rank`.
    pub(super) fn block(&self, rank: u32) -> u64 {
        self.blocks.bytes(rank)
    }

    fn id(&self, src: u32, dst: u32) -> u32 {
        src * (self.ranks() - 1) + dst - u32::from(dst > src)
    }
}

impl Schedule for Transfers {
    fn ranks(&self) -> u32 {
        self.blocks.count()
    }

    fn transfer_count(&self) -> u32 {
        self.ranks() * (self.ranks() - 1)
    }

    fn transfer(&self, id: u32) -> Transfer {
        let others = self.ranks() - 1;
        let (src, other) = (id / others, id % others);
        let dst = other + u32::from(other >= src);
        Transfer {
            src,
            dst,
            bytes: self.block(dst),
            chunk: id,
            channel: 0,
            step: 0,
            reduce: false,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        // A rotation, so that no two ranks post to the same destination in the same round.
        let destinations = (rank + 1..self.ranks()).chain(0..rank);
        out.extend(destinations.map(|dst| self.id(rank, dst)));
    }

    fn released_by(&self, _id: u32, _out: &mut Vec<u32>) {}

    fn dependencies(&self, _id: u32) -> u32 {
        0
    }

    fn nth(&self, src: u32, to: Destination, _: QueuePairScope, nth: u32) -> Option<u32> {
        (nth == 0).then(|| self.id(src, to.dst))
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let destinations = (0..rank).chain(rank + 1..self.ranks());
        out.extend(destinations.map(|dst| Destination {
            dst,
            lane: scope.lane(0, self.id(rank, dst)),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posting_rotates_over_the_destinations() {
        let schedule = Transfers::new(4, 400);
        let posted = |rank| {
            let mut ids = Vec::new();
            schedule.initial(rank, &mut ids);
            ids.iter()
                .map(|&id| schedule.transfer(id).dst)
                .collect::<Vec<_>>()
        };
        assert_eq!(posted(0), [1, 2, 3]);
        assert_eq!(posted(1), [2, 3, 0]);
        assert_eq!(posted(3), [0, 1, 2]);
    }

    #[test]
    fn no_round_has_a_destination_twice() {
        let schedule = Transfers::new(9, 9);
        let mut posted = vec![Vec::new(); 9];
        for (rank, ids) in (0..9).zip(&mut posted) {
            schedule.initial(rank, ids);
        }
        for round in 0..8 {
            let mut hit: Vec<_> = posted
                .iter()
                .map(|ids| schedule.transfer(ids[round]).dst)
                .collect();
            hit.sort_unstable();
            assert!(hit.into_iter().eq(0..9), "round {round}");
        }
    }

    #[test]
    fn blocks_are_those_of_the_destination() {
        // S = 10 over 4 ranks: blocks of 2, 3, 2 and 3 bytes for ranks 0, 1, 2 and 3.
        let schedule = Transfers::new(4, 10);
        let bytes: Vec<_> = (0..3).map(|id| schedule.transfer(id).bytes).collect();
        assert_eq!(bytes, [3, 2, 3]);
        let expected = Transfer {
            src: 2,
            dst: 3,
            bytes: 3,
            chunk: 8,
            channel: 0,
            step: 0,
            reduce: false,
        };
        assert_eq!(schedule.transfer(8), expected);
    }
}
