//! Access to a trial's table by row group and column: whoever reads a large table holds 65,536 rows
//! in the columns it needs, never the whole.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use tenter_formats::guarded;
use tenter_results::{
    Cell, ColumnArray, ColumnInfo, ColumnValues, Counts, Kept, Kind, Names, Results, Table,
};

use crate::report::TrialError;
use crate::report::own_file::{has_own, open_own};
use crate::report::read::read_summary;
use crate::report::trial_files::table_file;

/// A trial's table, open for reading.
pub struct TableGroups(Source);

enum Source {
    File(Groups),
    /// Columns for rows that are in `summary.json`; they form one group.
    Summary(Vec<ColumnArray>),
}

/// Row groups in a Parquet file.
struct Groups {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    /// The row type's columns, each with its index in the file, if the file has it.
    columns: Vec<(ColumnInfo, Option<usize>)>,
}

impl TableGroups {
    /// Opens the table for row type `R`. A table that some trials lack as a file, as those by
    /// earlier versions do, is read from the summary.
    ///
    /// # Errors
    /// If the file is missing or damaged, or lacks a column of the row.
    pub(crate) fn open<R: Table>(folder: &Path) -> Result<TableGroups, TrialError> {
        let is_in_summary = match R::KEPT {
            Kept::InSummary => true,
            Kept::IfAny => !has_own(&table_file::<R>(folder)),
            Kept::Always | Kept::Streamed => false,
        };
        Ok(TableGroups(if is_in_summary {
            Source::Summary(columns_of_summary::<R>(folder)?)
        } else {
            Source::File(Groups::open::<R>(folder)?)
        }))
    }

    /// Returns the number of row groups.
    pub fn count(&self) -> usize {
        match &self.0 {
            Source::File(groups) => groups.reader.metadata().num_row_groups(),
            Source::Summary(_) => 1,
        }
    }

    /// Returns the number of rows in a group.
    pub fn rows(&self, group: usize) -> usize {
        match &self.0 {
            Source::File(groups) => groups.rows(group),
            Source::Summary(columns) => columns.first().map_or(0, ColumnArray::len),
        }
    }

    /// Returns the least and greatest number in a group's column, if the file has statistics.
    pub(crate) fn range(&self, group: usize, column: usize) -> Option<(f64, f64)> {
        match &self.0 {
            Source::File(groups) => groups.range(group, column),
            Source::Summary(_) => None,
        }
    }

    /// Decodes a group's column; `column` is its index in the row type.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn column(&self, group: usize, column: usize) -> Result<ColumnArray, TrialError> {
        match &self.0 {
            Source::File(groups) => groups.column(group, column),
            Source::Summary(columns) => Ok(columns[column].clone()),
        }
    }
}

/// Returns the columns of a table whose rows the summary contains.
fn columns_of_summary<R: Table>(folder: &Path) -> Result<Vec<ColumnArray>, TrialError> {
    let summary = read_summary(folder)?;
    let results = Results {
        summary: &summary,
        counts: &Counts::default(),
        flows: &[],
        samples: &[],
    };
    let rows = R::rows(&results);
    let columns = R::COLUMNS.iter();
    Ok(columns
        .map(|column| ColumnArray::of(column, &rows, &Names::default()))
        .collect())
}

impl Groups {
    fn open<R: Table>(folder: &Path) -> Result<Groups, TrialError> {
        let path = table_file::<R>(folder);
        let file = open_own(&path).map_err(TrialError::io("read", &path))?;
        let open = || -> Result<_, ParquetError> {
            let reader = guarded(|| SerializedFileReader::new(file))?;
            let schema = reader.metadata().file_metadata().schema_descr();
            let columns = R::COLUMNS.iter().map(|column| {
                let mut known = schema.columns().iter();
                // Columns are found by name: files of other versions may have another order.
                let place = known.position(|known| known.name() == column.name);
                (column.info(), place)
            });
            let columns = columns.collect();
            Ok((reader, columns))
        };
        let (reader, columns) = open().map_err(TrialError::parquet("read", &path))?;
        Ok(Groups {
            path,
            reader,
            columns,
        })
    }

    fn rows(&self, group: usize) -> usize {
        let rows = self.reader.metadata().row_group(group).num_rows();
        usize::try_from(rows).unwrap_or_default()
    }

    fn range(&self, group: usize, column: usize) -> Option<(f64, f64)> {
        let (info, place) = self.columns[column];
        let chunk = self.reader.metadata().row_group(group).column(place?);
        range(chunk, info.kind)
    }

    fn column(&self, group: usize, column: usize) -> Result<ColumnArray, TrialError> {
        let (info, place) = self.columns[column];
        let count = self.rows(group);
        let read = guarded(|| {
            // Trials of earlier versions lack columns that were added later.
            let Some(place) = place else {
                return without_values(info, count);
            };
            let group = self.reader.get_row_group(group)?;
            decode(group.get_column_reader(place)?, info.name, info.kind, count)
        });
        read.map_err(TrialError::parquet("read", &self.path))
    }
}

/// Returns a column with missing values only, for one that the file lacks and may lack.
fn without_values(info: ColumnInfo, count: usize) -> Result<ColumnArray, ParquetError> {
    if !info.may_be_absent || count > ROWS_RESERVED {
        return Err(ParquetError::General(format!(
            "there is no column `{}`: another version of Tenter wrote it; run the trial again",
            info.name
        )));
    }
    let cells = (0..count).map(|_| Cell::Missing);
    Ok(ColumnArray::of_cells(info.kind, cells))
}

fn range(chunk: &ColumnChunkMetaData, kind: Kind) -> Option<(f64, f64)> {
    match (chunk.statistics()?, kind) {
        (Statistics::Int64(of), Kind::Integer) => {
            Some((*of.min_opt()? as f64, *of.max_opt()? as f64))
        }
        (Statistics::Int64(of), Kind::Unsigned) => {
            let number = |value: &i64| value.cast_unsigned() as f64;
            Some((number(of.min_opt()?), number(of.max_opt()?)))
        }
        (Statistics::Double(of), Kind::Float) => Some((*of.min_opt()?, *of.max_opt()?)),
        _ => None,
    }
}

fn decode(
    reader: ColumnReader,
    name: &str,
    kind: Kind,
    count: usize,
) -> Result<ColumnArray, ParquetError> {
    match (reader, kind) {
        (ColumnReader::Int64ColumnReader(reader), Kind::Integer) => {
            dense(reader, count, ColumnValues::Integer, |value| value)
        }
        (ColumnReader::Int64ColumnReader(reader), Kind::Unsigned) => {
            dense(reader, count, ColumnValues::Unsigned, i64::cast_unsigned)
        }
        (ColumnReader::DoubleColumnReader(reader), Kind::Float) => {
            dense(reader, count, ColumnValues::Float, |value| value)
        }
        (ColumnReader::BoolColumnReader(reader), Kind::Flag) => {
            dense(reader, count, ColumnValues::Flag, |value| value)
        }
        (ColumnReader::ByteArrayColumnReader(reader), Kind::Text) => {
            dense(reader, count, ColumnValues::Text, |value| {
                String::from_utf8_lossy(value.data()).into_owned()
            })
        }
        _ => Err(ParquetError::General(format!(
            "column `{name}` is of another kind; run the trial again"
        ))),
    }
}

/// Maximum number of rows for which memory is reserved in advance: a damaged file may claim any
/// number.
const ROWS_RESERVED: usize = 1 << 20;

/// Decodes a column to one value per row, with a default where one is missing.
fn dense<T: DataType, V: Default>(
    mut reader: ColumnReaderImpl<T>,
    count: usize,
    wrap: fn(Vec<V>) -> ColumnValues,
    value: fn(T::T) -> V,
) -> Result<ColumnArray, ParquetError> {
    let mut values = Vec::with_capacity(count.min(ROWS_RESERVED));
    let mut levels = Vec::new();
    reader.read_records(count, Some(&mut levels), None, &mut values)?;
    let found = if levels.is_empty() {
        values.len()
    } else {
        levels.len()
    };
    // Values and rows are matched by position, so a short column would shift them.
    if found != count {
        let what = format!("a column has {found} values for {count} rows");
        return Err(ParquetError::General(what));
    }
    let mut values = values.into_iter().map(value);
    // Most optional columns have all of their values, and then need no list of valid rows.
    if levels.iter().all(|level| *level > 0) {
        return Ok(ColumnArray {
            values: wrap(values.collect()),
            valid: None,
        });
    }
    let valid: Vec<bool> = levels.into_iter().map(|level| level > 0).collect();
    let all = valid.iter().map(|there| {
        let found = there.then(|| values.next()).flatten();
        found.unwrap_or_default()
    });
    Ok(ColumnArray {
        values: wrap(all.collect()),
        valid: Some(valid),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::report::parquet_table::ParquetTable;
    use tenter_results::{FlowRow, Row as _};

    #[test]
    fn columns_are_read_group_by_group() {
        let folder = std::env::temp_dir().join(format!("tenter-groups-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let names = Names {
            jobs: vec!["train".to_owned()],
            nodes: Vec::new(),
        };
        let row = |index: u64| FlowRow {
            payload_bytes: 1_000 + index,
            ..FlowRow::default()
        };
        let rows: Vec<FlowRow> = (0..70_000).map(row).collect();
        let path = table_file::<FlowRow>(&folder);
        let table = ParquetTable::create(&path, Arc::new(names));
        let mut table = table.expect("a file");
        table.append(&rows).expect("they are written");
        table.finish().expect("it is whole");
        let groups = TableGroups::open::<FlowRow>(&folder).expect("the table");
        assert_eq!(groups.count(), 2);
        assert_eq!((groups.rows(0), groups.rows(1)), (65_536, 70_000 - 65_536));
        let place = |name: &str| {
            let mut columns = FlowRow::COLUMNS.iter();
            let place = columns.position(|column| column.name == name);
            place.expect("a column")
        };
        let bytes = groups.column(1, place("payload_bytes"));
        let expected = (65_536..70_000).map(|index| 1_000 + index).collect();
        let expected = ColumnArray {
            values: ColumnValues::Integer(expected),
            valid: None,
        };
        assert_eq!(bytes.expect("a column"), expected);
        let range = groups.range(1, place("payload_bytes"));
        let (least, greatest) = range.expect("statistics");
        assert!((least - 66_536.0).abs() < 0.5 && (greatest - 70_999.0).abs() < 0.5);
        let names = groups.column(0, place("job_name")).expect("a column");
        let texts = vec!["train".to_owned(); 65_536];
        assert_eq!(names.values, ColumnValues::Text(texts));
        let missing = groups.column(0, place("latency_min_ns"));
        assert_eq!(missing.expect("a column").valid, Some(vec![false; 65_536]));
        std::fs::remove_dir_all(folder).expect("the folder is there");
    }
}
