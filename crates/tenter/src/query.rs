//! Answers queries over the tables of a trial.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::report::{FolderTables, TrialError};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use tenter_language::units::Budget;
use tenter_results::{
    Answer, AnswerColumn, ColumnArray, ColumnValues, FlowRow, Held, Query, QueryError, Row,
    SampleRow, Source,
};

use crate::arrow::data_type;
use crate::stored::array;
use crate::{Error, Trial};

/// A trial's large tables that the caller holds as batches.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeptBatches<'t> {
    /// Flows, as [`StoredTable::batches`](crate::StoredTable::batches) gives them.
    pub flows: &'t [RecordBatch],
    /// Samples, likewise.
    pub samples: &'t [RecordBatch],
}

/// A trial with every place where its tables may be.
struct Tables<'t> {
    trial: &'t Trial,
    held: Held<'t>,
    kept: KeptBatches<'t>,
}

impl Trial {
    /// Answers a query, for instance `"p99(flows.fct_ns) by job_name".parse()`. Flows and samples
    /// that this trial does not hold in memory come from `kept`, or else from its folder.
    ///
    /// Needs the feature `arrow`.
    ///
    /// # Errors
    /// When the values exceed `budget`, or a file in the folder is damaged.
    pub fn query(
        &self,
        query: &Query,
        kept: KeptBatches<'_>,
        budget: &Budget,
    ) -> Result<Answer, Error> {
        let names = self.names();
        let held = Held {
            results: self.results(),
            names: &names,
        };
        let tables = Tables {
            trial: self,
            held,
            kept,
        };
        query.ask(&tables, budget).map_err(|error| match error {
            QueryError::Source(error) => error.into(),
            QueryError::Budget(over) => over.into(),
        })
    }
}

impl Source for Tables<'_> {
    type Error = TrialError;

    fn each_group(
        &self,
        table: &str,
        columns: &[usize],
        each: &mut dyn FnMut(&[ColumnArray]) -> ControlFlow<()>,
    ) -> Result<(), TrialError> {
        let results = self.held.results;
        // No flows in memory may mean that the run did not keep them: look into the batches or the
        // folder. Other tables are never kept as batches.
        let (is_held, batches) = match table {
            FlowRow::TABLE => (!results.flows.is_empty(), self.kept.flows),
            SampleRow::TABLE => (!results.samples.is_empty(), self.kept.samples),
            _ => (true, [].as_slice()),
        };
        if is_held || (batches.is_empty() && self.trial.folder().is_none()) {
            let Ok(()) = self.held.each_group(table, columns, each);
            return Ok(());
        }
        match self.trial.folder() {
            Some(folder) if batches.is_empty() => {
                FolderTables(folder).each_group(table, columns, each)
            }
            _ => {
                let _: ControlFlow<()> = batches.iter().try_for_each(|batch| {
                    let arrays = columns.iter();
                    let arrays = arrays.map(|place| column_array(batch.column(*place)));
                    each(&arrays.collect::<Vec<_>>())
                });
                Ok(())
            }
        }
    }
}

/// Converts an Arrow array to a column.
fn column_array(array: &ArrayRef) -> ColumnArray {
    let values = match array.data_type() {
        DataType::Int64 => {
            ColumnValues::Integer(array.as_primitive::<Int64Type>().values().to_vec())
        }
        DataType::UInt64 => {
            ColumnValues::Unsigned(array.as_primitive::<UInt64Type>().values().to_vec())
        }
        DataType::Float64 => {
            ColumnValues::Float(array.as_primitive::<Float64Type>().values().to_vec())
        }
        DataType::Boolean => {
            let flags = array.as_boolean();
            ColumnValues::Flag((0..flags.len()).map(|row| flags.value(row)).collect())
        }
        // `data_type` in `arrow.rs` produces these five types, so the last one is text.
        _ => {
            let texts = array.as_string::<i32>();
            ColumnValues::Text(
                (0..texts.len())
                    .map(|row| texts.value(row).to_owned())
                    .collect(),
            )
        }
    };
    let is_valid = |row| array.is_valid(row);
    ColumnArray {
        values,
        valid: (array.null_count() > 0).then(|| (0..array.len()).map(is_valid).collect()),
    }
}

/// Converts an answer to one batch: a column for each column in `by`, then one for each value. A
/// field has its unit as metadata key `tenter.unit`. Needs the feature `arrow`.
///
/// # Errors
/// When columns have different lengths, which is a defect.
pub fn answer_batch(answer: &Answer) -> Result<RecordBatch, ArrowError> {
    let field = |column: &AnswerColumn| {
        let unit = (!column.unit.is_empty()).then(|| column.unit.clone());
        let metadata = unit.map(|unit| ("tenter.unit".to_owned(), unit));
        Field::new(column.name.clone(), data_type(column.kind), true)
            .with_metadata(metadata.into_iter().collect::<HashMap<_, _>>())
    };
    let fields = answer.keys.iter().chain(&answer.values).map(field);
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let keys = (0..answer.keys.len()).map(|place| {
        let cells = answer.rows.iter().map(|row| row.key[place].cell());
        array(ColumnArray::of_cells(answer.keys[place].kind, cells))
    });
    let values = (0..answer.values.len()).map(|place| {
        let values = answer.rows.iter().map(|row| row.values[place]);
        Arc::new(values.collect::<arrow_array::Float64Array>()) as ArrayRef
    });
    RecordBatch::try_new(schema, keys.chain(values).collect())
}
