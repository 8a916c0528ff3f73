//! Chunks that travel round a ring, one hop per step: what the ring algorithms have in common.

use super::chunks::Chunks;
use crate::{Destination, QueuePairScope, Rings, Schedule, Transfer};

/// Rings side by side: with a stride of g, each g-th rank is in the same one, of m = n/g ranks.
/// Ring i carries chunks i·m to (i+1)·m − 1, and in step s its rank r sends chunk (r + first − s)
/// mod m of them to its next one. Transfer id = step · n + source. The usual ring has a stride of
/// 1.
///
/// What a rank receives in a step is what it sends in the next, so a send waits for exactly one
/// arrival and chunks travel independently of each other.
#[derive(Debug)]
pub(super) struct Ring {
    chunks: Chunks,
    stride: u32,
    /// The chunk of a ring that its first rank starts with.
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
            stride: 1,
            first,
            steps,
            reducing,
        }
    }

    /// The reduce-scatter and all-gather of `stride` rings side by side, which divides the number
    /// of chunks and leaves at least 2 ranks in each.
    pub(super) fn side_by_side(chunks: Chunks, stride: u32) -> Ring {
        let length = chunks.count() / stride;
        Ring {
            chunks,
            stride,
            first: 0,
            steps: 2 * (length - 1),
            reducing: length - 1,
        }
    }

    /// Ranks of a ring.
    fn length(&self) -> u32 {
        self.ranks() / self.stride
    }

    /// Chunks that the ring of a rank carries.
    fn part(&self, rank: u32) -> std::ops::Range<u32> {
        let first = rank % self.stride * self.length();
        first..first + self.length()
    }

    /// The step in which a rank sends a chunk of its ring for the first time, had it enough of
    /// them.
    fn first_step(&self, rank: u32, chunk: u32) -> u32 {
        let within = chunk - self.part(rank).start;
        (rank / self.stride + self.first + self.length() - within) % self.length()
    }

    fn next(&self, rank: u32) -> u32 {
        let next = rank + self.stride;
        if next < self.ranks() {
            next
        } else {
            next - self.ranks()
        }
    }
}

impl Schedule for Ring {
    fn ranks(&self) -> u32 {
        self.chunks.count()
    }

    fn transfer_count(&self) -> u32 {
        u32::try_from(self.transfers()).unwrap_or(u32::MAX)
    }

    fn transfers(&self) -> u64 {
        u64::from(self.steps) * u64::from(self.ranks())
    }

    fn rings(&self) -> Option<Rings> {
        let (ranks, bytes) = (self.ranks(), self.chunks.bytes(0));
        let is_even = bytes * u64::from(ranks) == self.chunks.total();
        is_even.then_some(Rings {
            stride: self.stride,
            steps: self.steps,
            bytes,
        })
    }

    fn transfer(&self, id: u32) -> Transfer {
        let (step, src) = (id / self.ranks(), id % self.ranks());
        let within = (src / self.stride + self.first + 2 * self.length() - step) % self.length();
        let chunk = self.part(src).start + within;
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
            // A chunk comes by again after a round.
            QueuePairScope::Chunk => self.first_step(src, to.lane) + nth * self.length(),
        };
        (step < self.steps).then(|| step * self.ranks() + src)
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let dst = self.next(rank);
        match scope {
            QueuePairScope::RankPair => out.push(Destination { dst, lane: 0 }),
            QueuePairScope::Chunk => {
                let sent = |chunk: &u32| self.first_step(rank, *chunk) < self.steps;
                let lanes = self.part(rank).filter(sent);
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
