//! All-to-all, pairwise: every rank sends its block for one other rank at a time.
//!
//! Origin: pairwise exchange in "Optimization of Collective Communication Operations in MPICH"
//! (Thakur, Rabenseifner, Gropp, 2005), in its form for any rank count; sizes and bus bandwidth as
//! in NVIDIA/nccl-tests `alltoall.cu`. It has no parameters.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::chunks::Chunks;
use super::member::{CollectiveMember, Factor};
use crate::closed_form::IdealSwitch;
use crate::{Destination, QueuePairScope, Schedule, Transfer, WorkloadError};

component! {
    /// All-to-all, one destination after the other.
    pub struct AllToAllPairwise;
}

impl Collective for AllToAllPairwise {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-to-all",
        algorithm: "pairwise",
        summary: "every rank sends a block to one other rank after the other",
        model_page: "docs/models/collective-all-to-all-pairwise.md",
        // n(n−1) transfers must not exceed 2³²−1 ids.
        ranks_max: 65_536,
        // Each rank keeps its own block.
        busbw: Factor::AllButOwn,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        Ok(Box::new(Transfers::new(ranks, size_bytes)))
    }

    /// Takes (n−1)·(c + L): each step waits for the arrival from the previous one.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        switch.steps(switch.others())
    }
}

/// The schedule: in step s rank r sends to rank r + s + 1. Transfer id = step · n + source.
///
/// Chunks number the blocks by source, then by destination, as in the parallel all-to-all.
struct Transfers {
    /// Blocks in each rank's send buffer, one for each rank.
    blocks: Chunks,
}

impl Transfers {
    fn new(ranks: u32, size_bytes: u64) -> Transfers {
        Transfers {
            blocks: Chunks::new(size_bytes, ranks),
        }
    }

    fn chunk(&self, src: u32, dst: u32) -> u32 {
        src * (self.ranks() - 1) + dst - u32::from(dst > src)
    }

    fn destination(&self, src: u32, step: u32) -> u32 {
        (src + step + 1) % self.ranks()
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
        let (step, src) = (id / self.ranks(), id % self.ranks());
        let dst = self.destination(src, step);
        Transfer {
            src,
            dst,
            bytes: self.blocks.bytes(dst),
            chunk: self.chunk(src, dst),
            channel: 0,
            step,
            reduce: false,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        out.push(rank);
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        let (step, src) = (id / self.ranks(), id % self.ranks());
        // The last step is n − 2.
        if step + 2 < self.ranks() {
            out.push((step + 1) * self.ranks() + self.destination(src, step));
        }
    }

    fn dependencies(&self, id: u32) -> u32 {
        u32::from(id >= self.ranks())
    }

    fn nth(&self, src: u32, to: Destination, _: QueuePairScope, nth: u32) -> Option<u32> {
        let step = (to.dst + self.ranks() - src - 1) % self.ranks();
        (nth == 0).then(|| step * self.ranks() + src)
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let destinations = (0..rank).chain(rank + 1..self.ranks());
        out.extend(destinations.map(|dst| Destination {
            dst,
            lane: scope.lane(0, self.chunk(rank, dst)),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_four_ranks() {
        let schedule = Transfers::new(4, 10);
        let sent = |id| {
            let t = schedule.transfer(id);
            (t.step, t.src, t.dst, t.bytes, t.chunk)
        };
        // S = 10 over 4 ranks: blocks of 2, 3, 2 and 3 bytes for ranks 0, 1, 2 and 3.
        assert_eq!(sent(2), (0, 2, 3, 3, 8));
        assert_eq!(sent(6), (1, 2, 0, 2, 6));
        assert_eq!(sent(10), (2, 2, 1, 3, 7));
        assert_eq!(schedule.transfer_count(), 12);
    }

    #[test]
    fn a_rank_sends_one_block_more_than_it_has_received() {
        let schedule = Transfers::new(5, 5);
        for id in 0..schedule.transfer_count() {
            let mut released = Vec::new();
            schedule.released_by(id, &mut released);
            let transfer = schedule.transfer(id);
            assert_eq!(released.len(), usize::from(transfer.step < 3));
            for next in released {
                assert_eq!(schedule.transfer(next).src, transfer.dst);
                assert_eq!(schedule.transfer(next).step, transfer.step + 1);
            }
        }
    }
}
