//! All-reduce, double binary tree: sums go up two trees, each with half the buffer, and results
//! come back down.
//!
//! Origin: "Two-tree algorithms for full bandwidth broadcast, reduction and scan" (Sanders, Speck,
//! Träff, 2009), as in NCCL, and all-reduce, double binary tree, in "AI Fabric Test Methodology"
//! (Keysight). Parameter: the chunk size, by default 512 KiB, one slot of NCCL's 4 MiB buffer with
//! 8 slots.

use tenter_language::config::component;
use tenter_language::units::{Bytes, Time};

use super::algorithm::Collective;
use super::chunks::Pieces;
use super::limits::CHUNKS;
use super::member::{CollectiveMember, Factor};
use super::tree::{Order, Shape, Tree};
use crate::closed_form::{IdealSwitch, times};
use crate::{Destination, QueuePairScope, Schedule, Transfer, WorkloadError};

component! {
    /// All-reduce up and down two binary trees, each with half of the buffer.
    pub struct AllReduceDoubleBinaryTree as "`jobs[].collectives[]` with `collective: all-reduce` and `algorithm: double-binary-tree`" {
        /// The buffer is passed on in chunks of this size.
        chunk_bytes as "chunk_size": u64 as Bytes = "512KiB", in CHUNKS, from "NCCL's default buffer of 4 MiB in 8 slots";
    }
}

impl Collective for AllReduceDoubleBinaryTree {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "all-reduce",
        algorithm: "double-binary-tree",
        summary: "sums go up two trees, each with half of the buffer, and the results back down",
        model_page: "docs/models/collective-all-reduce-double-binary-tree.md",
        // 4(n−1) transfers for each chunk must not exceed 2³²−1 ids.
        ranks_max: 1 << 30,
        // The factor of all-reduce, whatever the algorithm.
        busbw: Factor::TwiceAllButOwn,
    };

    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let trees = TwoTrees::new(ranks, size_bytes, self.chunk_bytes)?;
        Ok(Box::new(trees))
    }

    /// Takes at least f·c(S)/2 + L, because a port sends f = min(n, 4) halves, and at least
    /// 2h·(c(x) + L), because the first chunk goes up and down.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        let half = switch.size_bytes.div_ceil(2);
        let port = times(
            switch.all(half, self.chunk_bytes),
            u64::from(switch.ranks.min(4)),
        );
        let there_and_back = 2 * u64::from(switch.height());
        let first = times(switch.hop(half.min(self.chunk_bytes)), there_and_back);
        port.saturating_add(switch.latency).max(first)
    }

    fn chunk_bytes(&self) -> Option<u64> {
        Some(self.chunk_bytes)
    }
}

/// Returns the two trees. The inner ranks of one are leaves in the other, so ports carry equal
/// loads. With an odd rank count the first tree's root is also an inner rank in the second.
pub(super) fn trees(ranks: u32) -> [Tree; 2] {
    let other = if ranks.is_multiple_of(2) {
        // Reversing the order puts odd ranks at even positions and even ranks at odd ones.
        Order::Descending
    } else {
        Order::From(1)
    };
    [Order::From(0), other].map(|order| Tree::new(ranks, Shape::Binary, order))
}

/// Coordinates of a transfer: the tree, the chunk within the tree, the direction, and the position
/// at the lower end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    tree: u32,
    chunk: u32,
    up: bool,
    child: u32,
}

/// The schedule. Transfer id = ((2 · chunk + tree) · 2 + 1 if down) · (n−1) + position at the lower
/// end − 1. The chunk within the buffer is 2 · chunk + tree, and the tree is the channel.
struct TwoTrees {
    trees: [Tree; 2],
    /// First half, which is the longer one by up to a byte, and second half.
    pieces: [Pieces; 2],
}

impl TwoTrees {
    fn new(ranks: u32, size_bytes: u64, chunk_bytes: u64) -> Result<TwoTrees, WorkloadError> {
        let second = size_bytes / 2;
        let longer = Pieces::new(
            &AllReduceDoubleBinaryTree::MEMBER,
            size_bytes - second,
            chunk_bytes,
            4 * (ranks - 1),
        )?;
        Ok(TwoTrees {
            trees: trees(ranks),
            pieces: [longer, longer.shortened(second)],
        })
    }

    /// Returns the number of chunks in each tree.
    fn chunks(&self) -> u32 {
        self.pieces[0].count()
    }

    fn edges(&self) -> u32 {
        self.ranks() - 1
    }

    fn id(&self, part: Part) -> u32 {
        let row = (2 * part.chunk + part.tree) * 2 + u32::from(!part.up);
        row * self.edges() + part.child - 1
    }

    fn part(&self, id: u32) -> Part {
        let row = id / self.edges();
        Part {
            tree: row / 2 % 2,
            chunk: row / 4,
            up: row.is_multiple_of(2),
            child: id % self.edges() + 1,
        }
    }

    fn tree(&self, number: u32) -> Tree {
        self.trees[number as usize]
    }

    /// Lists what a rank sends for one chunk of one tree: up first, then down to its children.
    fn sent(&self, rank: u32, tree: u32, chunk: u32) -> impl Iterator<Item = Part> {
        let position = self.tree(tree).position_of(rank);
        let part = move |up, child| Part {
            tree,
            chunk,
            up,
            child,
        };
        let above = (position != 0).then(|| part(true, position));
        let below = self.tree(tree).children(position);
        above
            .into_iter()
            .chain(below.map(move |child| part(false, child)))
    }
}

impl Schedule for TwoTrees {
    fn ranks(&self) -> u32 {
        self.trees[0].ranks()
    }

    fn transfer_count(&self) -> u32 {
        4 * self.chunks() * self.edges()
    }

    fn transfer(&self, id: u32) -> Transfer {
        let part = self.part(id);
        let tree = self.tree(part.tree);
        let lower = tree.rank_at(part.child);
        let upper = tree.rank_at(tree.parent(part.child));
        let (height, depth) = (tree.height(), tree.depth(part.child));
        let (src, dst, step) = if part.up {
            (lower, upper, height - depth)
        } else {
            (upper, lower, height + depth - 1)
        };
        Transfer {
            src,
            dst,
            bytes: self.pieces[part.tree as usize].bytes(part.chunk),
            chunk: 2 * part.chunk + part.tree,
            channel: part.tree,
            step,
            reduce: part.up,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        let leaf = |tree: &u32| {
            let position = self.tree(*tree).position_of(rank);
            self.tree(*tree).child_count(position) == 0
        };
        for chunk in 0..self.chunks() {
            for tree in (0..2).filter(leaf) {
                out.extend(self.sent(rank, tree, chunk).map(|part| self.id(part)));
            }
        }
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        let part = self.part(id);
        let tree = self.tree(part.tree);
        let parent = tree.parent(part.child);
        if part.up && parent != 0 {
            let child = parent;
            out.push(self.id(Part { child, ..part }));
        } else {
            // At the root the sum is complete and turns round; at an inner rank the result is
            // passed on.
            let at = if part.up { parent } else { part.child };
            let down = |child| Part {
                up: false,
                child,
                ..part
            };
            out.extend(tree.children(at).map(|child| self.id(down(child))));
        }
    }

    fn dependencies(&self, id: u32) -> u32 {
        let part = self.part(id);
        if part.up {
            self.tree(part.tree).child_count(part.child)
        } else {
            // A rank waits for the result from its parent; the root has one child and waits for its
            // sum.
            1
        }
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let (tree, chunk) = match scope {
            QueuePairScope::RankPair => (to.lane, (nth < self.chunks()).then_some(nth)?),
            QueuePairScope::Chunk => (to.lane % 2, (nth == 0).then_some(to.lane / 2)?),
        };
        let mut sent = self.sent(src, tree, chunk).map(|part| self.id(part));
        sent.find(|&id| self.transfer(id).dst == to.dst)
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let chunks = match scope {
            QueuePairScope::RankPair => 1,
            QueuePairScope::Chunk => self.chunks(),
        };
        let start = out.len();
        for chunk in 0..chunks {
            for tree in 0..2 {
                let ids = self.sent(rank, tree, chunk).map(|part| self.id(part));
                out.extend(ids.map(|id| self.transfer(id).way(scope)));
            }
        }
        out[start..].sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_ranks_of_one_tree_are_leaves_of_the_other() {
        for ranks in 2..70_u32 {
            let inner = |tree: Tree, rank| {
                let position = tree.position_of(rank);
                position != 0 && tree.child_count(position) > 0
            };
            let both = |rank: &u32| trees(ranks).iter().all(|&tree| inner(tree, *rank));
            assert_eq!((0..ranks).find(both), None, "of {ranks} ranks");
        }
    }

    #[test]
    fn two_ranks_by_hand() {
        // In the first tree rank 0 is the root, in the second rank 1. 5 bytes in halves of 3 and 2,
        // chunks of 2 bytes.
        let schedule = TwoTrees::new(2, 5, 2).unwrap();
        let sent: Vec<_> = (0..schedule.transfer_count())
            .map(|id| schedule.transfer(id))
            .map(|t| (t.src, t.dst, t.bytes, t.chunk, t.channel, t.reduce))
            .collect();
        let expected = [
            (1, 0, 2, 0, 0, true),
            (0, 1, 2, 0, 0, false),
            (0, 1, 2, 1, 1, true),
            (1, 0, 2, 1, 1, false),
            (1, 0, 1, 2, 0, true),
            (0, 1, 1, 2, 0, false),
            (0, 1, 0, 3, 1, true),
            (1, 0, 0, 3, 1, false),
        ];
        assert_eq!(sent, expected);
    }

    #[test]
    fn what_is_complete_at_the_root_turns_round() {
        // Of 4 ranks, 0 is above 2, which has 1 and 3 below.
        let schedule = TwoTrees::new(4, 8, 8).unwrap();
        let hop = |id: u32| {
            let t = schedule.transfer(id);
            (t.src, t.dst, t.step)
        };
        let mut released = Vec::new();
        schedule.released_by(1, &mut released);
        assert_eq!(hop(1), (2, 0, 1));
        assert_eq!(
            released.iter().map(|&id| hop(id)).collect::<Vec<_>>(),
            [(0, 2, 2)]
        );
        let down = std::mem::take(&mut released)[0];
        schedule.released_by(down, &mut released);
        let next: Vec<_> = released.iter().map(|&id| hop(id)).collect();
        assert_eq!(next, [(2, 1, 3), (2, 3, 3)]);
    }
}
