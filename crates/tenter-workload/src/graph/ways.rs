//! Rank pairs that exchange messages, and places for the order in which messages are posted.

use std::collections::BTreeMap;
use std::ops::Range;

use super::rank_graph::between;

/// One destination of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    dst: u32,
    /// First place for its messages. Places for all pairs form one array, each pair's in posting
    /// order.
    base: u32,
}

/// All ranks' destinations, ascending for each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ways {
    list: Vec<Way>,
    /// Each rank's first index in `list`, and at the end the list's length.
    first: Vec<u32>,
    /// Message count, which is where the last pair's places end.
    messages: u32,
}

impl Default for Ways {
    fn default() -> Ways {
        Ways {
            list: Vec::new(),
            first: vec![0],
            messages: 0,
        }
    }
}

impl Ways {
    /// Adds the next rank with its message count for each destination.
    pub(super) fn push(&mut self, counts: &BTreeMap<u32, u32>) {
        for (&dst, &count) in counts {
            self.list.push(Way {
                dst,
                base: self.messages,
            });
            self.messages += count;
        }
        self.first.push(self.list.len() as u32);
    }

    /// Counts the destinations to which a rank sends.
    pub(super) fn count(&self, rank: u32) -> usize {
        self.of(rank).len()
    }

    fn of(&self, rank: u32) -> &[Way] {
        &self.list[between(&self.first, rank)]
    }

    /// Iterates over a rank's destinations, ascending, each with its message count.
    pub(super) fn counts(&self, rank: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let own = (0..).zip(self.of(rank));
        own.map(move |(way, of)| (of.dst, self.places(rank, way).len() as u32))
    }

    /// Returns the index of `dst` among a rank's destinations.
    pub(super) fn to(&self, rank: u32, dst: u32) -> Option<usize> {
        self.of(rank).binary_search_by_key(&dst, |way| way.dst).ok()
    }

    /// Returns the places of the messages to the destination with index `way`.
    pub(super) fn places(&self, rank: u32, way: usize) -> Range<u32> {
        let way = self.first[rank as usize] as usize + way;
        // The base of the next pair is the end of this one, across ranks too.
        let end = self.list.get(way + 1);
        self.list[way].base..end.map_or(self.messages, |way| way.base)
    }
}
