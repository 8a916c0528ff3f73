//! Edges between a rank's operations: one operation waits for another.

/// An edge in the list kept for the operation that is waited for: it names the waiting operation.
///
/// One word: the waiting operation's place shifted left by 1; bit 0 is set if it waits only for the
/// start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge(u32);

impl Edge {
    pub(super) fn new(operation: u32, on_start: bool) -> Edge {
        Edge(operation << 1 | u32::from(on_start))
    }

    /// Reads an edge from its stored word.
    pub(super) fn stored(word: u32) -> Edge {
        Edge(word)
    }

    /// Returns the word that the graph stores for the edge.
    pub(super) fn word(self) -> u32 {
        self.0
    }

    /// Returns the waiting operation's place within its rank.
    pub(super) fn operation(self) -> u32 {
        self.0 >> 1
    }

    /// Returns true if the waiting operation may begin once the other one has started.
    pub(super) fn on_start(self) -> bool {
        self.0 & 1 == 1
    }
}
