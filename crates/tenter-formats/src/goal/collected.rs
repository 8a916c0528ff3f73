//! What is collected while a file is read, and the graph that comes of it.

use std::collections::HashMap;

use tenter_units::{Budget, Time};
use tenter_workload::graph::{Operation, RankBuilder};

use crate::error::{ImportError, Place};
use crate::imported::Imported;
use crate::taken_graph::TakenGraph;

/// No time is longer, in nanoseconds: more do not fit into 64 bits of picoseconds.
pub(super) const TIME_MAX: u64 = u64::MAX / 1_000;

/// What is noted while a file is read, and the ranks of it.
pub(super) struct Collected<'b> {
    pub(super) builder: TakenGraph<'b>,
    pub(super) ranks: u32,
    /// Sends to ranks that there are not.
    sinks: u64,
    /// Operations on a NIC other than the first.
    pub(super) other_nics: u64,
}

impl<'b> Collected<'b> {
    /// Of so many ranks.
    ///
    /// # Errors
    /// More ranks than the budget has.
    pub(super) fn new(
        ranks: u32,
        at: Place,
        budget: &'b Budget,
    ) -> Result<Collected<'b>, ImportError> {
        Ok(Collected {
            builder: TakenGraph::new(ranks, at, budget)?,
            ranks,
            sinks: 0,
            other_nics: 0,
        })
    }

    /// Adds a send; one to a rank beyond the last is a mark of the writer's and takes no time.
    pub(super) fn send(
        &mut self,
        rank: &mut RankBuilder,
        peer: u32,
        bytes: u64,
        tag: u32,
        cpu: u32,
    ) -> u32 {
        if peer < self.ranks {
            return rank.add(Operation::Send { peer, bytes, tag }, cpu);
        }
        self.sinks += 1;
        rank.add(Operation::Compute { time: Time::ZERO }, cpu)
    }

    pub(super) fn finish(self, end: Place) -> Result<Imported, ImportError> {
        let graph = self.builder.finish(end)?;
        let mut notes = Vec::new();
        if self.sinks > 0 {
            notes.push(format!(
                "{} send(s) to ranks beyond the last one are left out",
                self.sinks
            ));
        }
        if self.other_nics > 0 {
            notes.push(format!(
                "{} operation(s) name a `nic` other than 0, and use the NIC of their rank's host",
                self.other_nics
            ));
        }
        let unmatched = graph.unmatched();
        if let Some(error) = unmatched.iter().find(|of| of.received > of.sent) {
            return Err(ImportError::of(end, error));
        }
        let spare: u64 = unmatched.iter().map(|of| of.sent - of.received).sum();
        if spare > 0 {
            notes.push(format!(
                "{spare} message(s) have no receive; they arrive and nobody waits"
            ));
        }
        Ok(Imported { graph, notes })
    }
}

/// The place of an operation by its label.
pub(super) type Labels<'t> = HashMap<&'t [u8], u32>;
