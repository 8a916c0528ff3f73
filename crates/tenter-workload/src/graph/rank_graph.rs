//! What a rank has besides its operations, as it is stored.

use std::ops::Range;

use super::edge::Edge;
use super::measured::MeasuredOperations;
use super::operation::{Follows, Stored};

/// What a rank has besides its operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RankGraph {
    /// The labels of its streams.
    pub(super) streams: Vec<u32>,
    /// What waits for those operations that several wait for: of each how many there are, and then
    /// the edges.
    pub(super) lists: Vec<u32>,
    pub(super) measured: MeasuredOperations,
}

impl RankGraph {
    /// Tells operations what waits for them: `edges` holds that of each, one operation after the
    /// other, and `first` where each begins and where the last ones end.
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

    /// What waits for an operation of the rank.
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

/// The places of what belongs to one of several, of which the first places are given, and the end.
pub(super) fn between(first: &[u32], of: u32) -> Range<usize> {
    let of = of as usize;
    first[of] as usize..first[of + 1] as usize
}
