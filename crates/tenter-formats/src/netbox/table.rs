//! A CSV file with columns by name.

use tenter_language::notation::diagnostics::quote;

use crate::error::{ImportError, Place};
use crate::imported::Source;
use crate::words;

/// Rows of a file. Column names are in lower case, with `_` for blanks.
pub(super) struct Table {
    header: Vec<String>,
    pub(super) rows: Vec<Row>,
}

/// A row with its line.
pub(super) struct Row {
    cells: csv::StringRecord,
    pub(super) at: Place,
}

impl Table {
    /// Reads a file with a header.
    pub(super) fn read(source: Source<'_>) -> Result<Table, ImportError> {
        let broken = |error: &csv::Error| {
            let line = error.position().map_or(1, csv::Position::line) as usize;
            ImportError::new(Place::Line(line), error.to_string(), "write plain CSV")
        };
        let text = words::text(source.bytes)?;
        // Spreadsheets put a byte order mark in front.
        let text = text.trim_start_matches('\u{feff}');
        let mut reader = csv::ReaderBuilder::new();
        // Rows may leave out empty cells at their end.
        let reader = reader.trim(csv::Trim::All).flexible(true);
        let mut reader = reader.from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| broken(&error))?;
        let name = |name: &str| name.to_lowercase().replace(' ', "_");
        let header = header.iter().map(name).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            let cells = record.map_err(|error| broken(&error))?;
            let line = cells.position().map_or(1, csv::Position::line) as usize;
            let at = Place::Line(line);
            rows.push(Row { cells, at });
        }
        Ok(Table { header, rows })
    }

    /// Returns the first of the columns in `names` that exists.
    pub(super) fn find(&self, names: &[&str]) -> Option<usize> {
        let mut found = names
            .iter()
            .filter_map(|name| self.header.iter().position(|known| known == name));
        found.next()
    }

    /// As [`Table::find`], but one of the columns must exist.
    pub(super) fn need(&self, names: &[&str], remedy: &str) -> Result<usize, ImportError> {
        self.find(names).ok_or_else(|| {
            let name = names.first().copied().unwrap_or_default();
            let what = format!("there is no column {}", quote(name));
            ImportError::new(Place::Line(1), what, remedy)
        })
    }
}

impl Row {
    /// Returns a cell; empty if the row ends before it, or if there is no such column.
    pub(super) fn cell(&self, column: Option<usize>) -> &str {
        column
            .and_then(|column| self.cells.get(column))
            .unwrap_or_default()
    }
}
