//! Reader for flow files from ns-3 HPCC, its descendants and `SimAI`: the flow count, then a line
//! for each flow with source, destination, priority group, destination port, bytes and start in
//! seconds.
//!
//! Source: `scratch/third.cc` in alibaba-edu/High-Precision-Congestion-Control.

use std::collections::BTreeSet;

use tenter_language::notation::diagnostics::quote;
use tenter_language::units::Budget;
use tenter_workload::spec::FlowReading;

use super::{Flow, FlowList};
use crate::error::{ImportError, Place};
use crate::imported::Imported;
use crate::limits;
use crate::words;

/// Decimal places of a second in picoseconds.
const SECONDS: usize = 12;

/// Reads a flow file.
///
/// # Errors
/// The first line that violates the format.
pub fn read(text: &str, reading: FlowReading, budget: &Budget) -> Result<Imported, ImportError> {
    limits::text(text.len(), budget)?;
    let mut list = FlowList::default();
    let lines = text
        .lines()
        .enumerate()
        .map(|(place, line)| (place + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let Some((at, first)) = lines.next() else {
        return Err(ImportError::nothing("begin with the number of flows"));
    };
    let expected: u64 = first.parse().map_err(|_| {
        let what = format!("{} is not the number of flows", quote(first));
        ImportError::new(Place::Line(at), what, "begin with the number of flows")
    })?;
    let (mut groups, mut cut, mut last) = (BTreeSet::new(), 0_u64, at);
    let mut beyond = 0_u64;
    for (at, line) in lines {
        // ns-3 stops after the declared number, and ignores the lines behind.
        if list.flows.len() as u64 == expected {
            beyond += 1;
            continue;
        }
        let row = Row::read(line, Place::Line(at))?;
        cut += u64::from(row.is_cut);
        groups.insert(row.group);
        list.push(row.flow)?;
        last = at;
    }
    if (list.flows.len() as u64) < expected {
        let found = list.flows.len();
        let what = format!("there are {found} flows, and the first line says {expected}");
        let remedy = "correct the number, or give the whole file";
        return Err(ImportError::new(Place::Line(last), what, remedy));
    }
    if beyond > 0 {
        list.notes.push(format!(
            "{beyond} lines behind the number of flows that the first line says are left out"
        ));
    }
    if groups.len() > 1 {
        let groups = groups.len();
        list.notes.push(format!(
            "the flows are of {groups} priority groups, and all are sent in the class of the job"
        ));
    }
    if cut > 0 {
        list.notes
            .push(format!("{cut} starts were cut to whole picoseconds"));
    }
    list.finish(reading, Place::Line(last), budget)
}

/// A line of the file.
struct Row {
    flow: Flow,
    group: u64,
    /// True if the start has digits below a picosecond.
    is_cut: bool,
}

impl Row {
    fn read(line: &str, at: Place) -> Result<Row, ImportError> {
        let found: Vec<&str> = line.split_whitespace().collect();
        // The port only tells flows apart at ns-3's hosts.
        let [src, dst, group, _, bytes, start] = found[..] else {
            let what = format!("there are {} words in place of 6", found.len());
            let remedy = "give source, destination, priority group, port, bytes and start";
            return Err(ImportError::new(at, what, remedy));
        };
        let (start, is_cut) = words::time(start, "a start in seconds", SECONDS, at)?;
        let flow = Flow {
            src: words::rank(src, "a source", at)?,
            dst: words::rank(dst, "a destination", at)?,
            bytes: words::number(bytes, "a size in bytes", at)?,
            start,
            after: Vec::new(),
            join: None,
            at,
        };
        let group = words::number(group, "a priority group", at)?;
        Ok(Row {
            flow,
            group,
            is_cut,
        })
    }
}
