//! State of a GOAL reader, and the graph with its notes.

use std::collections::HashMap;

use tenter_language::units::{Budget, Time};
use tenter_workload::graph::{Operation, RankBuilder};

use crate::error::{ImportError, Place};
use crate::imported::Imported;
use crate::taken_graph::TakenGraph;

/// Longest time in nanoseconds: a longer one does not fit into 64 bits of picoseconds.
pub(super) const TIME_MAX: u64 = u64::MAX / 1_000;

/// The ranks of a file while it is read, with counts for notes.
pub(super) struct Collected<'b> {
    pub(super) builder: TakenGraph<'b>,
    pub(super) ranks: u32,
    /// Sends to ranks beyond the last one.
    sinks: u64,
    /// Operations that name another NIC than the first one.
    pub(super) other_nics: u64,
}

impl<'b> Collected<'b> {
    /// Starts a graph of `ranks` ranks.
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

    /// Adds a send, and returns its place. Writers use sends to ranks beyond the last one as
    /// markers; they become operations without duration.
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

    /// Completes the graph, and refuses receives that no send matches.
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
        // Without a send the receive would wait for ever; the reverse is only noted.
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

/// The place of each labelled operation.
pub(super) type Labels<'t> = HashMap<&'t [u8], u32>;
