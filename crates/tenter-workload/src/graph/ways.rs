//! Where ranks send to, and the places of what they send there in the order of posting.

use std::collections::BTreeMap;
use std::ops::Range;

use super::rank_graph::between;

/// Where a rank sends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    dst: u32,
    /// The first place of its messages among those of all ways, in the order of posting.
    base: u32,
}

/// The ways of all ranks, those of each ascending by destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ways {
    list: Vec<Way>,
    /// The first way of each rank, and at the end how many there are.
    first: Vec<u32>,
    /// How many messages there are.
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
    /// Adds the rank that comes next: how many messages it sends to each destination.
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

    /// How many ways a rank has.
    pub(super) fn count(&self, rank: u32) -> usize {
        self.of(rank).len()
    }

    fn of(&self, rank: u32) -> &[Way] {
        &self.list[between(&self.first, rank)]
    }

    /// The destinations of a rank, ascending, each with how many messages go there.
    pub(super) fn counts(&self, rank: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let own = (0..).zip(self.of(rank));
        own.map(move |(way, of)| (of.dst, self.places(rank, way).len() as u32))
    }

    /// The number of the way to another rank among those of a rank.
    pub(super) fn to(&self, rank: u32, dst: u32) -> Option<usize> {
        self.of(rank).binary_search_by_key(&dst, |way| way.dst).ok()
    }

    /// The places of the messages of a way.
    pub(super) fn places(&self, rank: u32, way: usize) -> Range<u32> {
        let way = self.first[rank as usize] as usize + way;
        let end = self.list.get(way + 1);
        self.list[way].base..end.map_or(self.messages, |way| way.base)
    }
}
