//! Builder for an operation graph that charges ranks and memory to a budget.

use tenter_language::units::Budget;
use tenter_workload::graph::{Collectives, Graph, GraphBuilder, RankBuilder};

use crate::error::{ImportError, Place};

/// Assembles a file's ranks into a graph, as far as the budget allows.
#[derive(Debug)]
pub(crate) struct TakenGraph<'b> {
    builder: GraphBuilder,
    budget: &'b Budget,
}

impl<'b> TakenGraph<'b> {
    /// Starts a graph with `ranks` ranks.
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

    /// Returns rank groups with their collectives.
    pub(crate) fn collectives(&mut self) -> &mut Collectives {
        &mut self.builder.collectives
    }

    /// Adds the next rank.
    ///
    /// # Errors
    /// More memory than the budget has, and errors from [`GraphBuilder::add`].
    pub(crate) fn add(&mut self, rank: RankBuilder, at: Place) -> Result<(), ImportError> {
        let taken = self.budget.take(rank.stored_bytes());
        let taken = taken.and_then(|()| self.budget.work(rank.len() as u64));
        taken.map_err(|over| ImportError::of(at, over))?;
        let added = self.builder.add(rank);
        added.map_err(|error| ImportError::of(at, error))
    }

    /// Completes the graph.
    ///
    /// # Errors
    /// Errors from [`GraphBuilder::finish`].
    pub(crate) fn finish(self, at: Place) -> Result<Graph, ImportError> {
        let graph = self.builder.finish();
        graph.map_err(|error| ImportError::of(at, error))
    }
}
