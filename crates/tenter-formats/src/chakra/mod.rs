//! Execution traces of Chakra (MLCommons): a file for each rank, as protobuf or as JSON.
//!
//! Source: `schema/protobuf/et_def.proto` and the readers of mlcommons/chakra; the meaning of
//! attributes and sizes is that of ASTRA-sim (`Workload.cc`, `Ring.cc`).

mod attributes;
mod json;
mod messages;
#[cfg(test)]
mod tests;
mod wire;
mod write;

use tenter_workload::spec::TraceReading;

use crate::compressed::plain;
use crate::error::{ImportError, Place};
use crate::imported::{Imported, Source};
use crate::trace::{RankTrace, Traces};

pub use write::{Written, write};

/// Reads the traces of all ranks, in the order of the ranks, and a file of communicators, if there
/// is one.
///
/// # Errors
/// The first thing that is not as the format has it, by its file and byte or line.
pub fn read(
    sources: &[Source<'_>],
    groups: Option<Source<'_>>,
    reading: &TraceReading,
) -> Result<Imported, ImportError> {
    let of_files = sources.len() as u32;
    let ranks = reading.ranks.unwrap_or(of_files);
    let [first, ..] = sources else {
        return Err(ImportError::nothing("give a file for each rank"));
    };
    if ranks != of_files && of_files != 1 {
        let what = format!("there are {of_files} files, and `ranks` is {ranks}");
        let remedy = "leave `ranks` out, or give the file of one rank alone";
        return Err(ImportError::new(Place::Byte(0), what, remedy).in_file(first.name));
    }
    let mut traces = Traces::new(ranks, reading);
    if let Some(of) = groups {
        let read = traces.groups.read(of.bytes);
        read.map_err(|what| {
            let remedy = "write {\"NAME\": [RANK, …]}";
            ImportError::new(Place::Json, what, remedy).in_file(of.name)
        })?;
    }
    for rank in 0..ranks {
        let source = sources.get(rank as usize).unwrap_or(first);
        add(&mut traces, rank, source.bytes).map_err(|error| error.in_file(source.name))?;
    }
    traces.finish()
}

/// Picoseconds of the unit of starts.
const PS_OF_US: u64 = 1_000_000;

const TOO_LATE: &str =
    "operations start more than 213 days after the first one, and have no recorded start";

fn add(traces: &mut Traces<'_>, rank: u32, bytes: &[u8]) -> Result<(), ImportError> {
    let stored = bytes.len();
    let bytes = plain(bytes)?;
    let mut trace = RankTrace::default();
    let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if is_json {
        json::read((&bytes, stored), (traces, rank), &mut trace)?;
    } else {
        messages::read(&bytes, (traces, rank), &mut trace)?;
    }
    let too_late = trace.count_starts_from_first(PS_OF_US);
    traces.count(TOO_LATE, too_late);
    traces.add(rank, trace, Place::Byte(bytes.len()))
}
