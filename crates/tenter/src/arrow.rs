//! Rows as Arrow record batches.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use tenter_record::{
    CircuitRow, CollectiveRow, Column, CriticalPathRow, FlowRow, InferencePoolRow, InferenceRow,
    InterferenceRow, JobRow, Kind, Names, NoteRow, OperationRow, PortRow, PowerRow, QueueChangeRow,
    QueueRow, RankTimeRow, ReactionRow, RequestRow, Row, SampleRow, SignalRow, SteeringRow,
    SwitchRow, TierRow, TrainingRankRow, TrainingStepRow,
};

use crate::identity::names;
use crate::{Table, Trial};

/// The schema of a table: names, types and order of its columns as in its Parquet file.
///
/// The metadata of a field have the keys `tenter.meaning` and, where the column has a unit,
/// `tenter.unit`.
pub fn arrow_schema<R: Row>() -> Schema {
    let fields: Vec<Field> = R::COLUMNS.iter().map(field).collect();
    Schema::new(fields)
}

fn field<R: Row>(column: &Column<R>) -> Field {
    let kind = match column.kind {
        Kind::Integer => DataType::Int64,
        Kind::Unsigned => DataType::UInt64,
        Kind::Float => DataType::Float64,
        Kind::Text => DataType::Utf8,
        Kind::Flag => DataType::Boolean,
    };
    let meaning = column.meaning.trim().to_owned();
    let mut metadata = HashMap::from([("tenter.meaning".to_owned(), meaning)]);
    if !column.unit.is_empty() {
        metadata.insert("tenter.unit".to_owned(), column.unit.to_owned());
    }
    Field::new(column.name, kind, column.optional).with_metadata(metadata)
}

/// Rows as one batch with the schema of [`arrow_schema()`]; `names` fill the columns that are
/// looked up.
///
/// # Errors
/// When a column lacks a value that every row must have: a defect.
pub fn record_batch<R: Row>(rows: &[R], names: &Names) -> Result<RecordBatch, ArrowError> {
    let columns = R::COLUMNS.iter();
    let arrays = columns.map(|column| array(column, rows, names)).collect();
    RecordBatch::try_new(Arc::new(arrow_schema::<R>()), arrays)
}

/// One column; a cell of another kind counts as missing.
fn array<R: Row>(column: &Column<R>, rows: &[R], names: &Names) -> ArrayRef {
    let cells = rows.iter().map(|row| (column.cell)(row, names));
    let count = rows.len();
    match column.kind {
        Kind::Integer => {
            let mut array = Int64Builder::with_capacity(count);
            cells.for_each(|cell| array.append_option(cell.integer()));
            Arc::new(array.finish())
        }
        Kind::Unsigned => {
            let mut array = UInt64Builder::with_capacity(count);
            cells.for_each(|cell| array.append_option(cell.unsigned()));
            Arc::new(array.finish())
        }
        Kind::Float => {
            let mut array = Float64Builder::with_capacity(count);
            cells.for_each(|cell| array.append_option(cell.float()));
            Arc::new(array.finish())
        }
        Kind::Text => {
            let mut array = StringBuilder::new();
            cells.for_each(|cell| array.append_option(cell.text()));
            Arc::new(array.finish())
        }
        Kind::Flag => {
            let mut array = BooleanBuilder::with_capacity(count);
            cells.for_each(|cell| array.append_option(cell.flag()));
            Arc::new(array.finish())
        }
    }
}

impl Trial {
    /// A table of the trial as one batch, for instance `trial.record_batch::<PortRow>()`.
    ///
    /// The metadata of its schema have the keys `tenter.version`, `tenter.digest` and
    /// `tenter.seed`. Needs the feature `arrow`.
    ///
    /// # Errors
    /// When a column lacks a value that every row must have: a defect.
    pub fn record_batch<R: Table>(&self) -> Result<RecordBatch, ArrowError> {
        let batch = record_batch(&R::rows(self), &names(self.plan.resolved()))?;
        batch.with_schema(self.arrow_schema::<R>())
    }

    /// The schema of a table of the trial, with its metadata. Needs the feature `arrow`.
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

    /// A table of the trial by its name, as the data dictionary has it; `None` where there is no
    /// such table. Needs the feature `arrow`.
    ///
    /// # Errors
    /// When a column lacks a value that every row must have: a defect.
    pub fn table(&self, name: &str) -> Option<Result<RecordBatch, ArrowError>> {
        let (_, batch) = TABLES.iter().find(|(of, _)| *of == name)?;
        Some(batch(self))
    }

    /// The names of all tables.
    pub fn table_names() -> impl Iterator<Item = &'static str> {
        TABLES.iter().map(|(name, _)| *name)
    }
}

/// Makes the batch of a table.
type Batch = fn(&Trial) -> Result<RecordBatch, ArrowError>;

/// Every table by its name.
const TABLES: [(&str, Batch); 24] = [
    table::<JobRow>(),
    table::<CollectiveRow>(),
    table::<FlowRow>(),
    table::<PortRow>(),
    table::<QueueRow>(),
    table::<SwitchRow>(),
    table::<TierRow>(),
    table::<SampleRow>(),
    table::<SignalRow>(),
    table::<ReactionRow>(),
    table::<CircuitRow>(),
    table::<SteeringRow>(),
    table::<QueueChangeRow>(),
    table::<OperationRow>(),
    table::<RankTimeRow>(),
    table::<CriticalPathRow>(),
    table::<TrainingStepRow>(),
    table::<TrainingRankRow>(),
    table::<InferenceRow>(),
    table::<InferencePoolRow>(),
    table::<RequestRow>(),
    table::<NoteRow>(),
    table::<InterferenceRow>(),
    table::<PowerRow>(),
];

const fn table<R: Table>() -> (&'static str, Batch) {
    (R::TABLE, |trial| trial.record_batch::<R>())
}
