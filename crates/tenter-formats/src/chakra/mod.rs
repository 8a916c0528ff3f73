//! Reader and writer for Chakra execution traces (MLCommons): one file for each rank, as protobuf
//! or JSON.
//!
//! Source: `schema/protobuf/et_def.proto` and the readers in mlcommons/chakra. Attributes and sizes
//! mean what ASTRA-sim takes them for (`Workload.cc`, `Ring.cc`).

mod attributes;
mod json;
mod messages;
#[cfg(test)]
mod tests;
mod wire;
mod write;

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use tenter_language::units::Budget;
use tenter_workload::spec::TraceReading;

use crate::compressed::Checked;
use crate::content::{Content, Stream, unreadable};
use crate::error::{ImportError, Place};
use crate::imported::{Imported, RankFiles, Source};
use crate::json_text;
use crate::trace::{RankTrace, Traces};

use messages::Parts;

pub use write::{Written, write};

/// Reads all ranks' traces in rank order, and the file with communicators if there is one. One file
/// is open at a time; a protobuf file is read node by node.
///
/// # Errors
/// The first line or byte that violates the format, with its file.
pub fn read(
    files: &(impl RankFiles + ?Sized),
    groups: Option<Source<'_>>,
    reading: &TraceReading,
    budget: &Budget,
) -> Result<Imported, ImportError> {
    let of_files = files.count() as u32;
    let ranks = reading.ranks.unwrap_or(of_files);
    if of_files == 0 {
        return Err(ImportError::nothing("give a file for each rank"));
    }
    if ranks != of_files && of_files != 1 {
        let what = format!("there are {of_files} files, and `ranks` is {ranks}");
        let remedy = "leave `ranks` out, or give the file of one rank alone";
        return Err(ImportError::new(Place::Byte(0), what, remedy).in_file(files.name(0)));
    }
    let mut traces = Traces::new(ranks, reading, budget)?;
    if let Some(of) = groups {
        let read = traces.groups.read(of.bytes);
        read.map_err(|what| {
            let remedy = "write {\"NAME\": [RANK, …]}";
            ImportError::new(Place::Json, what, remedy).in_file(of.name)
        })?;
    }
    // One file stands for all ranks, so it is opened once and read once for each of them.
    if of_files == 1 {
        let name = files.name(0);
        let mut content = files.open(0).map_err(|error| error.in_file(name))?;
        for rank in 0..ranks {
            let added = add(&mut traces, rank, &mut content, budget);
            added.map_err(|error| error.in_file(name))?;
        }
        return traces.finish();
    }
    // A file is opened when its turn has come, so that one is in memory at a time.
    for rank in 0..ranks {
        let opened = files.open(rank as usize);
        let added = opened.and_then(|mut content| add(&mut traces, rank, &mut content, budget));
        added.map_err(|error| error.in_file(files.name(rank as usize)))?;
    }
    traces.finish()
}

/// Returns true if a file lists communicators by name.
pub fn is_communicators(bytes: &[u8]) -> bool {
    serde_json::from_slice::<BTreeMap<String, Vec<u32>>>(bytes).is_ok()
}

/// Picoseconds in a microsecond, the unit of starts.
const PS_OF_US: u64 = 1_000_000;

const TOO_LATE: &str =
    "operations start more than 213 days after the first one, and have no recorded start";

/// Reads the trace of `rank` from a file, as protobuf or JSON.
fn add(
    traces: &mut Traces<'_>,
    rank: u32,
    content: &mut Content<'_>,
    budget: &Budget,
) -> Result<(), ImportError> {
    let stored = content.length() as usize;
    let mut trace = RankTrace::default();
    let mut file = Checked::of(content, budget)?;
    let length = file.length;
    if is_json(file.open()?)? {
        let bytes = all_of_text(file.open()?, length, budget)?;
        let remedy = "give a Chakra trace as JSON";
        let parsed = json_text::parsed(&bytes, stored, remedy, budget)?;
        json::read(&parsed, traces, rank, &mut trace)?;
    } else {
        let parts = Parts::new(Stream::new(file.open()?), length);
        messages::read(parts, traces, rank, &mut trace)?;
    }
    let too_late = trace.count_starts_from_first(PS_OF_US);
    traces.count(TOO_LATE, too_late);
    traces.add(rank, trace, Place::Byte(length as usize))
}

/// Returns true for an object in JSON: a brace, and then a key or the other brace.
///
/// Guess: a protobuf file begins with the length of its first message. If that is 123, the byte of
/// a brace, the message's first field follows, whose number (10) is white space and whose length
/// is taken not to be that of a quotation mark (34) or a brace (125).
fn is_json(text: impl BufRead) -> Result<bool, ImportError> {
    let mut bytes = text.bytes();
    let mut next = || {
        let visible = |byte: &std::io::Result<u8>| {
            byte.as_ref()
                .map_or(true, |byte| !byte.is_ascii_whitespace())
        };
        let byte = bytes.find(visible).transpose();
        byte.map_err(|error| unreadable(0, &error))
    };
    Ok(next()? == Some(b'{') && matches!(next()?, None | Some(b'"' | b'}')))
}

/// Reads a text with `length` bytes.
fn all_of_text(mut text: impl Read, length: u64, budget: &Budget) -> Result<Vec<u8>, ImportError> {
    let allowed = budget.may_take(length);
    allowed.map_err(|over| ImportError::of(Place::Byte(0), over))?;
    let most = Content::WHOLE_MAX;
    if length > most {
        let what = format!("a JSON of {length} bytes is longer than {most}");
        return Err(ImportError::new(
            Place::Byte(0),
            what,
            "give it as protobuf",
        ));
    }
    let mut bytes = Vec::new();
    let read = text.read_to_end(&mut bytes);
    read.map_err(|error| unreadable(bytes.len() as u64, &error))?;
    Ok(bytes)
}
