//! Reader for tables of flows as Parquet.

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use tenter_language::notation::diagnostics::quote;
use tenter_language::units::Budget;
use tenter_workload::spec::FlowReading;

use super::table::{Column, Rows, columns};
use crate::error::{ImportError, Place};
use crate::guarded::guarded;
use crate::imported::Imported;
use crate::limits;
use crate::parquet_file::{check_head, check_pages};

/// First bytes of a Parquet file.
const MAGIC: &[u8] = b"PAR1";

/// Returns true if a table is Parquet and not text.
pub fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads a table as Parquet. Cells are numbers, or texts as in CSV.
///
/// # Errors
/// A damaged file, and the first row that violates the format.
pub fn read(bytes: &[u8], reading: FlowReading, budget: &Budget) -> Result<Imported, ImportError> {
    limits::text(bytes.len(), budget)?;
    let start = Place::Byte(0);
    // The library allocates what a head or a page claims, so both are checked first.
    check_head(bytes)?;
    let stored = Bytes::copy_from_slice(bytes);
    let file = guarded(|| SerializedFileReader::new(stored));
    let file = file.map_err(|error| broken(start, &error))?;
    check_pages(bytes, file.metadata())?;
    check_rows(file.metadata(), bytes.len())?;
    let mut left = TEXT.saturating_add(TEXT_PER_BYTE.saturating_mul(bytes.len()));
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
        take_text(&mut left, &row, at, bytes.len())?;
        cells.clear();
        texts(&row, &columns, at, &mut cells)?;
        let cells = cells.iter().map(|(column, cell)| (*column, cell.as_str()));
        rows.add(at, cells)?;
    }
    rows.finish(reading, budget)
}

/// A file may always have this number of rows, and one more for each byte. A dictionary makes any
/// number of equal rows from a few bytes.
const ROWS: u64 = 1 << 20;
/// Bytes of text in all cells that a file may always have; [`TEXT_PER_BYTE`] for each byte come on
/// top.
const TEXT: usize = 1 << 26;
const TEXT_PER_BYTE: usize = 64;
const REMEDY: &str = "write it as CSV, or without dictionaries";

/// Refuses too many rows before the first is read. The counts of row groups are added up, because
/// the library reads these and not the count for the whole file.
fn check_rows(metadata: &ParquetMetaData, bytes: usize) -> Result<(), ImportError> {
    let groups = metadata.row_groups().iter();
    // A negative count is damage, and is refused like one that is too large.
    let rows = groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(u64::MAX));
    let rows = rows.fold(0, u64::saturating_add);
    if rows <= ROWS.saturating_add(bytes as u64) {
        return Ok(());
    }
    let what = format!("the table has {rows} rows, more than its {bytes} bytes can hold");
    Err(ImportError::new(Place::Byte(0), what, REMEDY))
}

/// Subtracts a row's texts from the text bytes that are left.
fn take_text(left: &mut usize, row: &Row, at: Place, bytes: usize) -> Result<(), ImportError> {
    let text = row.get_column_iter().map(|(_, field)| match field {
        Field::Str(text) => text.len(),
        _ => 0,
    });
    *left = left.checked_sub(text.sum()).ok_or_else(|| {
        let what = format!("the texts up to here are longer than its {bytes} bytes can hold");
        ImportError::new(at, what, REMEDY)
    })?;
    Ok(())
}

fn broken(at: Place, error: &ParquetError) -> ImportError {
    let remedy = "write plain Parquet, compressed by Snappy or not at all, or CSV";
    ImportError::new(at, format!("the table cannot be read ({error})"), remedy)
}

/// Turns the cells of a row into texts, so that one reader serves CSV and Parquet.
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
