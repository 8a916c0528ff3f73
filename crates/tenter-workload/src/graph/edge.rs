//! Who waits for whom among the operations of a rank.

/// An operation that waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge(u32);

impl Edge {
    pub(super) fn new(operation: u32, on_start: bool) -> Edge {
        Edge(operation << 1 | u32::from(on_start))
    }

    /// From how it is stored.
    pub(super) fn stored(word: u32) -> Edge {
        Edge(word)
    }

    /// As it is stored.
    pub(super) fn word(self) -> u32 {
        self.0
    }

    /// The operation that waits.
    pub(super) fn operation(self) -> u32 {
        self.0 >> 1
    }

    /// Whether it waits for the start alone.
    pub(super) fn on_start(self) -> bool {
        self.0 & 1 == 1
    }
}
