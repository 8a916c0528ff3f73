//! Reader for traces from Kineto, `PyTorch`'s profiler: Chrome's JSON events for each rank.
//!
//! ```text
//!   JSON ─ events ─▶ Kernels of a rank ─ resolve ─▶ calls ─┐
//!                         └─ timeline ─▶ stretches ────────┴─ timeline ─▶ RankTrace
//! ```
//!
//! Source: `libkineto/src/output_json.cpp` in pytorch/kineto and `torch/csrc/profiler/util.cpp` in
//! pytorch/pytorch.

mod events;
mod kernels;
mod resolve;
#[cfg(test)]
mod tests;
mod timeline;

use tenter_language::units::Budget;
use tenter_workload::spec::KinetoSpec;

use crate::calls::{Arrangement, Head, Kept, ProcessGroups, Recorded, Resolving, keep_common};
use crate::content::Form;
use crate::error::{ImportError, Place, Wrong};
use crate::imported::{Imported, RankFiles, Source};
use crate::trace::Traces;
use kernels::Kernels;
use resolve::{Matched, Unmatched};
use timeline::{Rules, Segment};

/// Reads all ranks' traces, in any order, and the file with process groups if there is one. One
/// trace is in memory at a time.
///
/// # Errors
/// The first line that violates the format, with its file; a missing rank, groups whose ranks
/// nothing tells, and collectives that differ between ranks.
pub fn read(
    files: &(impl RankFiles + ?Sized),
    groups: Option<Source<'_>>,
    spec: &KinetoSpec,
    budget: &Budget,
) -> Result<Imported, ImportError> {
    let mut reader = Reader {
        spec,
        budget,
        given: ProcessGroups::given(groups)?,
        heads: Vec::new(),
        ranks: Vec::new(),
    };
    for place in 0..files.count() {
        let name = files.name(place);
        let added = files.whole(place, Form::Json, budget);
        let added = added.and_then(|bytes| {
            reader.add(Source {
                name,
                bytes: &bytes,
            })
        });
        added.map_err(|error| error.in_file(name))?;
    }
    reader.finish()
}

/// State of the reader: results from all traces so far.
struct Reader<'s> {
    spec: &'s KinetoSpec,
    budget: &'s Budget,
    given: ProcessGroups,
    heads: Vec<Head>,
    ranks: Vec<OfRank>,
}

/// Result from the trace of one rank.
#[derive(Debug)]
struct OfRank {
    groups: ProcessGroups,
    segments: Vec<Segment>,
    calls: Vec<Matched>,
    unmatched: Unmatched,
    peer_copies: u64,
    untimed: u64,
}

impl Reader<'_> {
    /// Reads the trace of a further rank, and keeps what the graph needs from it.
    fn add(&mut self, source: Source<'_>) -> Result<(), ImportError> {
        let mut kernels = Kernels::default();
        let read = events::read(source.bytes, &mut kernels, self.budget);
        read.map_err(|error| error.in_file(source.name))?;
        if kernels.computes.is_empty() && kernels.communications.is_empty() {
            let what = "no kernel is in it";
            let remedy = "record with `ProfilerActivity.CUDA`, so that kernels are in the trace";
            return Err(ImportError::new(Place::Json, what, remedy).in_file(source.name));
        }
        let times = kernels.communications.iter();
        let times: Vec<(u64, u64)> = times.map(|kernel| (kernel.start, kernel.end)).collect();
        // Kernels become stretches at once, so that only one trace is in memory as a whole.
        let segments = timeline::segments(&mut kernels.computes, &times);
        let (calls, unmatched) = resolve::matched(&kernels);
        let mut groups = ProcessGroups::default();
        groups.set_all(&kernels.groups);
        self.heads.push(Head {
            file: source.name.to_owned(),
            rank: kernels.rank,
            world: kernels.world,
            at: Place::Json,
            stored: source.bytes.len(),
        });
        self.ranks.push(OfRank {
            groups,
            segments,
            calls,
            unmatched,
            peer_copies: kernels.peer_copies,
            untimed: kernels.untimed,
        });
        Ok(())
    }

    /// Makes the operations of all ranks.
    fn finish(self) -> Result<Imported, ImportError> {
        let Reader {
            spec,
            budget,
            given,
            heads,
            ranks,
        } = self;
        let arrangement = Arrangement::of(&heads, spec.calls.ranks)?;
        let mut traces = Traces::of_calls(
            arrangement.ranks,
            arrangement.repeats,
            &spec.calls.algorithms,
            budget,
        )?;
        let mut calls: Vec<Vec<Recorded>> = Vec::with_capacity(ranks.len());
        // A repeated trace is resolved once: its calls are the same for all ranks.
        let once = if traces.is_repeated() { 1 } else { heads.len() };
        for (rank, &place) in (0..).zip(arrangement.recordings.iter().take(once)) {
            let (head, of) = (&heads[place], &ranks[place]);
            traces.count(UNKNOWN, of.unmatched.kernels);
            traces.count(WITHOUT_KERNEL, of.unmatched.calls);
            traces.count(PEER_COPIES, of.peer_copies);
            traces.count(UNTIMED, of.untimed);
            let mut resolving = Resolving {
                traces: &mut traces,
                given: &given,
                groups: of.groups.clone(),
                rank,
                world: head.world,
            };
            let found = resolve::calls(&of.calls, &mut resolving);
            let wrong = |wrong: Wrong| wrong.at(Place::Json).in_file(&head.file);
            calls.push(found.map_err(wrong)?);
        }
        keep_common(&mut calls, Kept::First, &mut traces);
        let rules = Rules {
            waits: spec.waits,
            gaps: spec.gaps,
        };
        for (rank, &place) in (0..).zip(&arrangement.recordings) {
            // A repeated trace has one list of calls for all ranks.
            let own = calls.get(rank as usize).or(calls.first());
            let own = own.map_or(&[][..], Vec::as_slice);
            let trace = timeline::operations(&ranks[place].segments, own, rules);
            let checked = arrangement.check(trace.nodes.len());
            checked.map_err(|error| error.in_file(&heads[place].file))?;
            let added = traces.add(rank, trace, Place::Json);
            added.map_err(|error| error.in_file(&heads[place].file))?;
        }
        traces.finish()
    }
}

const UNKNOWN: &str =
    "kernels communicate and no call says what, and take the time that was recorded";
const WITHOUT_KERNEL: &str = "calls of the CPU have no kernel in the trace, and are left out";
const UNTIMED: &str = "kernels have no duration, and take no time";
const PEER_COPIES: &str = "copies between GPUs (`Memcpy PtoP`) are left out: the trace does not say between which ranks; their times are gaps";
