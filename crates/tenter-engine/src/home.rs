//! Node addresses: a partition (one thread's share) and the node's number in it.

use std::fmt;

/// A node's number within its partition; the topology numbers the same node differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct LocalNode(u32);

impl LocalNode {
    /// Makes the node with this number, counted from 0.
    #[inline]
    #[must_use]
    pub const fn new(number: u32) -> LocalNode {
        LocalNode(number)
    }

    /// The number, counted from 0 within the partition.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The number as an index into lists over the partition's nodes.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Iterates over nodes 0 to `count` − 1.
    pub fn first(count: usize) -> impl Iterator<Item = LocalNode> {
        (0..count as u32).map(LocalNode)
    }
}

impl fmt::Display for LocalNode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

/// A node's address: the partition that owns it, and its number there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Home {
    /// Index of the partition, which is also that of its thread.
    pub part: u16,
    /// The node's number within the partition.
    pub node: LocalNode,
}
