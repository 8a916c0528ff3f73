//! A graph's communicators: rank groups, and a running count for each group's collectives.

use std::collections::BTreeMap;

use super::algorithms::{Algorithms, CollectiveName};
use super::collectives::Collectives;
use super::error::GraphError;
use crate::collective::CollectiveKind;

/// A group with at least two ranks in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Communicator {
    number: u32,
    size: u32,
}

impl Communicator {
    /// Returns the group's rank count.
    pub fn size(self) -> u32 {
        self.size
    }
}

/// A graph's communicators while an importer adds ranks one by one.
#[derive(Debug)]
pub struct Communicators<'a> {
    algorithms: &'a Algorithms,
    /// Algorithms looked up so far, by collective, group size and bytes.
    kinds: BTreeMap<(CollectiveName, u32, u64), CollectiveKind>,
    /// Communicators by their ranks, and by the tag that tells apart those with the same ranks.
    known: BTreeMap<(Vec<u32>, u32), Communicator>,
    /// Collectives that the current rank has run so far in each group.
    run: BTreeMap<u32, u32>,
}

impl<'a> Communicators<'a> {
    /// Starts without communicators; `algorithms` carry out the collectives.
    pub fn new(algorithms: &'a Algorithms) -> Communicators<'a> {
        Communicators {
            algorithms,
            kinds: BTreeMap::new(),
            known: BTreeMap::new(),
            run: BTreeMap::new(),
        }
    }

    /// Returns the communicator for `ranks` in this order, adding its group if it is new; `None`
    /// for fewer than two ranks.
    ///
    /// # Errors
    /// A rank that is listed twice.
    pub fn of(
        &mut self,
        collectives: &mut Collectives,
        ranks: Vec<u32>,
    ) -> Result<Option<Communicator>, GraphError> {
        self.of_tag(collectives, ranks, 0)
    }

    /// Does as [`Communicators::of`] for a communicator with a tag. Communicators with the same
    /// ranks and different tags run their collectives independently.
    ///
    /// # Errors
    /// A rank that is listed twice.
    pub fn of_tag(
        &mut self,
        collectives: &mut Collectives,
        ranks: Vec<u32>,
        tag: u32,
    ) -> Result<Option<Communicator>, GraphError> {
        // A rank alone has no peer, so importers drop its collectives.
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

    /// Begins the next rank: its collectives are counted from 0 again.
    pub fn begin_rank(&mut self) {
        self.run.clear();
    }

    /// Adds `rank`'s next collective in a communicator, by the algorithm that the scenario chooses
    /// for it. Returns the group's and the collective's numbers.
    ///
    /// # Errors
    /// The errors of [`Collectives::add`].
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

    /// Does as [`Communicators::add`] with an algorithm that the caller chooses.
    ///
    /// # Errors
    /// The errors of [`Collectives::add`].
    pub(crate) fn add_own(
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

/// Counts the collective and adds it, or finds it if another rank in the group has added it.
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
