//! Parquet tables whose columns are known only at run time, such as a sweep's.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::SerializedFileWriter;
use tenter_results::{Cell, Kind};

use crate::report::TrialError;
use crate::report::parquet_table::{properties, schema, unit_notes, version_note, write_cells};
use crate::report::whole_file::partial;

/// A table with any columns, each of which may lack values.
#[derive(Clone, Debug)]
pub(crate) struct FreeTable {
    name: String,
    columns: Vec<FreeColumn>,
    notes: Vec<(String, String)>,
}

/// A column in a [`FreeTable`].
#[derive(Clone, Debug)]
pub(crate) struct FreeColumn {
    name: String,
    kind: Kind,
    unit: String,
    cells: Vec<OwnCell>,
}

/// A cell that owns its text.
#[derive(Clone, Debug)]
enum OwnCell {
    Number(Cell<'static>),
    Text(Arc<str>),
}

impl FreeColumn {
    /// Makes a column without values. `unit` is empty if it has none.
    pub(crate) fn new(name: impl Into<String>, kind: Kind, unit: impl Into<String>) -> FreeColumn {
        FreeColumn {
            name: name.into(),
            kind,
            unit: unit.into(),
            cells: Vec::new(),
        }
    }
}

impl OwnCell {
    fn cell(&self) -> Cell<'_> {
        match self {
            OwnCell::Number(cell) => *cell,
            OwnCell::Text(text) => Cell::Text(text),
        }
    }
}

impl FreeTable {
    /// Makes a table without rows. A column with an earlier one's name gets a numeric suffix.
    pub(crate) fn new(name: &str, columns: Vec<FreeColumn>) -> FreeTable {
        let mut table = FreeTable {
            name: name.to_owned(),
            columns: Vec::new(),
            notes: Vec::new(),
        };
        for mut column in columns {
            let first = column.name.clone();
            let mut number = 2;
            // Two readings may have one name, but Parquet readers find columns by theirs.
            while table.columns.iter().any(|of| of.name == column.name) {
                column.name = format!("{first}_{number}");
                number += 1;
            }
            table.columns.push(column);
        }
        table
    }

    /// Appends a row with a cell for each column.
    pub(crate) fn push(&mut self, cells: &[Cell<'_>]) {
        debug_assert_eq!(cells.len(), self.columns.len(), "a row has all columns");
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            let own = match *cell {
                Cell::Text(text) => {
                    let same = |of: &&OwnCell| matches!(of, OwnCell::Text(last) if **last == *text);
                    // Names repeat from row to row: equal neighbours share one text.
                    let last = column.cells.last().filter(same);
                    last.cloned().unwrap_or_else(|| OwnCell::Text(text.into()))
                }
                Cell::Integer(value) => OwnCell::Number(Cell::Integer(value)),
                Cell::Unsigned(value) => OwnCell::Number(Cell::Unsigned(value)),
                Cell::Float(value) => OwnCell::Number(Cell::Float(value)),
                Cell::Flag(value) => OwnCell::Number(Cell::Flag(value)),
                Cell::Missing => OwnCell::Number(Cell::Missing),
            };
            column.cells.push(own);
        }
    }

    /// Adds a note to the file's metadata.
    pub(crate) fn note(&mut self, key: &str, value: &str) {
        self.notes.push((key.to_owned(), value.to_owned()));
    }

    /// Writes the table to the file `path`; its metadata name the program version and the column
    /// units.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), TrialError> {
        // The file is renamed when it is complete, so a reader never sees half a table.
        let partial = partial(path);
        self.write_to(&partial)
            .map_err(TrialError::parquet("write", path))?;
        std::fs::rename(&partial, path).map_err(TrialError::io("write", path))
    }

    fn write_to(&self, path: &Path) -> Result<(), ParquetError> {
        let columns = || self.columns.iter();
        let notes = self.notes.iter();
        let notes = notes.map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        let notes = std::iter::once(version_note()).chain(notes);
        let units = columns().map(|column| (column.name.as_str(), column.unit.as_str()));
        let properties = properties(columns().map(|column| (column.name.as_str(), column.kind)))
            .set_key_value_metadata(Some(notes.chain(unit_notes(units)).collect()))
            .build();
        let schema = schema(
            &self.name,
            columns().map(|column| (column.name.as_str(), column.kind, true)),
        )?;
        let file = File::create(path)?;
        let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        for column in columns() {
            let Some(mut target) = group.next_column()? else {
                break;
            };
            let cells = column.cells.iter().map(OwnCell::cell);
            write_cells(&mut target, column.kind, true, cells)?;
            target.close()?;
        }
        group.close()?;
        writer.close().map(drop)
    }
}
