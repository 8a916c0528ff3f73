//! A rank's data beside its operations: streams, edge lists and recorded times.

use std::ops::Range;

use super::edge::Edge;
use super::measured::MeasuredOperations;
use super::operation::{Follows, Stored};

/// A rank's data beside its operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RankGraph {
    /// Labels of its streams, by stream index.
    pub(super) streams: Vec<u32>,
    /// Edge lists for operations with several followers: the length, and then the edges' words. A
    /// single follower is stored in the operation itself.
    pub(super) lists: Vec<u32>,
    pub(super) measured: MeasuredOperations,
}

impl RankGraph {
    /// Stores each operation's followers. `edges` holds them grouped by operation; `first` has each
    /// group's index and the end.
    pub(super) fn set_followers(
        &mut self,
        operations: &mut [Stored],
        first: &[u32],
        edges: &[Edge],
    ) {
        for (place, stored) in (0..).zip(operations) {
            let own = &edges[between(first, place)];
            (stored.follows, stored.follower) = match own {
                [] => (Follows::Nothing, 0),
                // A single follower is stored inline, which saves a list and a cache miss.
                [one] => (Follows::One, one.word()),
                _ => {
                    let list = self.lists.len() as u32;
                    self.lists.push(own.len() as u32);
                    self.lists.extend(own.iter().map(|edge| edge.word()));
                    let some_on_start = own.iter().any(|edge| edge.on_start());
                    let follows = if some_on_start {
                        Follows::SeveralSomeOnStart
                    } else {
                        Follows::Several
                    };
                    (follows, list)
                }
            };
        }
        self.lists.shrink_to_fit();
    }

    /// Iterates over the edges to operations that wait for `operation`.
    pub(super) fn followers<'a>(
        &'a self,
        operation: &'a Stored,
    ) -> impl Iterator<Item = Edge> + 'a {
        let (word, mut edges) = (&operation.follower, [].as_slice());
        match operation.follows {
            Follows::Nothing => {}
            Follows::One => edges = std::slice::from_ref(word),
            Follows::Several | Follows::SeveralSomeOnStart => {
                let first = *word as usize + 1;
                edges = &self.lists[first..first + self.lists[first - 1] as usize];
            }
        }
        edges.iter().copied().map(Edge::stored)
    }
}

/// Returns the range of group `of`; `first` holds the index of each group, and the end.
pub(super) fn between(first: &[u32], of: u32) -> Range<usize> {
    let of = of as usize;
    first[of] as usize..first[of + 1] as usize
}
