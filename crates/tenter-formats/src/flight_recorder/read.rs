//! Assembly of all ranks' dumps.

use tenter_language::units::{Budget, Time};
use tenter_workload::spec::{FlightRecorderSpec, Gaps};

use super::entries::{Dump, Entry, Known};
use crate::calls::{
    Arrangement, Described, Head, Kept, ProcessGroups, Recorded, Resolving, keep_common,
    one_after_another,
};
use crate::compressed::plain;
use crate::content::Form;
use crate::error::{ImportError, Place, Wrong};
use crate::imported::{Imported, RankFiles, Source};
use crate::json_text;
use crate::trace::Traces;

/// Reads all ranks' dumps, and the file with process groups if there is one.
///
/// # Errors
/// The first violation of the format, by its file, line or entry; groups whose ranks nothing tells,
/// and collectives that differ between ranks.
pub fn read(
    files: &(impl RankFiles + ?Sized),
    groups: Option<Source<'_>>,
    spec: &FlightRecorderSpec,
    budget: &Budget,
) -> Result<Imported, ImportError> {
    let given = ProcessGroups::given(groups)?;
    let (heads, dumps) = dumps(files, budget)?;
    let arrangement = Arrangement::of(&heads, spec.calls.ranks)?;
    let mut traces = Traces::of_calls(
        arrangement.ranks,
        arrangement.repeats,
        &spec.calls.algorithms,
        budget,
    )?;
    let once = if traces.is_repeated() { 1 } else { dumps.len() };
    let mut calls: Vec<Vec<Recorded>> = Vec::with_capacity(once);
    let mut timed: Vec<Vec<bool>> = Vec::with_capacity(once);
    for (rank, &place) in (0..).zip(arrangement.recordings.iter().take(once)) {
        let (head, dump) = (&heads[place], &dumps[place]);
        for entry in &dump.entries {
            let what = match entry.times().0 {
                Known::Found => FOUND,
                Known::Created => CREATED,
                Known::Nothing => UNTIMED,
            };
            traces.count(what, 1);
        }
        let mut resolving = Resolving {
            traces: &mut traces,
            given: &given,
            groups: dump.groups.clone(),
            rank,
            world: head.world,
        };
        let found = recorded(dump, &mut resolving);
        let wrong = |wrong: Wrong| wrong.at(Place::Json).in_file(&head.file);
        let (found, are_timed) = found.map_err(wrong)?;
        calls.push(found);
        timed.push(are_timed);
    }
    // Rings end at the same call at all ranks, and begin at different ones.
    keep_common(&mut calls, Kept::Last, &mut traces);
    let both = calls.iter().zip(&timed);
    let gaps: Vec<Vec<Time>> = both.map(|(calls, timed)| gaps(calls, timed)).collect();
    for (rank, &place) in (0..).zip(&arrangement.recordings) {
        let own = if traces.is_repeated() {
            0
        } else {
            rank as usize
        };
        let trace = one_after_another(&calls[own], |call| match spec.gaps {
            Gaps::Keep => gaps[own][call],
            Gaps::Drop => Time::ZERO,
        });
        let checked = arrangement.check(trace.nodes.len());
        checked.map_err(|error| error.in_file(&heads[place].file))?;
        let added = traces.add(rank, trace, Place::Json);
        added.map_err(|error| error.in_file(&heads[place].file))?;
    }
    traces.finish()
}

const FOUND: &str = "calls have the times at which the watchdog of PyTorch found them completed: it looks at intervals, and gaps are uncertain by as much";
const CREATED: &str = "calls have the time at which the CPU created them and a duration: gaps leave out computing that the GPU still had queued";
const UNTIMED: &str = "calls have no `duration_ms` and no discovered times, and the times behind them are left out; record with TORCH_NCCL_ENABLE_TIMING=1";

/// Reads all dumps, with their statements about rank and job.
fn dumps(
    files: &(impl RankFiles + ?Sized),
    budget: &Budget,
) -> Result<(Vec<Head>, Vec<Dump>), ImportError> {
    let read = (0..files.count()).map(|place| {
        let name = files.name(place);
        let bytes = files
            .whole(place, Form::Json, budget)
            .map_err(|error| error.in_file(name))?;
        let dump = dump(&bytes, budget).map_err(|error| error.in_file(name))?;
        let head = Head {
            file: name.to_owned(),
            rank: dump.rank,
            world: dump.world,
            at: Place::Json,
            stored: bytes.len(),
        };
        Ok((head, dump))
    });
    read.collect()
}

/// First byte in a pickled file, since protocol 2.
const PICKLE: u8 = 0x80;

/// Reads a dump, which must be JSON: a pickle could run any program when it is read.
fn dump(bytes: &[u8], budget: &Budget) -> Result<Dump, ImportError> {
    let stored = bytes.len();
    let bytes = plain(bytes, budget)?;
    if bytes.first() == Some(&PICKLE) {
        let remedy = "write it as JSON: python3 -c \"import json, pickle, sys; json.dump(pickle.load(open(sys.argv[1], 'rb')), open(sys.argv[2], 'w'))\" DUMP DUMP.json";
        let what = "the dump is pickled, which can run any program when it is read";
        return Err(ImportError::new(Place::Byte(0), what, remedy));
    }
    let remedy = "give a dump of the flight recorder, as JSON";
    let parsed = json_text::parsed(&bytes, stored, remedy, budget)?;
    let dump = Dump::of(&parsed);
    let dump = dump.map_err(|what| ImportError::new(Place::Json, what, remedy))?;
    if dump.entries.is_empty() {
        let what = "no call is in it";
        let remedy =
            "record with TORCH_FR_BUFFER_SIZE (before: TORCH_NCCL_TRACE_BUFFER_SIZE) above 0";
        return Err(ImportError::new(Place::Json, what, remedy));
    }
    Ok(dump)
}

/// Resolves the calls of a rank, with a flag for each that is true if its end is known. Messages
/// that were called for together are one call.
fn recorded(
    dump: &Dump,
    resolving: &mut Resolving<'_, '_>,
) -> Result<(Vec<Recorded>, Vec<bool>), Wrong> {
    // Times since 1970 exceed 64 bits in ps.
    let origin = dump.entries.iter().map(|entry| entry.created).min();
    let origin = origin.unwrap_or(0);
    let mut calls = Vec::with_capacity(dump.entries.len());
    let mut timed = Vec::with_capacity(dump.entries.len());
    let together = dump.entries.chunk_by(|one, other| {
        let group = &one.described.members;
        one.together.is_some()
            && one.together == other.together
            && *group == other.described.members
    });
    for entries in together {
        let Some(first) = entries.first() else {
            continue;
        };
        let described: Vec<&Described> = entries.iter().map(|entry| &entry.described).collect();
        let call = resolving.call(&described);
        let times = || entries.iter().map(Entry::times);
        let start = times().map(|(_, start, _)| start).min().unwrap_or(origin);
        let end = times().map(|(.., end)| end).max().unwrap_or(start);
        timed.push(times().all(|(known, ..)| known != Known::Nothing));
        calls.push(Recorded {
            start: (start - origin).saturating_mul(1_000),
            end: (end - origin).saturating_mul(1_000),
            stream: 0,
            sequence: first.described.sequence,
            call: call.map_err(|wrong| wrong.of(&format!("entry {}", first.number)))?,
        });
    }
    Ok((calls, timed))
}

/// Returns the time from the end of all earlier calls to each call's start; zero if an end in
/// between is unknown.
fn gaps(calls: &[Recorded], timed: &[bool]) -> Vec<Time> {
    let mut over = Some(0);
    let gaps = calls.iter().zip(timed).map(|(call, &is_timed)| {
        let gap = over.map_or(0, |over: u64| call.start.saturating_sub(over));
        // A call without a known end hides the gap behind it.
        over = Some(over.map_or(call.end, |over| over.max(call.end))).filter(|_| is_timed);
        Time::from_ps(gap)
    });
    gaps.collect()
}
