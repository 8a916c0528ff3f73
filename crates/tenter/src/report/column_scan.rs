//! Fast scans over numeric columns.

use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use tenter_formats::guarded;
use tenter_results::Row;

use crate::report::TrialError;
use crate::report::own_file::open_own;
use crate::report::trial_files::table_file;

/// Calls `each` with the values from `N` numeric columns, row by row.
///
/// Whole columns are decoded at once, which is ten times as fast as reading rows with named values.
/// Integers become floats, exact up to 2⁵³.
pub(crate) fn scan<R: Row, const N: usize>(
    folder: &Path,
    columns: [&str; N],
    each: impl FnMut([f64; N]),
) -> Result<(), TrialError> {
    scan_with::<R, N>(folder, columns, &[], each)
}

/// Same as [`scan`], but columns in `later` may be missing, as in trials by earlier versions; their
/// values are then 0.
pub(crate) fn scan_with<R: Row, const N: usize>(
    folder: &Path,
    columns: [&str; N],
    later: &[&str],
    mut each: impl FnMut([f64; N]),
) -> Result<(), TrialError> {
    let path = table_file::<R>(folder);
    let file = open_own(&path).map_err(TrialError::io("read", &path))?;
    let groups = || -> Result<(), ParquetError> {
        // The Parquet library panics on some damaged files; `guarded` makes an error of it.
        let reader = guarded(|| SerializedFileReader::new(file))?;
        for group in 0..reader.num_row_groups() {
            let values = guarded(|| {
                let group = reader.get_row_group(group)?;
                let values = columns
                    .iter()
                    .map(|name| column(group.as_ref(), name, later.contains(name)));
                values.collect::<Result<Vec<_>, _>>()
            })?;
            // In a damaged file, columns may differ in length.
            let rows = values.iter().map(Vec::len).min().unwrap_or(0);
            (0..rows).for_each(|row| each(std::array::from_fn(|column| values[column][row])));
        }
        Ok(())
    };
    groups().map_err(TrialError::parquet("read", &path))
}

/// Maximum number of rows for which memory is reserved in advance: a damaged file may claim any
/// number.
const ROWS_RESERVED: usize = 1 << 20;

/// Reads one column in one row group.
fn column(
    group: &dyn RowGroupReader,
    name: &str,
    may_lack: bool,
) -> Result<Vec<f64>, ParquetError> {
    let metadata = group.metadata();
    let count = usize::try_from(metadata.num_rows()).unwrap_or(0);
    let place = (0..metadata.num_columns())
        .find(|&column| metadata.column(column).column_path().string() == name);
    let Some(place) = place else {
        if may_lack && count <= ROWS_RESERVED {
            return Ok(vec![0.0; count]);
        }
        return Err(ParquetError::General(format!(
            "there is no column `{name}`: another version of Tenter wrote it; run the trial again"
        )));
    };
    let reader = group.get_column_reader(place)?;
    match reader {
        ColumnReader::Int64ColumnReader(mut reader) => {
            let mut values = Vec::with_capacity(count.min(ROWS_RESERVED));
            reader.read_records(count, None, None, &mut values)?;
            Ok(values.into_iter().map(|value| value as f64).collect())
        }
        ColumnReader::DoubleColumnReader(mut reader) => {
            let mut values = Vec::with_capacity(count.min(ROWS_RESERVED));
            reader.read_records(count, None, None, &mut values)?;
            Ok(values)
        }
        _ => Err(ParquetError::General(format!(
            "column `{name}` holds no numbers"
        ))),
    }
}
