//! Tables of flows as Parquet.

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use tenter_notation::diagnostics::quote;
use tenter_workload::spec::FlowReading;

use super::table::{Column, Rows, columns};
use crate::error::{ImportError, Place};
use crate::guarded::guarded;
use crate::imported::Imported;
use crate::parquet_file::{check_head, check_pages};

/// What a file begins with.
const MAGIC: &[u8] = b"PAR1";

/// Whether a table is Parquet, and not text.
pub fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads a table as Parquet: numbers, or texts as CSV has them.
///
/// # Errors
/// A damaged file, and the first row that is not as the format has it.
pub fn read(bytes: &[u8], reading: FlowReading) -> Result<Imported, ImportError> {
    let start = Place::Byte(0);
    check_head(bytes)?;
    let stored = Bytes::copy_from_slice(bytes);
    let file = guarded(|| SerializedFileReader::new(stored));
    let file = file.map_err(|error| broken(start, &error))?;
    check_pages(bytes, file.metadata())?;
    let mut left = Left::of(bytes.len());
    left.hold(file.metadata().file_metadata().num_rows(), start)?;
    let schema = file.metadata().file_metadata().schema().get_fields();
    let columns = columns(schema.iter().map(|field| field.name()), start)?;
    let rows_of_file = guarded(|| file.get_row_iter(None));
    let mut rows_of_file = rows_of_file.map_err(|error| broken(start, &error))?;
    let mut rows = Rows::default();
    let mut cells = Vec::new();
    for number in 1.. {
        let at = Place::Row(number);
        let next = guarded(|| rows_of_file.next().transpose());
        let Some(row) = next.map_err(|error| broken(at, &error))? else {
            break;
        };
        left.take(&row, at)?;
        cells.clear();
        texts(&row, &columns, at, &mut cells)?;
        let cells = cells.iter().map(|(column, cell)| (*column, cell.as_str()));
        rows.add(at, cells)?;
    }
    rows.finish(reading)
}

/// A file may have so many rows and one more for each of its bytes: a dictionary makes any number
/// of equal rows of a few bytes.
const ROWS: usize = 1 << 20;
/// Likewise the characters of its cells.
const TEXT: usize = 1 << 26;
const TEXT_PER_BYTE: usize = 64;

const REMEDY: &str = "write it as CSV, or without dictionaries";

/// How much more may follow in a file of so many bytes.
struct Left {
    rows: usize,
    text: usize,
    bytes: usize,
}

impl Left {
    fn of(bytes: usize) -> Self {
        Self {
            rows: ROWS.saturating_add(bytes),
            text: TEXT.saturating_add(TEXT_PER_BYTE.saturating_mul(bytes)),
            bytes,
        }
    }

    /// Refuses more rows than may follow: those that the head of the file states, before one is
    /// read.
    fn hold(&self, rows: i64, at: Place) -> Result<(), ImportError> {
        if usize::try_from(rows).unwrap_or(0) <= self.rows {
            return Ok(());
        }
        let bytes = self.bytes;
        let what = format!("the table has {rows} rows, more than its {bytes} bytes can hold");
        Err(ImportError::new(at, what, REMEDY))
    }

    /// Takes a row, which may be one more than the head states.
    fn take(&mut self, row: &Row, at: Place) -> Result<(), ImportError> {
        let text = row.get_column_iter().map(|(_, field)| match field {
            Field::Str(text) => text.len(),
            _ => 0,
        });
        let bytes = self.bytes;
        let wrong = |what: String| ImportError::new(at, what, REMEDY);
        self.rows = self.rows.checked_sub(1).ok_or_else(|| {
            wrong(format!(
                "the table has more rows than its {bytes} bytes can hold"
            ))
        })?;
        self.text = self.text.checked_sub(text.sum()).ok_or_else(|| {
            wrong(format!(
                "the texts up to here are longer than its {bytes} bytes can hold"
            ))
        })?;
        Ok(())
    }
}

fn broken(at: Place, error: &ParquetError) -> ImportError {
    let remedy = "write plain Parquet, compressed by Snappy or not at all, or CSV";
    ImportError::new(at, format!("the table cannot be read ({error})"), remedy)
}

/// The cells of a row as texts.
fn texts(
    row: &Row,
    columns: &[Column],
    at: Place,
    cells: &mut Vec<(Column, String)>,
) -> Result<(), ImportError> {
    for (&column, (name, field)) in columns.iter().zip(row.get_column_iter()) {
        let text = match field {
            Field::Null => String::new(),
            Field::Byte(number) => number.to_string(),
            Field::Short(number) => number.to_string(),
            Field::Int(number) => number.to_string(),
            Field::Long(number) => number.to_string(),
            Field::UByte(number) => number.to_string(),
            Field::UShort(number) => number.to_string(),
            Field::UInt(number) => number.to_string(),
            Field::ULong(number) => number.to_string(),
            Field::Float(number) => number.to_string(),
            Field::Double(number) => number.to_string(),
            Field::Str(text) => text.clone(),
            _ => {
                let what = format!("column {} has neither numbers nor texts", quote(name));
                return Err(ImportError::new(at, what, "give numbers or texts"));
            }
        };
        cells.push((column, text));
    }
    Ok(())
}
