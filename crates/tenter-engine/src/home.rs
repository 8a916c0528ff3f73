//! Where a node lives.

use std::fmt;

/// The number of a node among those of its part. The same node has another number in the topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct LocalNode(u32);

impl LocalNode {
    /// The node with this number.
    #[inline]
    #[must_use]
    pub const fn new(number: u32) -> LocalNode {
        LocalNode(number)
    }

    /// Its number.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Its place in a list of the nodes of its part.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The first nodes of a part.
    pub fn first(count: usize) -> impl Iterator<Item = LocalNode> {
        (0..count as u32).map(LocalNode)
    }
}

impl fmt::Display for LocalNode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

/// The part (thread) that owns a node, and the node there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Home {
    /// The part.
    pub part: u16,
    /// The node's number within it.
    pub node: LocalNode,
}
