//! The operations of all ranks, as they are stored.

use super::operation::{Operation, Stored};
use super::rank_graph::between;

/// The operations of all ranks in one list, so that a rank's part of the graph is found without
/// looking at more than where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operations {
    list: Vec<Stored>,
    /// Where the operations of each rank begin, and at the end where the last ones end.
    first: Vec<u32>,
}

impl Default for Operations {
    fn default() -> Operations {
        Operations {
            list: Vec::new(),
            first: vec![0],
        }
    }
}

impl Operations {
    /// Adds those of the rank that comes next; together they can be numbered.
    pub(super) fn push(&mut self, of_rank: &[Stored]) {
        self.list.extend_from_slice(of_rank);
        self.first.push(self.list.len() as u32);
    }

    /// Gives back the memory that further ranks would have taken.
    pub(super) fn shrink(&mut self) {
        self.list.shrink_to_fit();
    }

    /// How many ranks there are.
    pub(super) fn ranks(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Stored] {
        &self.list
    }

    /// Those of a rank.
    pub(super) fn of(&self, rank: u32) -> &[Stored] {
        &self.list[between(&self.first, rank)]
    }

    pub(super) fn of_mut(&mut self, rank: u32) -> &mut [Stored] {
        &mut self.list[between(&self.first, rank)]
    }

    /// One of them.
    pub(super) fn get(&self, rank: u32, place: u32) -> &Stored {
        &self.list[(self.first[rank as usize] + place) as usize]
    }

    /// The ranks with their operations.
    pub(super) fn by_rank(&self) -> impl Iterator<Item = (u32, &[Stored])> {
        (0..self.ranks()).map(|rank| (rank, self.of(rank)))
    }
}

/// The message of a send to another rank: all that is asked for of it while it is under way, so
/// that its operation need not be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) bytes: u64,
    pub(super) src: u32,
    pub(super) dst: u32,
    /// The place of the send among the operations of its rank.
    pub(super) place: u32,
    /// The receive that takes it whatever happens; [`Operation::ANY`] where there is none.
    pub(super) receive: u32,
}

impl Message {
    /// The receive that takes it whatever happens.
    pub(super) fn known_receive(&self) -> Option<u32> {
        Operation::unless_any(self.receive)
    }
}
