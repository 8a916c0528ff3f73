//! Chunks that travel round a ring, one hop per step: the core of all ring algorithms.

use super::chunks::Chunks;
use crate::{Destination, QueuePairScope, Rings, Schedule, Transfer};

/// Rings that run side by side. With stride g, every g-th rank is in the same ring, which has m =
/// n/g ranks; the usual ring has stride 1.
///
/// Ring i carries chunks i·m to (i+1)·m − 1. In step s the rank at place r in its ring sends chunk
/// (r + `first` − s) mod m of these to its successor. Transfer id = step · n + source.
///
/// The chunk that a rank receives in one step is the one that it sends in the next. A send
/// therefore waits for exactly one arrival, and chunks travel independently.
#[derive(Debug)]
pub(super) struct Ring {
    chunks: Chunks,
    stride: u32,
    /// Chunk, within a ring, that the ring's first rank starts with.
    first: u32,
    steps: u32,
    /// Number of steps, from the first, in which the receiver adds to its own data.
    reducing: u32,
}

impl Ring {
    /// Makes one ring over as many ranks as there are chunks: at least 2 ranks, at most 2n − 2
    /// steps.
    pub(super) fn new(chunks: Chunks, first: u32, steps: u32, reducing: u32) -> Ring {
        Ring {
            chunks,
            stride: 1,
            first,
            steps,
            reducing,
        }
    }

    /// Makes the reduce-scatter and all-gather for `stride` rings side by side. `stride` divides
    /// the chunk count and leaves at least 2 ranks in each ring.
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

    /// Returns the number of ranks in each ring.
    fn length(&self) -> u32 {
        self.ranks() / self.stride
    }

    /// Returns the chunks that `rank`'s ring carries.
    fn part(&self, rank: u32) -> std::ops::Range<u32> {
        let first = rank % self.stride * self.length();
        first..first + self.length()
    }

    /// Returns the step in which `rank` first sends `chunk` of its ring; it may lie beyond the last
    /// step.
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
        // Only equal transfers can be run as a unit, and chunks are equal if the ranks divide the
        // size.
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
        // 2m keeps the difference positive: a ring has at most 2m − 2 steps.
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
            // A chunk comes round again after m steps.
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
