//! Converts rows to Arrow record batches.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use tenter_results::{Column, ColumnArray, EachTable, Kind, Names, Row, Table, with_table};

use crate::Trial;
use crate::stored::array;
use tenter_sim::names;

/// Returns a table's schema: column names, types and order as in its Parquet file.
///
/// Each field has the metadata keys `tenter.meaning` and, if the column has a unit, `tenter.unit`.
pub fn arrow_schema<R: Row>() -> Schema {
    let fields: Vec<Field> = R::COLUMNS.iter().map(field).collect();
    Schema::new(fields)
}

pub(crate) fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Integer => DataType::Int64,
        Kind::Unsigned => DataType::UInt64,
        Kind::Float => DataType::Float64,
        Kind::Text => DataType::Utf8,
        Kind::Flag => DataType::Boolean,
    }
}

fn field<R: Row>(column: &Column<R>) -> Field {
    // A meaning is a doc comment, which begins with a space.
    let meaning = column.meaning.trim().to_owned();
    let mut metadata = HashMap::from([("tenter.meaning".to_owned(), meaning)]);
    if !column.unit.is_empty() {
        metadata.insert("tenter.unit".to_owned(), column.unit.to_owned());
    }
    Field::new(column.name, data_type(column.kind), column.optional).with_metadata(metadata)
}

/// Converts rows to one batch with the schema of [`arrow_schema()`]; `names` resolves the job and
/// node numbers in rows.
///
/// # Errors
/// When a required column lacks a value, which is a defect.
pub fn record_batch<R: Row>(rows: &[R], names: &Names) -> Result<RecordBatch, ArrowError> {
    let columns = R::COLUMNS.iter();
    let arrays = columns.map(|column| array(ColumnArray::of(column, rows, names)));
    let arrays = arrays.collect();
    RecordBatch::try_new(Arc::new(arrow_schema::<R>()), arrays)
}

impl Trial {
    /// Returns one of this trial's tables as one batch, for instance
    /// `trial.record_batch::<PortRow>()`.
    ///
    /// The schema has the metadata keys `tenter.version`, `tenter.digest` and `tenter.seed`. Needs
    /// the feature `arrow`.
    ///
    /// # Errors
    /// When a required column lacks a value, which is a defect.
    pub fn record_batch<R: Table>(&self) -> Result<RecordBatch, ArrowError> {
        let batch = record_batch(&self.rows::<R>(), &names(self.plan.resolved()))?;
        batch.with_schema(self.arrow_schema::<R>())
    }

    /// Returns a table's schema with this trial's metadata. Needs the feature `arrow`.
    pub fn arrow_schema<R: Row>(&self) -> SchemaRef {
        let summary = &self.summary;
        let metadata = [
            ("tenter.version", summary.tenter_version.clone()),
            ("tenter.digest", summary.engine.digest.clone()),
            ("tenter.seed", summary.seed.to_string()),
        ];
        let metadata = metadata.map(|(key, value)| (key.to_owned(), value));
        let schema = arrow_schema::<R>().with_metadata(HashMap::from(metadata));
        Arc::new(schema)
    }

    /// Returns the table with the given name in the data dictionary; `None` if there is no such
    /// table. Needs the feature `arrow`.
    ///
    /// # Errors
    /// When a required column lacks a value, which is a defect.
    pub fn table(&self, name: &str) -> Option<Result<RecordBatch, ArrowError>> {
        with_table(name, Batch(self))
    }

    /// Lists all table names.
    pub fn table_names() -> impl Iterator<Item = &'static str> {
        tenter_results::table_names()
    }
}

/// Picks the row type by table name, and makes the batch.
struct Batch<'t>(&'t Trial);

impl EachTable for Batch<'_> {
    type Out = Result<RecordBatch, ArrowError>;

    fn of<R: Table>(&mut self) -> Result<RecordBatch, ArrowError> {
        self.0.record_batch::<R>()
    }
}
