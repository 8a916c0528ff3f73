//! Chunks that travel round a ring, one hop per step: what the ring algorithms have in common.

use super::chunks::Chunks;
use crate::{Destination, QueuePairScope, Schedule, Transfer};

/// In step s rank r sends chunk (r + first − s) mod n to rank r + 1; transfer id = step · n +
/// source.
///
/// What a rank receives in a step is what it sends in the next, so a send waits for exactly one
/// arrival and chunks travel independently of each other.
pub(super) struct Ring {
    chunks: Chunks,
    /// The chunk rank 0 starts with.
    first: u32,
    steps: u32,
    /// How many of the steps, from the first, add to what the receiver has.
    reducing: u32,
}

impl Ring {
    /// A ring over as many ranks as there are chunks, at least 2, for at most 2n − 2 steps.
    pub(super) fn new(chunks: Chunks, first: u32, steps: u32, reducing: u32) -> Ring {
        Ring {
            chunks,
            first,
            steps,
            reducing,
        }
    }

    /// The step in which a rank sends a chunk for the first time, had it enough of them.
    fn first_step(&self, rank: u32, chunk: u32) -> u32 {
        (rank + self.first + self.ranks() - chunk) % self.ranks()
    }

    fn next(&self, rank: u32) -> u32 {
        if rank + 1 == self.ranks() {
            0
        } else {
            rank + 1
        }
    }
}

impl Schedule for Ring {
    fn ranks(&self) -> u32 {
        self.chunks.count()
    }

    fn transfer_count(&self) -> u32 {
        self.steps * self.ranks()
    }

    fn transfer(&self, id: u32) -> Transfer {
        let ranks = self.ranks();
        let (step, src) = (id / ranks, id % ranks);
        let chunk = (src + self.first + 2 * ranks - step) % ranks;
        Transfer {
            src,
            dst: self.next(src),
            bytes: self.chunks.bytes(chunk),
            chunk,
            channel: 0,
            step,
            reduce: step < self.reducing,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        out.push(rank);
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        let (step, src) = (id / self.ranks(), id % self.ranks());
        if step + 1 < self.steps {
            out.push((step + 1) * self.ranks() + self.next(src));
        }
    }

    fn dependencies(&self, id: u32) -> u32 {
        u32::from(id >= self.ranks())
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let step = match scope {
            QueuePairScope::RankPair => nth,
            // A chunk comes by again after n steps.
            QueuePairScope::Chunk => self.first_step(src, to.lane) + nth * self.ranks(),
        };
        (step < self.steps).then(|| step * self.ranks() + src)
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let dst = self.next(rank);
        match scope {
            QueuePairScope::RankPair => out.push(Destination { dst, lane: 0 }),
            QueuePairScope::Chunk => {
                let sent = |chunk: &u32| self.first_step(rank, *chunk) < self.steps;
                let lanes = (0..self.ranks()).filter(sent);
                out.extend(lanes.map(|lane| Destination { dst, lane }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_releases_the_next_hop_of_the_same_chunk() {
        let ring = Ring::new(Chunks::new(5, 5), 3, 8, 4);
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
