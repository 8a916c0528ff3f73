//! Communicators of a graph, and the collectives that their ranks run one after the other.

use std::collections::BTreeMap;

use super::algorithms::{Algorithms, CollectiveName};
use super::collectives::Collectives;
use super::error::GraphError;
use crate::collective::CollectiveKind;

/// A group of two ranks or more in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Communicator {
    number: u32,
    size: u32,
}

impl Communicator {
    /// How many ranks it has.
    pub fn size(self) -> u32 {
        self.size
    }
}

/// The communicators of a graph while it is put together, rank by rank.
#[derive(Debug)]
pub struct Communicators<'a> {
    algorithms: &'a Algorithms,
    /// What carries out collectives, as far as they were met.
    kinds: BTreeMap<(CollectiveName, u32, u64), CollectiveKind>,
    /// The groups, by their ranks and what tells each from others of the same ranks.
    known: BTreeMap<(Vec<u32>, u32), Communicator>,
    /// How many collectives of each group the rank runs so far.
    run: BTreeMap<u32, u32>,
}

impl<'a> Communicators<'a> {
    /// None yet.
    pub fn new(algorithms: &'a Algorithms) -> Communicators<'a> {
        Communicators {
            algorithms,
            kinds: BTreeMap::new(),
            known: BTreeMap::new(),
            run: BTreeMap::new(),
        }
    }

    /// The communicator of these ranks, in their order; none of a rank alone.
    ///
    /// # Errors
    /// A rank that is there twice.
    pub fn of(
        &mut self,
        collectives: &mut Collectives,
        ranks: Vec<u32>,
    ) -> Result<Option<Communicator>, GraphError> {
        self.of_tag(collectives, ranks, 0)
    }

    /// The communicator of these ranks with this tag, whose collectives are beside those of others
    /// of the same ranks; none of a rank alone.
    ///
    /// # Errors
    /// A rank that is there twice.
    pub fn of_tag(
        &mut self,
        collectives: &mut Collectives,
        ranks: Vec<u32>,
        tag: u32,
    ) -> Result<Option<Communicator>, GraphError> {
        if ranks.len() < 2 {
            return Ok(None);
        }
        let key = (ranks, tag);
        if let Some(known) = self.known.get(&key) {
            return Ok(Some(*known));
        }
        let added = Communicator {
            size: key.0.len() as u32,
            number: collectives.add_group(key.0.clone())?,
        };
        self.known.insert(key, added);
        Ok(Some(added))
    }

    /// What follows is of another rank.
    pub fn begin_rank(&mut self) {
        self.run.clear();
    }

    /// The next collective of a communicator at a rank: the numbers of group and collective.
    ///
    /// # Errors
    /// Those of [`Collectives::add`].
    pub fn add(
        &mut self,
        collectives: &mut Collectives,
        rank: u32,
        of: Communicator,
        name: CollectiveName,
        bytes: u64,
    ) -> Result<(u32, u32), GraphError> {
        let kind = self.kinds.entry((name, of.size, bytes));
        let kind = kind.or_insert_with(|| self.algorithms.kind(name, of.size, bytes));
        next(&mut self.run, collectives, rank, of, kind, bytes)
    }

    /// The same with a way to carry it out of its own.
    ///
    /// # Errors
    /// Those of [`Collectives::add`].
    pub fn add_own(
        &mut self,
        collectives: &mut Collectives,
        rank: u32,
        of: Communicator,
        kind: &CollectiveKind,
        bytes: u64,
    ) -> Result<(u32, u32), GraphError> {
        next(&mut self.run, collectives, rank, of, kind, bytes)
    }
}

/// Adds the next collective of a communicator at a rank.
fn next(
    run: &mut BTreeMap<u32, u32>,
    collectives: &mut Collectives,
    rank: u32,
    of: Communicator,
    kind: &CollectiveKind,
    bytes: u64,
) -> Result<(u32, u32), GraphError> {
    let nth = run.entry(of.number).or_default();
    let which = collectives.add(of.number, *nth, rank, kind, bytes)?;
    *nth += 1;
    Ok((of.number, which))
}
