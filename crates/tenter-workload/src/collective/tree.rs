//! Trees of ranks, by arithmetic: each rank's parent and children.
//!
//! A tree is a shape over positions, of which 0 is the root, and an order that assigns ranks to
//! positions.

/// Shape of a tree over positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Each position behind the one before it.
    Chain,
    /// Position 0 is above the root of a binary tree in which the other positions are in order: the
    /// left subtree of a position comes before it, the right one after.
    ///
    /// The more zeros the binary number of a position ends with, the higher the position. Odd
    /// positions are leaves.
    Binary,
}

/// Assignment of ranks to positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Ascending and round again, beginning with this rank.
    From(u32),
    /// Descending, beginning with the last rank.
    Descending,
}

/// A tree over all ranks in a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree {
    ranks: u32,
    shape: Shape,
    order: Order,
}

impl Tree {
    /// Makes a tree over at least 2 ranks.
    pub(super) fn new(ranks: u32, shape: Shape, order: Order) -> Tree {
        Tree {
            ranks,
            shape,
            order,
        }
    }

    pub(super) fn ranks(self) -> u32 {
        self.ranks
    }

    pub(super) fn position_of(self, rank: u32) -> u32 {
        match self.order {
            Order::From(first) if rank >= first => rank - first,
            Order::From(first) => rank + (self.ranks - first),
            Order::Descending => self.ranks - 1 - rank,
        }
    }

    pub(super) fn rank_at(self, position: u32) -> u32 {
        match self.order {
            Order::From(first) if position < self.ranks - first => position + first,
            Order::From(first) => position - (self.ranks - first),
            Order::Descending => self.ranks - 1 - position,
        }
    }

    /// Returns the position above `position`, which is not 0.
    pub(super) fn parent(self, position: u32) -> u32 {
        match self.shape {
            Shape::Chain => position - 1,
            Shape::Binary => {
                let lowest = u64::from(position & position.wrapping_neg());
                let below = u64::from(position) - lowest;
                // The parent is one bit higher up. If that position does not exist, the next one
                // above is to the left.
                let above = below | (lowest << 1);
                let parent = if above < u64::from(self.ranks) {
                    above
                } else {
                    below
                };
                parent as u32
            }
        }
    }

    /// Returns the positions below `position`, at most two, in ascending order.
    pub(super) fn children(self, position: u32) -> impl Iterator<Item = u32> {
        let (left, right) = match self.shape {
            Shape::Chain => (None, (position + 1 < self.ranks).then_some(position + 1)),
            Shape::Binary if position == 0 => (None, Some(1 << (self.ranks - 1).ilog2())),
            Shape::Binary => {
                let half = (position & position.wrapping_neg()) >> 1;
                let left = (half > 0).then(|| position - half);
                // An incomplete right subtree has its highest existing position as root.
                let last = self.ranks - 1 - position;
                let right = (half > 0 && last > 0).then(|| position + half.min(1 << last.ilog2()));
                (left, right)
            }
        };
        left.into_iter().chain(right)
    }

    pub(super) fn child_count(self, position: u32) -> u32 {
        self.children(position).count() as u32
    }

    /// Returns the hops between a position and the root.
    pub(super) fn depth(self, position: u32) -> u32 {
        match self.shape {
            Shape::Chain => position,
            Shape::Binary => {
                let mut depth = 0;
                let mut at = position;
                while at != 0 {
                    at = self.parent(at);
                    depth += 1;
                }
                depth
            }
        }
    }

    /// Returns the hops between the deepest position and the root.
    pub(super) fn height(self) -> u32 {
        match self.shape {
            Shape::Chain => self.ranks - 1,
            // Position 1, the leftmost leaf, is deepest.
            Shape::Binary => (self.ranks - 1).ilog2() + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn binary(ranks: u32) -> Tree {
        Tree::new(ranks, Shape::Binary, Order::From(0))
    }

    fn children(tree: Tree, position: u32) -> Vec<u32> {
        tree.children(position).collect()
    }

    #[test]
    fn eleven_positions_by_hand() {
        // 0 above 8, which has 4 (with 2 and 6) and 10 (with 9, and no 11) below.
        let tree = binary(11);
        let parents: Vec<_> = (1..11).map(|position| tree.parent(position)).collect();
        assert_eq!(parents, [2, 4, 2, 8, 6, 4, 6, 0, 10, 8]);
        assert_eq!(children(tree, 0), [8]);
        assert_eq!(children(tree, 8), [4, 10]);
        assert_eq!(children(tree, 10), [9]);
        assert_eq!(tree.height(), 4);
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let tree = Tree::new(u32::MAX, Shape::Binary, Order::From(u32::MAX - 1));
        assert_eq!(children(tree, 0), [1 << 31]);
        assert_eq!(tree.parent(u32::MAX - 1), u32::MAX - 3);
        assert_eq!(children(tree, u32::MAX - 3), [u32::MAX - 5, u32::MAX - 1]);
        assert_eq!(tree.position_of(5), 6);
        assert_eq!(tree.rank_at(6), 5);
    }

    proptest! {
        #[test]
        fn parents_and_children_agree(ranks in 2_u32..200, first in 0_u32..200) {
            for shape in [Shape::Chain, Shape::Binary] {
                for order in [Order::From(first % ranks), Order::Descending] {
                    let tree = Tree::new(ranks, shape, order);
                    let mut seen = vec![false; ranks as usize];
                    for position in 0..ranks {
                        prop_assert_eq!(tree.position_of(tree.rank_at(position)), position);
                        for child in tree.children(position) {
                            prop_assert_eq!(tree.parent(child), position);
                            prop_assert!(!std::mem::replace(&mut seen[child as usize], true));
                            prop_assert_eq!(tree.depth(child), tree.depth(position) + 1);
                        }
                    }
                    prop_assert!(!seen[0] && seen[1..].iter().all(|&found| found));
                    let deepest = (0..ranks).map(|position| tree.depth(position)).max();
                    prop_assert_eq!(deepest, Some(tree.height()));
                }
            }
        }
    }
}
