//! What one rank does, as it is stored.

use std::ops::Range;

use super::measured::MeasuredOperations;
use super::operation::Stored;

/// What operations release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Edges {
    /// Where the edges of each operation begin, and at the end where the last ones end.
    pub(super) first: Vec<u32>,
    /// The operation that waits, and in the lowest bit whether for the start alone.
    pub(super) edges: Vec<u32>,
}

impl Edges {
    pub(super) fn edge(operation: u32, on_start: bool) -> u32 {
        operation << 1 | u32::from(on_start)
    }

    /// What waits for an operation, and whether for its start alone.
    pub(super) fn of(&self, operation: u32) -> impl Iterator<Item = (u32, bool)> + '_ {
        self.edges[between(&self.first, operation)]
            .iter()
            .map(|edge| (edge >> 1, edge & 1 == 1))
    }
}

/// What one rank does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RankGraph {
    pub(super) operations: Vec<Stored>,
    /// The labels of its streams.
    pub(super) streams: Vec<u32>,
    pub(super) edges: Edges,
    pub(super) measured: MeasuredOperations,
}

/// The places of what belongs to one of several, of which the first places are given, and the end.
pub(super) fn between(first: &[u32], of: u32) -> Range<usize> {
    let of = of as usize;
    first[of] as usize..first[of + 1] as usize
}
