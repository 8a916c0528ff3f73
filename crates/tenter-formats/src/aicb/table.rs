//! Parsing: sections for the ranks in a stage, headers, and a line for each call.

use csv::StringRecord;
use tenter_language::notation::diagnostics::quote;
use tenter_language::units::Time;

use crate::calls::{Called, called};
use crate::decimal;
use crate::error::{ImportError, Place};
use crate::grid::Group;
use crate::limits::{MESSAGE_MAX, RANKS_MAX};

type Read<T> = Result<T, ImportError>;

/// The stage at a message's other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The stage in front of this one.
    Previous,
    /// The stage behind this one.
    Next,
}

/// A line's meaning: a call or computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A collective in a group, or a message between stages.
    Call(Called, Group, Option<Stage>),
    Compute,
}

/// A line in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) kind: Kind,
    /// Ranks in the call's group, if the line tells.
    pub(super) size: Option<u32>,
    pub(super) bytes: u64,
    /// Duration, if it was measured.
    pub(super) took: Option<Time>,
}

/// The lines for consecutive ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// First rank and the one behind the last, if the section names them.
    pub(super) ranks: Option<(u32, u32)>,
    pub(super) rows: Vec<Row>,
}

fn wrong<T>(line: usize, what: impl Into<String>, remedy: &str) -> Read<T> {
    Err(ImportError::new(Place::Line(line), what, remedy))
}

/// Reads a table.
///
/// # Errors
/// The first line that violates the format.
pub(super) fn read(text: &str) -> Read<Vec<Section>> {
    let mut sections: Vec<Section> = Vec::new();
    let mut columns: Option<Columns> = None;
    for (line, words) in (1..).zip(text.lines()) {
        let words = words.trim().trim_start_matches('\u{feff}');
        if words.is_empty() {
            continue;
        }
        if words.starts_with('[') {
            sections.push(Section {
                ranks: Some(ranks(words, line)?),
                rows: Vec::new(),
            });
            continue;
        }
        let record = record(words, line)?;
        if words.starts_with("comm_type") {
            // Each section may have a header of its own.
            columns = Some(Columns::of(&record, line)?);
            continue;
        }
        let Some(columns) = &columns else {
            let remedy = "begin with `comm_type,comm_group,comm_group_size,msg_size,…`";
            return wrong(line, "there is no header in front of it", remedy);
        };
        // Lines without a section are for all ranks.
        if sections.is_empty() {
            sections.push(Section::default());
        }
        let row = columns.row(&record, line)?;
        if let (Some(section), Some(row)) = (sections.last_mut(), row) {
            section.rows.push(row);
        }
    }
    sections.retain(|section| !section.rows.is_empty());
    if sections.is_empty() {
        return Err(ImportError::nothing(
            "give a line for each collective, below a header",
        ));
    }
    Ok(sections)
}

/// Splits a line at its commas.
fn record(words: &str, line: usize) -> Read<StringRecord> {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.has_headers(false).trim(csv::Trim::All);
    let mut reader = reader.flexible(true).from_reader(words.as_bytes());
    match reader.records().next() {
        Some(Ok(record)) => Ok(record),
        _ => wrong(
            line,
            "it is no line of a table",
            "put commas between values",
        ),
    }
}

/// Reads a section's ranks: `[rank0 ~ rank127]` or `[ pp_stage1: [rank8, rank9] ]`.
fn ranks(words: &str, line: usize) -> Read<(u32, u32)> {
    let mut found: Vec<u64> = Vec::new();
    for part in words.split("rank").skip(1) {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        found.extend(digits.parse::<u64>().ok());
    }
    let ends = found.iter().min().zip(found.iter().max());
    let Some((&first, &last)) = ends.filter(|(_, last)| **last < RANKS_MAX) else {
        let remedy = "write [rank0 ~ rank127], with at most 1,048,576 ranks";
        return wrong(line, format!("{} names no ranks", quote(words)), remedy);
    };
    let count = last - first + 1;
    let is_list = found.len() as u64 == count;
    let is_range = words.contains('~') && found.len() == 2;
    if !is_list && !is_range {
        let remedy = "name neighbouring ranks, each once";
        return wrong(
            line,
            format!("{} has gaps between its ranks", quote(words)),
            remedy,
        );
    }
    Ok((first as u32, last as u32 + 1))
}

/// Column positions in a line.
struct Columns {
    kind: usize,
    group: usize,
    group_size: Option<usize>,
    bytes: usize,
    additional: Option<usize>,
    took: Option<usize>,
}

impl Columns {
    fn of(header: &StringRecord, line: usize) -> Read<Columns> {
        let place = |name: &str| header.iter().position(|column| column == name);
        let needed = |name: &str| match place(name) {
            Some(place) => Ok(place),
            None => wrong(
                line,
                format!("there is no column `{name}`"),
                "name it in the header",
            ),
        };
        Ok(Columns {
            kind: needed("comm_type")?,
            group: needed("comm_group")?,
            group_size: place("comm_group_size"),
            bytes: needed("msg_size")?,
            additional: place("additional"),
            took: place("_elapsed_time").or(place("elapsed_time")),
        })
    }

    /// Reads a line; `None` for one that marks an epoch's end.
    fn row(&self, record: &StringRecord, line: usize) -> Read<Option<Row>> {
        let word = |place: usize| record.get(place).unwrap_or_default();
        let told = |place: Option<usize>| {
            let word = place.map(word).unwrap_or_default();
            Some(word).filter(|word| !["", "None"].contains(word))
        };
        let name = word(self.kind).trim_start_matches("CommType.");
        let took = match told(self.took) {
            Some(word) => Some(milliseconds(word, line)?),
            None => None,
        };
        let kind = match called(name) {
            Some(Called::Nothing) => return Ok(None),
            Some(called) => {
                let group = group(word(self.group), line)?;
                let stage = match told(self.additional) {
                    Some("send_prev" | "recv_prev") => Some(Stage::Previous),
                    Some("send_next" | "recv_next") => Some(Stage::Next),
                    _ => None,
                };
                Kind::Call(called, group, stage)
            }
            None if name == "computation" => Kind::Compute,
            None => {
                let what = format!("{} is no kind of call", quote(name));
                let remedy = "use all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, barrier, isend, irecv, computation or epoch_end";
                return wrong(line, what, remedy);
            }
        };
        let bytes = match kind {
            // For computing, AICB writes the shapes of matrices in this column.
            Kind::Compute => 0,
            Kind::Call(..) => size(word(self.bytes), line)?,
        };
        let of_group = told(self.group_size);
        let of_group = of_group.map(|word| {
            let number = word
                .parse()
                .ok()
                .filter(|number| (1..=RANKS_MAX).contains(number));
            match number {
                Some(number) => Ok(number as u32),
                None => wrong(
                    line,
                    format!("{} is no number of ranks", quote(word)),
                    "give 1 to 1,048,576",
                ),
            }
        });
        Ok(Some(Row {
            line,
            kind,
            size: of_group.transpose()?,
            bytes,
            took,
        }))
    }
}

/// Reads the name of a group, with or without AICB's prefix `CommGroup.`.
fn group(word: &str, line: usize) -> Read<Group> {
    Ok(match word.trim_start_matches("CommGroup.") {
        "dp_group" => Group::Data,
        "tp_group" => Group::Tensor,
        "pp_group" => Group::Pipeline,
        "ep_group" => Group::Expert,
        "ep_dp_group" | "exp_dp_group" => Group::DataOfExperts,
        "ep_tp_group" => Group::TensorOfExperts,
        "all" => Group::All,
        _ => {
            let what = format!(
                "{} is no group that has a place among the ranks here",
                quote(word)
            );
            let remedy =
                "use dp_group, tp_group, pp_group, ep_group, ep_dp_group, ep_tp_group or all";
            return wrong(line, what, remedy);
        }
    })
}

fn size(word: &str, line: usize) -> Read<u64> {
    // Some writers compute sizes by division in Python, which leaves `.0`.
    let plain = word.strip_suffix(".0").unwrap_or(word);
    match plain.parse::<u64>() {
        Ok(bytes) if bytes <= MESSAGE_MAX => Ok(bytes),
        Ok(bytes) => wrong(
            line,
            format!("{bytes} bytes are too many"),
            "give at most 2^50 bytes",
        ),
        Err(_) => wrong(
            line,
            format!("{} is no size", quote(word)),
            "give whole bytes",
        ),
    }
}

fn milliseconds(word: &str, line: usize) -> Read<Time> {
    // A millisecond has nine decimal places of picoseconds.
    match decimal::scientific(word, 9) {
        Some((time, _)) => Ok(time),
        None => wrong(
            line,
            format!("{} is no time", quote(word)),
            "give milliseconds",
        ),
    }
}
