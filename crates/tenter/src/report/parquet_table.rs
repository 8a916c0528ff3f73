//! Parquet tables on disk, written in row groups while the trial runs.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use tenter_results::{Cell, Column, Kind, Names, Row};

use crate::report::TrialError;

/// Rows per row group: small enough that an interrupted trial loses little, large enough for
/// columns to compress.
const ROW_GROUP_ROWS: usize = 65_536;
/// Cells handed to the library at a time. It checks after every 1,024 values whether a page is
/// full, so this is a multiple.
const CELLS: usize = 4_096;

/// Metadata key for the program version that wrote a file.
pub(crate) const VERSION_NOTE: &str = "tenter.version";
/// Metadata key for a trial's seed, or for several trials' seeds, separated by commas.
pub(crate) const SEED_NOTE: &str = "tenter.seed";
/// Metadata key for a trial's digest, several trials' digests in seed order, or a sweep's digest.
pub(crate) const DIGEST_NOTE: &str = "tenter.digest";
/// Metadata key prefix for a column's unit; the column name follows.
pub(crate) const UNIT_NOTE: &str = "tenter.unit.";

/// Writes rows of one type to a Parquet file.
///
/// Rows are collected until a row group is full. A table that is dropped without
/// [`ParquetTable::finish`], because the trial failed or the program panicked, still writes its
/// rows and the footer if it can, so that the file stays readable.
pub struct ParquetTable<R: Row + Clone, W: Write + Send = File> {
    path: PathBuf,
    names: Arc<Names>,
    waiting: Vec<R>,
    /// Parquet writer; `None` once finished or failed.
    writer: Option<SerializedFileWriter<W>>,
}

impl<R: Row + Clone> ParquetTable<R> {
    /// Creates the file, and replaces one with the same name.
    ///
    /// # Errors
    /// If the file cannot be created or written.
    pub fn create(path: &Path, names: Arc<Names>) -> Result<Self, TrialError> {
        let file = File::create(path).map_err(TrialError::io("create", path))?;
        ParquetTable::to_writer(file, path, names)
    }
}

impl<R: Row + Clone, W: Write + Send> ParquetTable<R, W> {
    /// Writes the table to `writer`; errors name it `path`.
    ///
    /// # Errors
    /// If the file's first bytes cannot be written.
    pub(crate) fn to_writer(writer: W, path: &Path, names: Arc<Names>) -> Result<Self, TrialError> {
        let columns = R::COLUMNS.iter();
        let properties = properties(columns.map(|column| (column.name, column.kind)));
        let columns = R::COLUMNS.iter();
        let notes = std::iter::once(version_note());
        let notes = notes.chain(unit_notes(columns.map(|column| (column.name, column.unit))));
        let properties = properties.set_key_value_metadata(Some(notes.collect()));
        let properties = Arc::new(properties.build());
        let writer = schema_of::<R>()
            .and_then(|schema| SerializedFileWriter::new(writer, schema, properties))
            .map_err(TrialError::parquet("write", path))?;
        let path = path.to_owned();
        Ok(ParquetTable {
            path,
            names,
            waiting: Vec::new(),
            writer: Some(writer),
        })
    }

    /// Appends rows.
    ///
    /// # Errors
    /// If a row group cannot be written. The table ignores rows after that.
    pub fn append(&mut self, rows: &[R]) -> Result<(), TrialError> {
        // The first error was returned; later rows have no place to go.
        if self.writer.is_none() {
            return Ok(());
        }
        let mut rest = rows;
        // `waiting` is emptied at the row group's size: if it grew beyond, its allocation would
        // double, and stay.
        while let Some((now, later)) = rest.split_at_checked(ROW_GROUP_ROWS - self.waiting.len()) {
            self.waiting.extend_from_slice(now);
            self.write_waiting(ROW_GROUP_ROWS)?;
            rest = later;
        }
        self.waiting.extend_from_slice(rest);
        Ok(())
    }

    /// Adds a note to the file's metadata, such as [`SEED_NOTE`].
    pub(crate) fn note(&mut self, key: &str, value: &str) {
        if let Some(writer) = &mut self.writer {
            writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value.to_owned()));
        }
    }

    /// Writes the remaining rows and the footer.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<(), TrialError> {
        self.close()
    }

    /// Returns the path that errors name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the waiting rows and returns the writer; `None` if the table has failed.
    pub(crate) fn write_all_waiting(
        &mut self,
    ) -> Result<Option<&mut SerializedFileWriter<W>>, TrialError> {
        if !self.waiting.is_empty() {
            self.write_waiting(self.waiting.len())?;
        }
        Ok(self.writer.as_mut())
    }

    fn close(&mut self) -> Result<(), TrialError> {
        self.write_all_waiting()?;
        let Some(mut writer) = self.writer.take() else {
            return Ok(());
        };
        // The footer is written and flushed here, so a full disk shows at the latest now.
        writer
            .finish()
            .map(drop)
            .map_err(TrialError::parquet("write", &self.path))
    }

    fn write_waiting(&mut self, count: usize) -> Result<(), TrialError> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        let written = write_row_group(writer, &self.waiting[..count], &self.names);
        // Dropped even after an error: they cannot be written any more.
        self.waiting.drain(..count);
        if written.is_err() {
            // A row group after a half-written one could not be read, so the file stays as it is.
            self.writer = None;
        }
        written.map_err(TrialError::parquet("write", &self.path))
    }
}

impl<R: Row + Clone, W: Write + Send> Drop for ParquetTable<R, W> {
    fn drop(&mut self) {
        // No caller is left to receive an error. Those who need it call `finish`.
        let _ = self.close();
    }
}

/// Returns the metadata note with the program version.
pub(crate) fn version_note() -> KeyValue {
    KeyValue::new(
        VERSION_NOTE.to_owned(),
        env!("CARGO_PKG_VERSION").to_owned(),
    )
}

/// Returns the metadata notes with the columns' units, given as name and unit. A column without a
/// unit has none.
pub(crate) fn unit_notes<'c>(
    columns: impl Iterator<Item = (&'c str, &'c str)>,
) -> impl Iterator<Item = KeyValue> {
    columns
        .filter(|(_, unit)| !unit.is_empty())
        .map(|(name, unit)| KeyValue::new(format!("{UNIT_NOTE}{name}"), unit.to_owned()))
}

/// Returns the writer's properties: Snappy compression, and an encoding for each column kind.
///
/// Numbers have no dictionary: they seldom repeat, and for a million flow rows the dictionaries
/// took about half the writing time and made the file larger.
pub(crate) fn properties<'c>(
    columns: impl Iterator<Item = (&'c str, Kind)>,
) -> WriterPropertiesBuilder {
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_enabled(false)
        .set_created_by(concat!("tenter ", env!("CARGO_PKG_VERSION")).to_owned());
    for (name, kind) in columns {
        let path = ColumnPath::from(name);
        builder = match kind {
            Kind::Integer | Kind::Unsigned => {
                builder.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            Kind::Float => builder.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
            Kind::Text => builder.set_column_dictionary_enabled(path, true),
            Kind::Flag => builder,
        };
    }
    builder
}

/// Returns a table's schema; its columns are given as name, kind and whether values may be missing.
pub(crate) fn schema<'c>(
    table: &str,
    columns: impl Iterator<Item = (&'c str, Kind, bool)>,
) -> Result<TypePtr, ParquetError> {
    let fields = columns.map(|(name, kind, optional)| {
        // Four physical types suffice; the reader of rows accepts no others.
        let (physical, logical) = match kind {
            Kind::Integer => (PhysicalType::INT64, None),
            Kind::Unsigned => (PhysicalType::INT64, Some(LogicalType::integer(64, false))),
            Kind::Float => (PhysicalType::DOUBLE, None),
            Kind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Flag => (PhysicalType::BOOLEAN, None),
        };
        let repetition = if optional {
            Repetition::OPTIONAL
        } else {
            Repetition::REQUIRED
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(field))
    });
    let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
    let table = Type::group_type_builder(table).with_fields(fields);
    Ok(Arc::new(table.build()?))
}

fn schema_of<R: Row>() -> Result<TypePtr, ParquetError> {
    let columns = R::COLUMNS.iter();
    schema(
        R::TABLE,
        columns.map(|column| (column.name, column.kind, column.optional)),
    )
}

fn write_row_group<R: Row, W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    rows: &[R],
    names: &Names,
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in R::COLUMNS {
        let Some(mut target) = group.next_column()? else {
            break;
        };
        // The cells of a column take more memory than its pages, so they are made a part at a time.
        for part in rows.chunks(CELLS) {
            write_column(&mut target, column, part, names)?;
        }
        target.close()?;
    }
    group.close()?;
    Ok(())
}

fn write_column<R: Row>(
    target: &mut SerializedColumnWriter<'_>,
    column: &Column<R>,
    rows: &[R],
    names: &Names,
) -> Result<(), ParquetError> {
    let cells = rows.iter().map(|row| (column.cell)(row, names));
    write_cells(target, column.kind, column.optional, cells)
}

/// Writes cells of one kind; cells may be missing only if `optional` is true.
pub(crate) fn write_cells<'c>(
    target: &mut SerializedColumnWriter<'_>,
    kind: Kind,
    optional: bool,
    cells: impl ExactSizeIterator<Item = Cell<'c>>,
) -> Result<(), ParquetError> {
    match kind {
        Kind::Integer => put::<Int64Type>(target, optional, cells.map(Cell::integer)),
        // The 64 bits are the same; the column's logical type says that they are unsigned.
        Kind::Unsigned => put::<Int64Type>(
            target,
            optional,
            cells.map(|c| c.unsigned().map(u64::cast_signed)),
        ),
        Kind::Float => put::<DoubleType>(target, optional, cells.map(Cell::float)),
        Kind::Text => put::<ByteArrayType>(
            target,
            optional,
            cells.map(|c| c.text().map(ByteArray::from)),
        ),
        Kind::Flag => put::<BoolType>(target, optional, cells.map(Cell::flag)),
    }
}

/// Writes the present values. For an optional column it also writes definition levels, 0 for a
/// missing value and 1 for a present one.
fn put<T: DataType>(
    target: &mut SerializedColumnWriter<'_>,
    optional: bool,
    cells: impl ExactSizeIterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut values = Vec::with_capacity(cells.len());
    let mut levels = Vec::with_capacity(if optional { cells.len() } else { 0 });
    for cell in cells {
        if optional {
            levels.push(i16::from(cell.is_some()));
        }
        // A missing value takes a place among the levels only.
        values.extend(cell);
    }
    let levels = optional.then_some(levels.as_slice());
    target.typed::<T>().write_batch(&values, levels, None)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use tenter_results::{FlowRow, JobRow};

    use super::*;

    fn flow(chunk: u32) -> FlowRow {
        FlowRow {
            chunk,
            ..FlowRow::default()
        }
    }

    #[test]
    fn a_full_disk_names_the_file_and_the_remedy() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let path = Path::new("trials/big/flows.parquet");
        let table = ParquetTable::<FlowRow, _>::to_writer(Full, path, Arc::default());
        let mut table = table.expect("the first bytes fit the buffer");
        table.append(&[flow(1)]).expect("one row is kept in memory");
        let error = table.finish().expect_err("the disk is full").to_string();
        assert!(error.contains("trials/big/flows.parquet"), "{error}");
        assert!(error.contains("free some space"), "{error}");
    }

    #[test]
    fn every_column_of_every_table_has_a_parquet_type() {
        assert_eq!(
            schema_of::<FlowRow>().expect("flows").get_fields().len(),
            FlowRow::COLUMNS.len()
        );
        let jobs = schema_of::<JobRow>().expect("jobs");
        let failure = jobs.get_fields().last().expect("not empty");
        assert_eq!((failure.name(), failure.is_optional()), ("failure", true));
    }
}
