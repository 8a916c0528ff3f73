//! All-reduce, unidirectional ring: reduce-scatter once round, then all-gather once round.
//!
//! Origin: "Bandwidth optimal all-reduce algorithms for clusters of workstations" (Patarasuk, Yuan,
//! 2009), as in NCCL and in "AI Fabric Test Methodology" (Keysight). It has no parameters; the ring
//! is the order of the ranks.

use super::chunks::Chunks;
use super::{CollectiveKind, CollectiveMember, Factor};
use crate::{Destination, QueuePairScope, Schedule, Transfer};

pub(super) const MEMBER: CollectiveMember = CollectiveMember {
    collective: "all-reduce",
    algorithm: "ring",
    summary: "sums travel round a ring in one direction, then the results do",
    model_page: "docs/models/collective-all-reduce-ring.md",
    // 2n(n−1) ≤ 2³²−1.
    ranks_max: 46_341,
    // Every byte crosses each rank's port twice, but for one chunk each time.
    busbw: Factor::TwiceAllButOwn,
    default: CollectiveKind::AllReduceRing,
};

/// Transfer id = step · n + source. In step s rank r sends chunk (r − s) mod n to rank r + 1.
///
/// One formula serves both halves: the reduce-scatter ends (s = n−2) with chunk r+1 complete at
/// rank r, which is what (r − s) mod n names at s = n−1, the first step of the all-gather.
pub(super) struct AllReduceRing {
    chunks: Chunks,
}

impl AllReduceRing {
    pub(super) fn new(ranks: u32, size_bytes: u64) -> AllReduceRing {
        AllReduceRing {
            chunks: Chunks::new(size_bytes, ranks),
        }
    }

    fn steps(&self) -> u32 {
        2 * (self.ranks() - 1)
    }

    fn next(&self, rank: u32) -> u32 {
        if rank + 1 == self.ranks() {
            0
        } else {
            rank + 1
        }
    }
}

impl Schedule for AllReduceRing {
    fn ranks(&self) -> u32 {
        self.chunks.count()
    }

    fn transfer_count(&self) -> u32 {
        self.steps() * self.ranks()
    }

    fn transfer(&self, id: u32) -> Transfer {
        let ranks = self.ranks();
        let (step, src) = (id / ranks, id % ranks);
        let chunk = (src + 2 * ranks - step) % ranks;
        Transfer {
            src,
            dst: self.next(src),
            bytes: self.chunks.bytes(chunk),
            chunk,
            step,
            reduce: step < ranks - 1,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        out.push(rank);
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        let (step, src) = (id / self.ranks(), id % self.ranks());
        if step + 1 < self.steps() {
            out.push((step + 1) * self.ranks() + self.next(src));
        }
    }

    fn dependencies(&self, id: u32) -> u32 {
        u32::from(id >= self.ranks())
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let step = match scope {
            QueuePairScope::RankPair => nth,
            // A chunk comes by once in the reduce-scatter and once in the all-gather, n steps
            // apart.
            QueuePairScope::Chunk => {
                (src + self.ranks() - to.lane) % self.ranks() + nth * self.ranks()
            }
        };
        (step < self.steps()).then(|| step * self.ranks() + src)
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let dst = self.next(rank);
        match scope {
            QueuePairScope::RankPair => out.push(Destination { dst, lane: 0 }),
            // The reduce-scatter skips one chunk and the all-gather another, so together they are
            // all n.
            QueuePairScope::Chunk => {
                out.extend((0..self.ranks()).map(|lane| Destination { dst, lane }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ranks_by_hand() {
        let ring = AllReduceRing::new(3, 9);
        let sent = |id| {
            let t = ring.transfer(id);
            (t.step, t.src, t.dst, t.chunk, t.reduce)
        };
        // Reduce-scatter: each rank first sends its own chunk, then adds and passes on what it got.
        assert_eq!(sent(0), (0, 0, 1, 0, true));
        assert_eq!(sent(2), (0, 2, 0, 2, true));
        assert_eq!(sent(4), (1, 1, 2, 0, true));
        // Chunk 0 has now been summed at rank 2, which starts the all-gather with it.
        assert_eq!(sent(8), (2, 2, 0, 0, false));
        assert_eq!(sent(9), (3, 0, 1, 0, false));
        assert_eq!(ring.transfer_count(), 12);
    }

    #[test]
    fn an_arrival_releases_the_next_hop_of_the_same_chunk() {
        let ring = AllReduceRing::new(5, 5);
        for id in 0..ring.transfer_count() {
            let mut released = Vec::new();
            ring.released_by(id, &mut released);
            let last = ring.transfer(id).step == 7;
            assert_eq!(released.len(), usize::from(!last));
            for next in released {
                assert_eq!(ring.transfer(next).src, ring.transfer(id).dst);
                assert_eq!(ring.transfer(next).chunk, ring.transfer(id).chunk);
                assert_eq!(ring.transfer(next).step, ring.transfer(id).step + 1);
            }
        }
    }
}
