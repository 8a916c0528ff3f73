//! Transfers between a root and all other ranks without dependencies: the core of gather, scatter,
//! incast and parallel broadcast.

use super::chunks::Chunks;
use super::member::CollectiveMember;
use crate::{Destination, QueuePairScope, Schedule, Transfer, WorkloadError};

/// Direction in which the transfers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// All other ranks send to the root.
    ToRoot,
    /// The root sends to all other ranks.
    FromRoot,
}

/// Data that a transfer carries.
#[derive(Clone, Copy, Debug)]
enum Payload {
    /// The block that belongs to the rank at the outer end; the chunk is that rank.
    Block(Chunks),
    /// The whole buffer in bytes, the same for each rank; the chunk is 0.
    Whole(u64),
}

/// The schedule. Transfer ids number the ranks except the root in ascending order.
pub(super) struct Star {
    ranks: u32,
    root: u32,
    direction: Direction,
    payload: Payload,
}

impl Star {
    /// Moves each rank's share of `size_bytes` between that rank and the root.
    pub(super) fn of_blocks(
        member: &CollectiveMember,
        ranks: u32,
        root: u32,
        size_bytes: u64,
        direction: Direction,
    ) -> Result<Star, WorkloadError> {
        member.check_root(root, ranks)?;
        Ok(Star {
            ranks,
            root,
            direction,
            payload: Payload::Block(Chunks::new(size_bytes, ranks)),
        })
    }

    /// Sends all `size_bytes` from the root to each other rank.
    pub(super) fn of_copies(
        member: &CollectiveMember,
        ranks: u32,
        root: u32,
        size_bytes: u64,
    ) -> Result<Star, WorkloadError> {
        member.check_root(root, ranks)?;
        Ok(Star {
            ranks,
            root,
            direction: Direction::FromRoot,
            payload: Payload::Whole(size_bytes),
        })
    }

    fn id_of(&self, other: u32) -> u32 {
        other - u32::from(other > self.root)
    }

    fn chunk_of(&self, other: u32) -> u32 {
        match self.payload {
            Payload::Block(_) => other,
            Payload::Whole(_) => 0,
        }
    }
}

impl Schedule for Star {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn transfer_count(&self) -> u32 {
        self.ranks - 1
    }

    fn transfer(&self, id: u32) -> Transfer {
        let other = id + u32::from(id >= self.root);
        let (src, dst) = match self.direction {
            Direction::ToRoot => (other, self.root),
            Direction::FromRoot => (self.root, other),
        };
        let bytes = match self.payload {
            Payload::Block(blocks) => blocks.bytes(other),
            Payload::Whole(bytes) => bytes,
        };
        Transfer {
            src,
            dst,
            bytes,
            chunk: self.chunk_of(other),
            channel: 0,
            step: 0,
            reduce: false,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        match self.direction {
            Direction::ToRoot if rank != self.root => out.push(self.id_of(rank)),
            Direction::FromRoot if rank == self.root => out.extend(0..self.ranks - 1),
            _ => {}
        }
    }

    fn released_by(&self, _id: u32, _out: &mut Vec<u32>) {}

    fn dependencies(&self, _id: u32) -> u32 {
        0
    }

    fn nth(&self, src: u32, to: Destination, _: QueuePairScope, nth: u32) -> Option<u32> {
        let other = match self.direction {
            Direction::ToRoot => src,
            Direction::FromRoot => to.dst,
        };
        (nth == 0).then(|| self.id_of(other))
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let way = |dst, other| Destination {
            dst,
            lane: scope.lane(0, self.chunk_of(other)),
        };
        match self.direction {
            Direction::ToRoot if rank != self.root => out.push(way(self.root, rank)),
            Direction::FromRoot if rank == self.root => {
                let others = (0..self.ranks).filter(|&other| other != rank);
                out.extend(others.map(|other| way(other, other)));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::GatherParallel;
    use crate::collective::algorithm::Collective;

    /// Source, destination, bytes and chunk of every transfer.
    fn sent(star: &Star) -> Vec<(u32, u32, u64, u32)> {
        (0..star.transfer_count())
            .map(|id| star.transfer(id))
            .map(|t| (t.src, t.dst, t.bytes, t.chunk))
            .collect()
    }

    #[test]
    fn blocks_of_four_ranks_by_hand() {
        // S = 10 over 4 ranks: blocks of 2, 3, 2 and 3 bytes; rank 1's stays where it is.
        let star =
            |direction| Star::of_blocks(&GatherParallel::MEMBER, 4, 1, 10, direction).unwrap();
        assert_eq!(
            sent(&star(Direction::ToRoot)),
            [(0, 1, 2, 0), (2, 1, 2, 2), (3, 1, 3, 3)]
        );
        assert_eq!(
            sent(&star(Direction::FromRoot)),
            [(1, 0, 2, 0), (1, 2, 2, 2), (1, 3, 3, 3)]
        );
    }

    #[test]
    fn copies_are_whole() {
        let star = Star::of_copies(&GatherParallel::MEMBER, 3, 2, 10).unwrap();
        assert_eq!(sent(&star), [(2, 0, 10, 0), (2, 1, 10, 0)]);
        let mut posted = Vec::new();
        star.initial(0, &mut posted);
        assert_eq!(posted, [0_u32; 0]);
        star.initial(2, &mut posted);
        assert_eq!(posted, [0, 1]);
    }

    #[test]
    fn the_root_must_be_a_rank() {
        let refused = Star::of_copies(&GatherParallel::MEMBER, 4, 4, 10)
            .err()
            .unwrap();
        assert_eq!(
            refused.to_string(),
            "gather (parallel): root 4 is not one of the 4 ranks; give a root from 0 to 3"
        );
    }
}
