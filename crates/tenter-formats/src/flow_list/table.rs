//! Reader for tables of flows, whose columns go by their names, as CSV or Parquet.

use std::collections::BTreeMap;

use tenter_language::notation::diagnostics::quote;
use tenter_language::units::{Budget, Bytes, Time};
use tenter_workload::spec::FlowReading;

use super::{After, Flow, FlowList};
use crate::error::{ImportError, Place};
use crate::imported::Imported;
use crate::limits;
use crate::words;

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    Source,
    Destination,
    Bytes,
    /// A time with its unit, or a decimal number in a unit of 10^n picoseconds.
    Start(Option<usize>),
    Id,
    After,
    AfterReceived,
}

impl Column {
    fn of(name: &str) -> Option<Column> {
        Some(match name {
            "source" | "src" => Column::Source,
            "destination" | "dst" => Column::Destination,
            "bytes" | "size" => Column::Bytes,
            "start" => Column::Start(None),
            "start_ps" => Column::Start(Some(0)),
            "start_ns" => Column::Start(Some(3)),
            "start_us" => Column::Start(Some(6)),
            "start_ms" => Column::Start(Some(9)),
            "start_s" => Column::Start(Some(12)),
            "id" => Column::Id,
            "after" => Column::After,
            "after_received" => Column::AfterReceived,
            _ => return None,
        })
    }
}

const NAMES: &str = "source, destination, bytes, start (or start_ps, start_ns, start_us, start_ms, start_s), id, after, after_received";

/// Finds the columns by their names, which stand at place `at`.
pub(super) fn columns<'n>(
    names: impl Iterator<Item = &'n str>,
    at: Place,
) -> Result<Vec<Column>, ImportError> {
    let refused = |what: String| ImportError::new(at, what, format!("name columns {NAMES}"));
    let column = |name: &str| {
        let unknown = || refused(format!("column {} is not known", quote(name)));
        Column::of(name).ok_or_else(unknown)
    };
    let columns = names.map(column).collect::<Result<Vec<_>, _>>()?;
    for wanted in [Column::Source, Column::Destination, Column::Bytes] {
        if !columns.contains(&wanted) {
            let what = format!("there is no column of the {wanted:?}").to_lowercase();
            return Err(refused(what));
        }
    }
    Ok(columns)
}

/// Reads a table as CSV.
///
/// # Errors
/// The first line that violates the format.
pub fn read(text: &str, reading: FlowReading, budget: &Budget) -> Result<Imported, ImportError> {
    limits::text(text.len(), budget)?;
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        // Rows may leave out empty cells at their end.
        .flexible(true);
    let mut reader = reader.from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| broken(&error))?.clone();
    let columns = columns(header.iter(), Place::Line(1))?;
    let mut rows = Rows::default();
    for record in reader.records() {
        let record = record.map_err(|error| broken(&error))?;
        let line = record.position().map_or(1, csv::Position::line) as usize;
        rows.add(Place::Line(line), columns.iter().copied().zip(&record))?;
    }
    rows.finish(reading, budget)
}

fn broken(error: &csv::Error) -> ImportError {
    let line = error.position().map_or(1, csv::Position::line) as usize;
    ImportError::new(Place::Line(line), error.to_string(), "write plain CSV")
}

/// The rows of a table while they are read.
#[derive(Default)]
pub(super) struct Rows {
    list: FlowList,
    /// Place of the flow with an id.
    ids: BTreeMap<u64, usize>,
    /// Waits: the flow, the id that it waits for, and true if it waits for the arrival.
    waits: Vec<(usize, u64, bool)>,
    /// Number of starts with digits below a picosecond.
    cut: u64,
    last: Option<Place>,
}

impl Rows {
    /// Adds a row, which stands at place `at`.
    pub(super) fn add<'c>(
        &mut self,
        at: Place,
        cells: impl Iterator<Item = (Column, &'c str)>,
    ) -> Result<(), ImportError> {
        let number = self.list.flows.len();
        let mut flow = Flow {
            src: 0,
            dst: 0,
            bytes: 0,
            start: Time::ZERO,
            after: Vec::new(),
            join: None,
            at,
        };
        // Without an id a flow has the number of its row.
        let (mut id, waits) = (number as u64, self.waits.len());
        for (column, cell) in cells {
            if column == Column::Id {
                id = words::number(cell, "an id", at)?;
            } else {
                self.cell(column, cell, &mut flow)?;
            }
        }
        // A start of 0 is none: the column may exist for other flows.
        if self.waits.len() > waits && !flow.start.is_zero() {
            let what = "the flow has a start and waits for others";
            return Err(ImportError::new(at, what, "leave one of them out"));
        }
        if self.ids.insert(id, number).is_some() {
            let what = format!("flow {id} is there twice");
            return Err(ImportError::new(
                at,
                what,
                "give each flow an id of its own",
            ));
        }
        self.last = Some(at);
        self.list.push(flow)
    }

    /// Reads a cell of the flow that is added next.
    fn cell(&mut self, column: Column, cell: &str, flow: &mut Flow) -> Result<(), ImportError> {
        let at = flow.at;
        let wrong = |of: &str, remedy: &str| {
            ImportError::new(at, format!("{} is not {of}", quote(cell)), remedy)
        };
        match column {
            Column::Source => flow.src = words::rank(cell, "a rank", at)?,
            Column::Destination => flow.dst = words::rank(cell, "a rank", at)?,
            Column::Bytes => {
                // A bare number is bytes here: foreign tables have no units.
                let bytes = cell.parse().ok();
                let bytes = bytes.or_else(|| cell.parse::<Bytes>().ok().map(Bytes::count));
                flow.bytes = bytes.ok_or_else(|| wrong("a size", "give bytes, or `1MiB`"))?;
            }
            Column::Start(_) if cell.is_empty() => {}
            Column::Start(None) => {
                let remedy = "write `10us`, or name the column `start_us`";
                flow.start = cell
                    .parse()
                    .map_err(|_| wrong("a time with its unit", remedy))?;
            }
            Column::Start(Some(places)) => {
                let (start, is_cut) = words::time(cell, "a time", places, at)?;
                flow.start = start;
                self.cut += u64::from(is_cut);
            }
            Column::Id => {}
            Column::After | Column::AfterReceived => {
                let received = column == Column::AfterReceived;
                let flow = self.list.flows.len();
                for word in cell.split([';', ' ']).filter(|word| !word.is_empty()) {
                    let other = word.parse();
                    let other = other.map_err(|_| wrong("ids of flows", "write `3;5`"))?;
                    self.waits.push((flow, other, received));
                }
            }
        }
        Ok(())
    }

    /// Makes the graph of all rows.
    pub(super) fn finish(
        mut self,
        reading: FlowReading,
        budget: &Budget,
    ) -> Result<Imported, ImportError> {
        for (number, id, received) in self.waits {
            let at = self.list.flows[number].at;
            let other = self.ids.get(&id).copied();
            let flow = other.ok_or_else(|| {
                let what = format!("the flow waits for flow {id}, which is not there");
                ImportError::new(at, what, "name the id of another flow")
            })?;
            self.list.flows[number].after.push(After { flow, received });
        }
        if self.cut > 0 {
            let cut = self.cut;
            self.list
                .notes
                .push(format!("{cut} starts were cut to whole picoseconds"));
        }
        self.list
            .finish(reading, self.last.unwrap_or(Place::Line(1)), budget)
    }
}
