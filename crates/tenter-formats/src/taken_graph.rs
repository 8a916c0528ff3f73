//! A graph while it is read, whose ranks are taken from a budget.

use tenter_units::Budget;
use tenter_workload::graph::{Collectives, Graph, GraphBuilder, RankBuilder};

use crate::error::{ImportError, Place};

/// Puts the ranks of a file together, as far as the budget allows.
#[derive(Debug)]
pub(crate) struct TakenGraph<'b> {
    builder: GraphBuilder,
    budget: &'b Budget,
}

impl<'b> TakenGraph<'b> {
    /// Of so many ranks.
    ///
    /// # Errors
    /// More ranks than the budget has.
    pub(crate) fn new(
        ranks: u32,
        at: Place,
        budget: &'b Budget,
    ) -> Result<TakenGraph<'b>, ImportError> {
        let allowed = budget.ranks(ranks.into());
        allowed.map_err(|over| ImportError::of(at, over))?;
        Ok(TakenGraph {
            builder: GraphBuilder::default(),
            budget,
        })
    }

    /// The groups of ranks, and their collectives.
    pub(crate) fn collectives(&mut self) -> &mut Collectives {
        &mut self.builder.collectives
    }

    /// Adds the rank that comes next.
    ///
    /// # Errors
    /// More memory than the budget has, and those of [`GraphBuilder::add`].
    pub(crate) fn add(&mut self, rank: RankBuilder, at: Place) -> Result<(), ImportError> {
        let taken = self.budget.take(rank.stored_bytes());
        let taken = taken.and_then(|()| self.budget.work(rank.len() as u64));
        taken.map_err(|over| ImportError::of(at, over))?;
        let added = self.builder.add(rank);
        added.map_err(|error| ImportError::of(at, error))
    }

    /// The graph.
    ///
    /// # Errors
    /// Those of [`GraphBuilder::finish`].
    pub(crate) fn finish(self, at: Place) -> Result<Graph, ImportError> {
        let graph = self.builder.finish();
        graph.map_err(|error| ImportError::of(at, error))
    }
}
