//! GOAL, the schedules of `LogGOPSim` and ATLAHS, as text and as binary files.
//!
//! A file has for each rank operations (`send`, `recv`, `calc`) and what they wait for: the end of
//! another operation (`requires`) or its start (`irequires`). Times are nanoseconds.
//!
//! Source: the grammar and the binary layout of `txt2bin` and `Parser.hpp` of `LogGOPSim` ("`LogGOPSim`:
//! simulating large-scale applications in the `LogGOPS` model", Hoefler, Schneider, Lumsdaine, 2010).

mod binary;
mod lexer;
mod text;
mod write;

use std::collections::BTreeMap;

use tenter_units::Time;
use tenter_workload::graph::{Graph, GraphBuilder, Operation, RankBuilder};

use crate::error::{ImportError, Place};

pub use write::write;

/// No file has more ranks.
const RANKS_MAX: u64 = 1 << 20;

/// A graph that has been read, and what is to be said of it.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The graph.
    pub graph: Graph,
    /// What was left out or is noteworthy, a sentence each.
    pub notes: Vec<String>,
}

/// Reads a text, or a binary file, which its first bytes tell.
///
/// # Errors
/// The first thing that is not as the format wants it, by its line or byte.
pub fn read(bytes: &[u8]) -> Result<Imported, ImportError> {
    if binary::is_binary(bytes) {
        return binary::read(bytes);
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => text::read(bytes),
        Err(error) => Err(ImportError::new(
            Place::Byte(error.valid_up_to()),
            "this is neither a text nor a binary GOAL file",
            "give a file that begins with `num_ranks`, or one that `txt2bin` has written",
        )),
    }
}

/// What is noted while a file is read, and the ranks of it.
struct Collected {
    builder: GraphBuilder,
    ranks: u32,
    /// Sends to ranks that there are not.
    sinks: u64,
    /// Operations on a NIC other than the first.
    other_nics: u64,
}

impl Collected {
    fn new(ranks: u32) -> Collected {
        Collected {
            builder: GraphBuilder::default(),
            ranks,
            sinks: 0,
            other_nics: 0,
        }
    }

    /// Adds a send; one to a rank beyond the last is a mark of the writer's and takes no time.
    fn send(
        &mut self,
        rank: &mut RankBuilder,
        (peer, bytes, tag): (u32, u64, u32),
        cpu: u32,
    ) -> u32 {
        if peer < self.ranks {
            return rank.add(Operation::Send { peer, bytes, tag }, cpu);
        }
        self.sinks += 1;
        rank.add(Operation::Compute { time: Time::ZERO }, cpu)
    }

    fn finish(self, end: Place) -> Result<Imported, ImportError> {
        let graph = self
            .builder
            .finish()
            .map_err(|error| ImportError::of(end, error))?;
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
type Labels<'t> = BTreeMap<&'t [u8], u32>;

/// A time of the file, in nanoseconds.
fn time_of(ns: u64) -> Option<Time> {
    ns.checked_mul(1_000).map(Time::from_ps)
}

#[cfg(test)]
mod tests;
