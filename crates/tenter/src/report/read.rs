//! Reads trial folders: summary, manifest, tables.

use std::collections::BTreeMap;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row as Record};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tenter_formats::guarded;
use tenter_results::{Counts, Kept, ReadTable, Row, Summary, Table, Unread};

use crate::report::own_file::{has_own, open_own, read_own, read_own_text};
use crate::report::trial_files::{CONFIG_FILE, MANIFEST_FILE, SUMMARY_FILE, table_file};
use crate::report::{Manifest, RunIdentity, TrialError};

/// Reads a trial's summary.
///
/// # Errors
/// If there is none, or another version wrote it in another form.
pub fn read_summary(folder: &Path) -> Result<Summary, TrialError> {
    read_json(&folder.join(SUMMARY_FILE))
}

/// Reads a trial's manifest.
///
/// # Errors
/// If there is none, or another version wrote it in another form.
pub fn read_manifest(folder: &Path) -> Result<Manifest, TrialError> {
    read_json(&folder.join(MANIFEST_FILE))
}

/// Returns the summary from `folder` if the trial there can stand for the one to be run: it is
/// complete, has the configuration `config` with the same files beside it, and was run by the same
/// program as `run`. Otherwise, or if the folder cannot be read, returns `None`.
///
/// `has_beside` compares the files and may be slow, so it is called only if all else is the same.
pub(crate) fn finished_trial(
    folder: &Path,
    config: &str,
    has_beside: impl FnOnce() -> bool,
    run: &RunIdentity,
) -> Option<Summary> {
    let manifest = read_manifest(folder).ok()?;
    let has_config = || read_own(&folder.join(CONFIG_FILE)).is_ok_and(|of| of == config.as_bytes());
    let is_same_program = manifest.tenter_version == env!("CARGO_PKG_VERSION")
        && manifest.run.program == run.program
        && manifest.run.interference == run.interference;
    // Cheap comparisons come first.
    let is_same = manifest.complete && is_same_program && has_config();
    if !is_same || !has_beside() {
        return None;
    }
    let summary = read_summary(folder).ok()?;
    // A digest that differs means that one of the two files was replaced.
    (Some(&summary.engine.digest) == manifest.digest.as_ref()).then_some(summary)
}

/// Reads the counters of a trial's nodes: all tables that are known only at its end.
///
/// # Errors
/// If a file is missing that every trial has, or one is damaged.
pub fn read_counts(folder: &Path) -> Result<Counts, TrialError> {
    Counts::read(&InFolder(folder))
}

/// Reads tables from the trial folder at this path.
struct InFolder<'a>(&'a Path);

impl ReadTable for InFolder<'_> {
    type Error = TrialError;

    fn read<R: Table>(&self) -> Result<Vec<R>, TrialError> {
        match R::KEPT {
            Kept::IfAny => rows_if_any(self.0),
            Kept::Always | Kept::Streamed | Kept::InSummary => read_rows(self.0),
        }
    }
}

/// Reads a table that only some trials have; empty if this one does not.
pub(crate) fn rows_if_any<R: Row + DeserializeOwned>(folder: &Path) -> Result<Vec<R>, TrialError> {
    if has_own(&table_file::<R>(folder)) {
        read_rows(folder)
    } else {
        Ok(Vec::new())
    }
}

/// Reads all rows in a table, in file order.
///
/// # Errors
/// If the file is missing or damaged, or lacks a column of the row.
pub fn read_rows<R: Row + DeserializeOwned>(folder: &Path) -> Result<Vec<R>, TrialError> {
    let mut rows = Vec::new();
    each_record::<R>(folder, |record| {
        rows.push(row_of(folder, record)?);
        Ok(())
    })?;
    Ok(rows)
}

/// Calls `each` with a table's records, one after the other.
pub(crate) fn each_record<R: Row>(
    folder: &Path,
    mut each: impl FnMut(Record) -> Result<(), TrialError>,
) -> Result<(), TrialError> {
    let path = table_file::<R>(folder);
    let file = open_own(&path).map_err(TrialError::io("read", &path))?;
    let reader = guarded(|| SerializedFileReader::new(file));
    let reader = reader.map_err(TrialError::parquet("read", &path))?;
    let records = guarded(|| reader.get_row_iter(None));
    let mut records = records.map_err(TrialError::parquet("read", &path))?;
    while let Some(record) =
        guarded(|| records.next().transpose()).map_err(TrialError::parquet("read", &path))?
    {
        each(record)?;
    }
    Ok(())
}

/// Converts a record into a row for its table.
pub(crate) fn row_of<R: Row + DeserializeOwned>(
    folder: &Path,
    record: Record,
) -> Result<R, TrialError> {
    let columns = record.into_columns().into_iter();
    let mut object: Map<String, Value> = columns
        .map(|(name, field)| (name, json_value(field)))
        .collect();
    let mut unread = Unread::default();
    // A counter that was not read is null in the file, 0 in the row, and named in `unread`.
    for column in R::COLUMNS.iter().filter(|column| column.may_be_unread) {
        if let Some(value @ Value::Null) = object.get_mut(column.name) {
            *value = 0.into();
            unread.add(column.name);
        }
    }
    let row: Result<R, _> = serde_json::from_value(Value::Object(object));
    let mut row = row.map_err(TrialError::content(&table_file::<R>(folder)))?;
    if let Some(of_row) = row.unread() {
        *of_row = unread;
    }
    Ok(row)
}

/// Reads a Parquet file's key-value metadata, such as [`SEED_NOTE`](crate::report::SEED_NOTE).
///
/// # Errors
/// If the file is missing or damaged.
pub fn read_notes(path: &Path) -> Result<BTreeMap<String, String>, TrialError> {
    let file = open_own(path).map_err(TrialError::io("read", path))?;
    let reader = guarded(|| SerializedFileReader::new(file));
    let reader = reader.map_err(TrialError::parquet("read", path))?;
    let notes = reader.metadata().file_metadata().key_value_metadata();
    let notes = notes.into_iter().flatten();
    let notes = notes.map(|note| (note.key.clone(), note.value.clone().unwrap_or_default()));
    Ok(notes.collect())
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, TrialError> {
    let text = read_own_text(path).map_err(TrialError::io("read", path))?;
    serde_json::from_str(&text).map_err(TrialError::content(path))
}

/// Converts a value whose type Tenter writes. Any other becomes null, which the row type then
/// refuses.
fn json_value(field: Field) -> Value {
    match field {
        Field::Bool(value) => value.into(),
        Field::Long(value) => value.into(),
        Field::ULong(value) => value.into(),
        Field::Double(value) => value.into(),
        Field::Str(value) => value.into(),
        _ => Value::Null,
    }
}
