//! One buffer that moves chunk by chunk down or up a tree: the core of broadcasts and reductions
//! along trees and chains.

use super::chunks::Pieces;
use super::member::CollectiveMember;
use super::tree::{Order, Shape, Tree};
use crate::{Destination, QueuePairScope, Schedule, Transfer, WorkloadError};

/// Direction in which chunks move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Away from the root: a broadcast.
    Down,
    /// Towards the root, each rank adding what its children send: a reduction.
    Up,
}

/// The schedule. Transfer id = chunk · (n−1) + position of the lower end − 1.
///
/// A rank passes a chunk on as soon as it has the chunk from its parent, or from all its children.
pub(super) struct TreeFlow {
    tree: Tree,
    pieces: Pieces,
    flow: Flow,
}

impl TreeFlow {
    /// Builds the schedule over a tree with the ranks in ascending order from the root on.
    ///
    /// # Errors
    /// A root that is no rank; those of [`Pieces::new`].
    pub(super) fn rooted(
        member: &CollectiveMember,
        shape: Shape,
        flow: Flow,
        ranks: u32,
        root: u32,
        size_bytes: u64,
        chunk_bytes: u64,
    ) -> Result<TreeFlow, WorkloadError> {
        member.check_root(root, ranks)?;
        Ok(TreeFlow {
            tree: Tree::new(ranks, shape, Order::From(root)),
            pieces: Pieces::new(member, size_bytes, chunk_bytes, ranks - 1)?,
            flow,
        })
    }

    fn edges(&self) -> u32 {
        self.tree.ranks() - 1
    }

    /// Returns the id of a chunk on the edge above a position.
    fn id(&self, chunk: u32, child: u32) -> u32 {
        chunk * self.edges() + child - 1
    }

    /// Splits an id into chunk and lower end.
    fn parts(&self, id: u32) -> (u32, u32) {
        (id / self.edges(), id % self.edges() + 1)
    }

    /// Returns true if a position has all chunks at the start.
    fn is_source(&self, position: u32) -> bool {
        match self.flow {
            Flow::Down => position == 0,
            Flow::Up => self.tree.child_count(position) == 0,
        }
    }

    /// Lists the edges that a position sends over, by their lower ends.
    fn sends_over(&self, position: u32) -> impl Iterator<Item = u32> {
        let down = self.flow == Flow::Down;
        let above = (!down && position != 0).then_some(position);
        let below = down.then(|| self.tree.children(position));
        below.into_iter().flatten().chain(above)
    }
}

impl Schedule for TreeFlow {
    fn ranks(&self) -> u32 {
        self.tree.ranks()
    }

    fn transfer_count(&self) -> u32 {
        self.pieces.count() * self.edges()
    }

    fn transfer(&self, id: u32) -> Transfer {
        let (chunk, child) = self.parts(id);
        let lower = self.tree.rank_at(child);
        let upper = self.tree.rank_at(self.tree.parent(child));
        let depth = self.tree.depth(child);
        let (src, dst, step) = match self.flow {
            Flow::Down => (upper, lower, depth - 1),
            Flow::Up => (lower, upper, self.tree.height() - depth),
        };
        Transfer {
            src,
            dst,
            bytes: self.pieces.bytes(chunk),
            chunk,
            channel: 0,
            step,
            reduce: self.flow == Flow::Up,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        let position = self.tree.position_of(rank);
        if self.is_source(position) {
            for chunk in 0..self.pieces.count() {
                out.extend(self.sends_over(position).map(|edge| self.id(chunk, edge)));
            }
        }
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        let (chunk, child) = self.parts(id);
        let receiver = match self.flow {
            Flow::Down => child,
            Flow::Up => self.tree.parent(child),
        };
        out.extend(self.sends_over(receiver).map(|edge| self.id(chunk, edge)));
    }

    fn dependencies(&self, id: u32) -> u32 {
        let (_, child) = self.parts(id);
        match self.flow {
            // The root has all chunks from the start.
            Flow::Down => u32::from(self.tree.parent(child) != 0),
            Flow::Up => self.tree.child_count(child),
        }
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let lower = match self.flow {
            Flow::Down => to.dst,
            Flow::Up => src,
        };
        let chunk = match scope {
            QueuePairScope::RankPair => (nth < self.pieces.count()).then_some(nth),
            QueuePairScope::Chunk => (nth == 0).then_some(to.lane),
        };
        chunk.map(|chunk| self.id(chunk, self.tree.position_of(lower)))
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let chunks = match scope {
            QueuePairScope::RankPair => 1,
            QueuePairScope::Chunk => self.pieces.count(),
        };
        let start = out.len();
        for edge in self.sends_over(self.tree.position_of(rank)) {
            let ids = (0..chunks).map(|chunk| self.id(chunk, edge));
            out.extend(ids.map(|id| self.transfer(id).way(scope)));
        }
        out[start..].sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::BroadcastTree;
    use crate::collective::algorithm::Collective;

    fn flow(flow: Flow) -> TreeFlow {
        TreeFlow::rooted(&BroadcastTree::MEMBER, Shape::Binary, flow, 4, 1, 5, 3).unwrap()
    }

    /// Source, destination, bytes, chunk, step, and how many arrivals it waits for.
    fn sent(flow: &TreeFlow) -> Vec<(u32, u32, u64, u32, u32, u32)> {
        (0..flow.transfer_count())
            .map(|id| (flow.transfer(id), flow.dependencies(id)))
            .map(|(t, waits)| (t.src, t.dst, t.bytes, t.chunk, t.step, waits))
            .collect()
    }

    #[test]
    fn four_ranks_down_by_hand() {
        // Positions 0 above 2, which has 1 and 3 below; rank 1 is the root. 5 bytes in chunks of 3.
        let expected = [
            (3, 2, 3, 0, 1, 1),
            (1, 3, 3, 0, 0, 0),
            (3, 0, 3, 0, 1, 1),
            (3, 2, 2, 1, 1, 1),
            (1, 3, 2, 1, 0, 0),
            (3, 0, 2, 1, 1, 1),
        ];
        assert_eq!(sent(&flow(Flow::Down)), expected);
    }

    #[test]
    fn four_ranks_up_by_hand() {
        let expected = [
            (2, 3, 3, 0, 0, 0),
            (3, 1, 3, 0, 1, 2),
            (0, 3, 3, 0, 0, 0),
            (2, 3, 2, 1, 0, 0),
            (3, 1, 2, 1, 1, 2),
            (0, 3, 2, 1, 0, 0),
        ];
        assert_eq!(sent(&flow(Flow::Up)), expected);
    }
}
