//! Selects columns and rows from a table, batch by batch.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};

/// Selected columns and rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Column indices in result order; `None` selects all columns.
    pub columns: Option<Vec<usize>>,
    /// Conditions that a selected row meets, all together.
    pub conditions: Vec<Condition>,
}

/// Condition on one column.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The column's index in the table.
    pub column: usize,
    /// Test that the value must pass; a missing value passes none.
    pub test: ColumnTest,
}

/// Test of a single value.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnTest {
    /// The value is a number from the first to the second, both included.
    Between(f64, f64),
    /// The value equals this text.
    Text(String),
    /// The value equals this flag.
    Flag(bool),
}

impl Selection {
    /// Returns the schema for the selected columns, given the one for all columns.
    pub fn schema(&self, all: &SchemaRef) -> SchemaRef {
        let Some(columns) = &self.columns else {
            return Arc::clone(all);
        };
        let fields = columns.iter().map(|&column| all.fields()[column].clone());
        let fields: Vec<_> = fields.collect();
        Arc::new(Schema::new_with_metadata(fields, all.metadata().clone()))
    }

    /// False if a row group's statistics exclude every selected row. `range` gives a column's least
    /// and greatest value, where known.
    pub(crate) fn may_be_in(&self, range: impl Fn(usize) -> Option<(f64, f64)>) -> bool {
        self.conditions.iter().all(|condition| {
            // The file's statistics are used for numbers only.
            let ColumnTest::Between(low, high) = condition.test else {
                return true;
            };
            let ends = range(condition.column);
            ends.is_none_or(|(least, greatest)| least <= high && greatest >= low)
        })
    }

    /// Returns the column indices to read: the selected ones, and those with conditions.
    pub(crate) fn needed(&self, count: usize) -> BTreeSet<usize> {
        let meant = match &self.columns {
            Some(columns) => columns.clone(),
            None => (0..count).collect(),
        };
        let of_conditions = self.conditions.iter().map(|condition| condition.column);
        meant.into_iter().chain(of_conditions).collect()
    }

    /// Selects from one batch with `rows` rows; `column` returns a column by its index.
    ///
    /// # Errors
    /// When columns have different lengths, which is a defect.
    pub fn of(
        &self,
        schema: &SchemaRef,
        rows: usize,
        column: impl Fn(usize) -> ArrayRef,
    ) -> Result<RecordBatch, ArrowError> {
        let own = self.schema(schema);
        let places: Vec<usize> = match &self.columns {
            Some(columns) => columns.clone(),
            None => (0..schema.fields().len()).collect(),
        };
        // Without conditions, columns are handed on without a copy.
        let arrays: Vec<ArrayRef> = if self.conditions.is_empty() {
            places.into_iter().map(column).collect()
        } else {
            let fits = |row: &usize| {
                let mut conditions = self.conditions.iter();
                conditions.all(|of| of.test.fits(column(of.column).as_ref(), *row))
            };
            let rows: Vec<usize> = (0..rows).filter(fits).collect();
            let taken = |place| taken(column(place).as_ref(), &rows);
            let arrays: Vec<ArrayRef> = places.into_iter().map(taken).collect();
            return with_rows(own, arrays, rows.len());
        };
        with_rows(own, arrays, rows)
    }
}

/// Makes a batch with an explicit row count, since it may have no columns.
fn with_rows(
    schema: SchemaRef,
    arrays: Vec<ArrayRef>,
    rows: usize,
) -> Result<RecordBatch, ArrowError> {
    // Arrow takes the row count from the first column, and there may be none.
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, arrays, &options)
}

impl ColumnTest {
    fn fits(&self, array: &dyn Array, row: usize) -> bool {
        if array.is_null(row) {
            return false;
        }
        match (self, array.data_type()) {
            (ColumnTest::Between(low, high), kind) => {
                let value = match kind {
                    DataType::Int64 => array.as_primitive::<Int64Type>().value(row) as f64,
                    DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row) as f64,
                    DataType::Float64 => array.as_primitive::<Float64Type>().value(row),
                    _ => return false,
                };
                (*low..=*high).contains(&value)
            }
            (ColumnTest::Text(text), DataType::Utf8) => array.as_string::<i32>().value(row) == text,
            (ColumnTest::Flag(flag), DataType::Boolean) => array.as_boolean().value(row) == *flag,
            _ => false,
        }
    }
}

/// Copies some rows from an array.
fn taken(array: &dyn Array, rows: &[usize]) -> ArrayRef {
    macro_rules! append {
        ($builder:expr, $array:expr) => {{
            let (mut builder, array) = ($builder, $array);
            for &row in rows {
                builder.append_option(array.is_valid(row).then(|| array.value(row)));
            }
            Arc::new(builder.finish())
        }};
    }
    let count = rows.len();
    match array.data_type() {
        DataType::Int64 => append!(
            Int64Builder::with_capacity(count),
            array.as_primitive::<Int64Type>()
        ),
        DataType::UInt64 => append!(
            UInt64Builder::with_capacity(count),
            array.as_primitive::<UInt64Type>()
        ),
        DataType::Float64 => append!(
            Float64Builder::with_capacity(count),
            array.as_primitive::<Float64Type>()
        ),
        DataType::Boolean => append!(BooleanBuilder::with_capacity(count), array.as_boolean()),
        _ => append!(StringBuilder::new(), array.as_string::<i32>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record_batch;
    use tenter_results::{FlowRow, Names, Row};

    fn place(name: &str) -> usize {
        let mut columns = FlowRow::COLUMNS.iter();
        columns
            .position(|column| column.name == name)
            .expect("a column")
    }

    #[test]
    fn some_columns_and_rows_are_taken() {
        let names = Names {
            jobs: vec!["a".to_owned(), "b".to_owned()],
            nodes: Vec::new(),
        };
        let row = |index: u32| FlowRow {
            job: index % 2,
            payload_bytes: u64::from(index),
            ..FlowRow::default()
        };
        let rows: Vec<FlowRow> = (0..10).map(row).collect();
        let batch = record_batch(&rows, &names).expect("a batch");
        let of = |column: &str, test: ColumnTest| Condition {
            column: place(column),
            test,
        };
        let selection = Selection {
            columns: Some(vec![place("payload_bytes")]),
            conditions: vec![
                of("payload_bytes", ColumnTest::Between(3.0, 8.0)),
                of("job_name", ColumnTest::Text("b".to_owned())),
            ],
        };
        let schema = batch.schema();
        let column = |place: usize| Arc::clone(batch.column(place));
        let found = selection.of(&schema, 10, column).expect("a batch");
        let bytes = found.column(0).as_primitive::<Int64Type>();
        assert_eq!(
            (found.num_columns(), bytes.values().as_ref()),
            (1, [3, 5, 7].as_slice())
        );
        assert!(selection.may_be_in(|_| Some((8.0, 9.0))));
        assert!(!selection.may_be_in(|_| Some((9.0, 10.0))));
        // A missing value fits nothing.
        let of_missing = Selection {
            columns: None,
            conditions: vec![of("latency_min_ns", ColumnTest::Between(0.0, 1e9))],
        };
        let none = of_missing.of(&schema, 10, column).expect("a batch");
        assert_eq!(
            (none.num_rows(), none.num_columns()),
            (0, FlowRow::COLUMNS.len())
        );
    }
}
