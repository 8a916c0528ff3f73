//! Framework traces: numbered operations for each rank, which wait for each other by number.
//!
//! ```text
//!   reader of a format ─ RankTrace of each rank ─▶ Traces ─▶ graph, and notes
//! ```

mod groups;
mod rank;

use std::collections::BTreeMap;

use tenter_language::units::{Budget, Time};
use tenter_workload::graph::{
    Algorithms, CollectiveName, Communicator, Communicators, Operation, RankBuilder,
};
use tenter_workload::spec::{Dependencies, TraceReading};

use crate::error::{ImportError, Place, Wrong};
use crate::imported::Imported;
use crate::taken_graph::TakenGraph;

use groups::Regular;
pub(crate) use groups::{Groups, NAME_RANKS};
use rank::{Circle, TraceNode};
pub(crate) use rank::{RankTrace, What};

/// A rank's streams. Each carries out one operation at a time, in the order in which they could
/// start.
pub(crate) mod stream {
    /// Stream for compute kernels.
    pub(crate) const COMPUTE: u32 = 0;
    /// Stream for communication kernels, unless the recording has several.
    pub(crate) const COMMUNICATION: u32 = 1;
    /// Stream for work on the CPU.
    pub(crate) const CPU: u32 = 2;
    /// Stream for copies between memories.
    pub(crate) const MEMORY: u32 = 3;
    /// Stream for operations without duration.
    pub(crate) const NOTHING: u32 = 4;
    /// First number for streams of a recording …
    pub(crate) const OTHERS: u32 = 5;
    /// … and first number for streams of messages that are under way together.
    pub(crate) const MESSAGES: u32 = 1 << 20;
}

/// Relation between traces and ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// Each rank has a trace.
    No,
    /// All ranks repeat one trace, whose rank is unknown.
    Unknown,
    /// All ranks repeat the trace of this rank, each in its own groups.
    Of(u32),
}

const UNKNOWN_ROOT: &str = "broadcasts, reduces, gathers and scatters have a root that is not recorded, or are repeated for all ranks, and are taken as from the first rank of their group";

/// Traces of all ranks while they become a graph.
pub(crate) struct Traces<'r> {
    dependencies: Dependencies,
    /// Computing speed for operations without a duration, in 10⁹ per second.
    peak_gflops: Option<u32>,
    repeats: Repeats,
    builder: TakenGraph<'r>,
    ranks: u32,
    /// Communicators that the trace has named so far.
    pub(crate) groups: Groups,
    communicators: Communicators<'r>,
    /// Communicators in the graph, by group number and first rank; `None` for a rank alone.
    known: BTreeMap<(u32, u32), Option<Communicator>>,
    /// Shape of each group, if one trace is repeated for all ranks.
    regular: BTreeMap<u32, Regular>,
    /// Occurrences of each countable note.
    counted: BTreeMap<&'static str, u64>,
    /// Notes on the whole trace, which have no count.
    notes: Vec<&'static str>,
}

/// A collective as a trace operation names it; `bytes` is a rank's own part.
#[derive(Clone, Copy)]
struct Called {
    name: CollectiveName,
    bytes: u64,
    group: u32,
}

impl<'r> Traces<'r> {
    /// Starts the traces of `ranks` ranks.
    ///
    /// # Errors
    /// More ranks than the budget has.
    pub(crate) fn new(
        ranks: u32,
        reading: &'r TraceReading,
        budget: &'r Budget,
    ) -> Result<Traces<'r>, ImportError> {
        let is_repeated = reading.ranks.is_some_and(|ranks| ranks > 1);
        let repeats = if is_repeated {
            Repeats::Unknown
        } else {
            Repeats::No
        };
        let traces = Traces::of_calls(ranks, repeats, &reading.algorithms, budget)?;
        Ok(Traces {
            dependencies: reading.dependencies,
            peak_gflops: reading.peak_gflops,
            ..traces
        })
    }

    /// Starts the traces of `ranks` recordings, whose operations wait for exactly what each one
    /// lists.
    ///
    /// # Errors
    /// More ranks than the budget has.
    pub(crate) fn of_calls(
        ranks: u32,
        repeats: Repeats,
        algorithms: &'r Algorithms,
        budget: &'r Budget,
    ) -> Result<Traces<'r>, ImportError> {
        Ok(Traces {
            dependencies: Dependencies::Data,
            peak_gflops: None,
            repeats,
            builder: TakenGraph::new(ranks, Place::Byte(0), budget)?,
            ranks,
            groups: Groups::default(),
            communicators: Communicators::new(algorithms),
            known: BTreeMap::new(),
            regular: BTreeMap::new(),
            counted: BTreeMap::new(),
            notes: Vec::new(),
        })
    }

    /// Adds a note about the whole trace: a sentence without full stop.
    pub(crate) fn note(&mut self, what: &'static str) {
        if !self.notes.contains(&what) {
            self.notes.push(what);
        }
    }

    /// Counts `times` occurrences for a note: a sentence that will begin with the number.
    pub(crate) fn count(&mut self, what: &'static str, times: u64) {
        if times > 0 {
            *self.counted.entry(what).or_default() += times;
        }
    }

    /// Returns the computing speed in 10⁹ operations per second, if it is given.
    pub(crate) fn peak_gflops(&self) -> Option<u32> {
        self.peak_gflops
    }

    /// Returns true if one trace stands for all ranks.
    pub(crate) fn is_repeated(&self) -> bool {
        self.repeats != Repeats::No
    }

    /// Returns the number of ranks.
    pub(crate) fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Adds the next rank.
    ///
    /// # Errors
    /// Operations that wait for themselves, an unknown communicator or one without this rank, and
    /// collectives that differ from those of other ranks.
    pub(crate) fn add(
        &mut self,
        rank: u32,
        mut trace: RankTrace,
        end: Place,
    ) -> Result<(), ImportError> {
        let waits = trace.put_in_order(self.dependencies);
        let waits = waits.map_err(|circle| waits_for_itself(rank, &circle, end))?;
        self.count(
            "operations have the number of another one and are left out",
            waits.repeated,
        );
        let mut built = RankBuilder::default();
        self.communicators.begin_rank();
        for node in &trace.nodes {
            let (stream, what) = (node.stream, node.what);
            let mut measured = node.measured;
            let place = match what {
                // It stays an operation, since others may wait for it.
                What::Nothing => {
                    built.add(Operation::Compute { time: Time::ZERO }, stream::NOTHING)
                }
                What::Compute(time) => built.add(Operation::Compute { time }, stream),
                What::Wait(time) => built.add(Operation::Wait { time }, stream),
                What::Send { peer, bytes, tag } => {
                    built.add(Operation::Send { peer, bytes, tag }, stream)
                }
                What::Receive { peer, bytes, tag } => {
                    let (peer, tag) = (Some(peer), Some(tag));
                    built.add(Operation::Receive { peer, bytes, tag }, stream)
                }
                What::Collective { name, bytes, group } => {
                    let called = Called { name, bytes, group };
                    let added = self.collective(&mut built, rank, node, called, end)?;
                    // A collective of a rank alone takes no time, so its recorded time has no
                    // counterpart.
                    measured = measured.filter(|_| added.is_some());
                    let nothing = Operation::Compute { time: Time::ZERO };
                    added.unwrap_or_else(|| built.add(nothing, stream::NOTHING))
                }
            };
            if let Some(measured) = measured {
                built.measured(place, measured);
            }
        }
        self.count(
            "waits for operations that the trace does not have are left out",
            waits.missing,
        );
        for (place, other) in waits.list {
            built.after(place, other);
        }
        self.builder.add(built, end)
    }

    /// Returns the communicator of a group in the graph; `None` for a rank alone.
    fn communicator(
        &mut self,
        rank: u32,
        id: u64,
        group: u32,
        end: Place,
    ) -> Result<Option<Communicator>, ImportError> {
        let unknown = |wrong: Wrong| wrong.of(&format!("node {id}")).at(end);
        let mut own = None;
        // The recorded group belongs to one rank. The others get groups of the same shape.
        if let Repeats::Of(recorded) = self.repeats {
            let regular = if let Some(regular) = self.regular.get(&group) {
                *regular
            } else {
                let ranks = self.groups.ranks_of(group, self.ranks).map_err(unknown)?;
                Regular::of(&ranks, recorded, self.ranks).map_err(unknown)?
            };
            self.regular.insert(group, regular);
            own = Some(regular.first(rank)).map(|first| (regular, first));
        }
        let first = own.map_or(0, |(_, first)| first);
        if let Some(known) = self.known.get(&(group, first)) {
            return Ok(*known);
        }
        let ranks = match own {
            Some((regular, first)) => regular.ranks(first, self.ranks).map_err(unknown)?,
            None => self.groups.ranks_of(group, self.ranks).map_err(unknown)?,
        };
        if let Some(beyond) = ranks.iter().find(|&&rank| rank >= self.ranks) {
            let what = format!(
                "node {id}: its communicator has rank {beyond}, and there are traces of {} ranks",
                self.ranks
            );
            let remedy = "give the traces of all ranks, or `ranks` to repeat that of one";
            return Err(ImportError::new(end, what, remedy));
        }
        // Groups that were counted when they were made are not counted again.
        if own.is_some() || !self.groups.is_kept(group) {
            self.groups.keep(ranks.len()).map_err(unknown)?;
        }
        let tag = self.groups.tag(group);
        let found = self
            .communicators
            .of_tag(self.builder.collectives(), ranks, tag);
        let found = found.map_err(|error| ImportError::of(end, error))?;
        self.known.insert((group, first), found);
        Ok(found)
    }

    /// Adds a collective and returns its place; `None` for a rank alone.
    fn collective(
        &mut self,
        built: &mut RankBuilder,
        rank: u32,
        node: &TraceNode,
        called: Called,
        end: Place,
    ) -> Result<Option<u32>, ImportError> {
        let (id, stream) = (node.id, node.stream);
        let Called { name, bytes, group } = called;
        let Some(communicator) = self.communicator(rank, id, group, end)? else {
            self.count("collectives are of a rank alone and take no time", 1);
            return Ok(None);
        };
        let bytes = name.size_of_own(bytes, communicator.size()).max(1);
        let collectives = self.builder.collectives();
        let added = self
            .communicators
            .add(collectives, rank, communicator, name, bytes);
        let added = added.map_err(|error| {
            let error = ImportError::of(end, error);
            ImportError {
                what: format!("node {id}: {}", error.what),
                ..error
            }
        })?;
        let (group, which) = added;
        Ok(Some(built.add_collective(group, which, stream)))
    }

    /// Returns the group whose order begins with a collective's root, which is at place `root`.
    /// Algorithms take the first rank as root.
    ///
    /// # Errors
    /// Errors from [`Groups::of_ranks`].
    pub(crate) fn rooted(
        &mut self,
        name: CollectiveName,
        group: u32,
        root: Option<u64>,
    ) -> Result<u32, Wrong> {
        use CollectiveName::{Broadcast, Gather, Reduce, Scatter};
        if !matches!(name, Broadcast | Gather | Reduce | Scatter) {
            return Ok(group);
        }
        // In a repeated trace the other ranks' groups follow from the regular order, which has no
        // root.
        let found = match root {
            Some(0) => Some(group),
            Some(root) if !self.is_repeated() => self.groups.rooted(group, root, self.ranks)?,
            _ => None,
        };
        // Guess: an unknown root is the first rank.
        Ok(found.unwrap_or_else(|| {
            self.count(UNKNOWN_ROOT, 1);
            group
        }))
    }

    /// Completes the graph.
    ///
    /// # Errors
    /// Errors from [`GraphBuilder::finish`].
    pub(crate) fn finish(self) -> Result<Imported, ImportError> {
        let graph = self.builder.finish(Place::Byte(0))?;
        // Sorted by text, so notes have one order in all runs.
        let counted = self.counted.into_iter();
        let counted = counted.map(|(what, times)| format!("{times} {what}"));
        let notes = self.notes.into_iter().map(str::to_owned);
        Ok(Imported {
            graph,
            notes: notes.chain(counted).collect(),
        })
    }
}

/// Most operations of a circle that a message lists.
const LISTED: usize = 8;

/// Returns the error for operations that wait for each other in a circle.
fn waits_for_itself(rank: u32, Circle(ids): &Circle, end: Place) -> ImportError {
    let listed = ids.iter().take(LISTED).map(u64::to_string);
    let listed = listed.collect::<Vec<_>>().join(", ");
    let more = match ids.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = format!(
        "operations of rank {rank} wait for each other in a circle: nodes {listed}{more}, each for \
         the next one"
    );
    ImportError::new(end, what, "leave one of these waits out")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MEMBERS_MAX;

    #[test]
    fn ranks_of_groups_count_once_and_limits_have_their_own_remedy() {
        let algorithms = Algorithms::default();
        let half = MEMBERS_MAX as u32 / 2 + 1;
        let budget = Budget::unlimited();
        let traces = Traces::of_calls(half, Repeats::No, &algorithms, &budget);
        let mut traces = traces.expect("there is no limit");
        let ranks: Vec<u32> = (0..half).collect();
        let group = traces.groups.of_ranks("one", ranks.clone());
        let group = group.expect("it is half of what is kept");
        let found = traces.communicator(0, 0, group, Place::Json);
        assert!(found.is_ok_and(|found| found.is_some_and(|of| of.size() == half)));
        let more = traces.groups.of_ranks("two", ranks);
        let more = more.expect_err("it is above the half").at(Place::Json);
        assert!(
            more.to_string()
                .ends_with("together; give a part of it, with fewer communicators")
        );
        let unknown = traces.groups.number("three");
        let unknown = traces.communicator(0, 5, unknown, Place::Json);
        let unknown = unknown.expect_err("it is named alone").to_string();
        assert!(unknown.contains("node 5: nothing says") && unknown.contains("`groups`"));
    }
}
