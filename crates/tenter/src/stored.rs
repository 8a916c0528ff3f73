//! Reads a trial folder's large tables as Arrow batches on demand, so that memory holds a batch and
//! not the table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::report::{TableGroups, TrialError};
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use tenter_results::{ColumnArray, ColumnValues, Table};

use crate::selection::Selection;
use crate::{Error, Trial};

/// Opens one table in a trial folder; the row type is bound at creation.
type Open = fn(&Path) -> Result<TableGroups, TrialError>;

/// A table in a trial folder.
#[derive(Clone, Debug)]
pub struct StoredTable {
    folder: PathBuf,
    open: Open,
    schema: SchemaRef,
    rows: usize,
}

/// Iterator over a stored table: one batch for each row group in its Parquet file.
pub struct StoredBatches {
    groups: TableGroups,
    next: usize,
    selection: Selection,
    all: SchemaRef,
    schema: SchemaRef,
}

impl Trial {
    /// Opens a table in this trial's folder; `None` if the trial has no folder. Needs the feature
    /// `arrow`.
    ///
    /// # Errors
    /// When the file is missing or damaged.
    pub fn stored<R: Table>(&self) -> Result<Option<StoredTable>, Error> {
        let Some(folder) = self.folder() else {
            return Ok(None);
        };
        let groups = TableGroups::open::<R>(folder)?;
        Ok(Some(StoredTable {
            folder: folder.to_owned(),
            open: TableGroups::open::<R>,
            schema: self.arrow_schema::<R>(),
            rows: (0..groups.count()).map(|group| groups.rows(group)).sum(),
        }))
    }
}

impl StoredTable {
    /// Schema with all the table's columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Row count over all row groups.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Iterates over the selected columns and rows. Row groups are skipped if the file's statistics
    /// exclude every selected row.
    ///
    /// # Errors
    /// When the file is missing or damaged by now.
    pub fn batches(&self, selection: &Selection) -> Result<StoredBatches, Error> {
        Ok(StoredBatches {
            // The file is opened for each iterator, so that several can run side by side.
            groups: (self.open)(&self.folder)?,
            next: 0,
            schema: selection.schema(&self.schema),
            selection: selection.clone(),
            all: Arc::clone(&self.schema),
        })
    }
}

impl StoredBatches {
    fn batch(&self, group: usize) -> Result<RecordBatch, ArrowError> {
        let count = self.all.fields().len();
        let mut columns: Vec<Option<ArrayRef>> = vec![None; count];
        for place in self.selection.needed(count) {
            let column = self.groups.column(group, place);
            let column = column.map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
            columns[place] = Some(array(column));
        }
        let column = |place: usize| {
            let column = columns[place].as_ref();
            Arc::clone(column.expect("what is needed was read"))
        };
        let rows = self.groups.rows(group);
        self.selection.of(&self.all, rows, column)
    }
}

impl Iterator for StoredBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.next < self.groups.count() {
            let group = self.next;
            self.next += 1;
            let range = |column| self.groups.range(group, column);
            if self.selection.may_be_in(range) {
                return Some(self.batch(group));
            }
        }
        None
    }
}

impl RecordBatchReader for StoredBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Converts a column to an Arrow array.
pub(crate) fn array(column: ColumnArray) -> ArrayRef {
    macro_rules! numbers {
        ($builder:ident, $array:ty, $values:expr) => {{
            let values = $values;
            match column.valid {
                // Without missing values, the array takes over the vector without a copy.
                None => Arc::new(<$array>::from(values)) as ArrayRef,
                Some(valid) => {
                    let mut builder = $builder::with_capacity(values.len());
                    builder.append_values(&values, &valid);
                    Arc::new(builder.finish())
                }
            }
        }};
    }
    match column.values {
        ColumnValues::Integer(values) => {
            numbers!(Int64Builder, arrow_array::Int64Array, values)
        }
        ColumnValues::Unsigned(values) => {
            numbers!(UInt64Builder, arrow_array::UInt64Array, values)
        }
        ColumnValues::Float(values) => {
            numbers!(Float64Builder, arrow_array::Float64Array, values)
        }
        ColumnValues::Flag(values) => {
            let mut builder = BooleanBuilder::with_capacity(values.len());
            let there = |row: usize| column.valid.as_ref().is_none_or(|valid| valid[row]);
            for (row, value) in values.into_iter().enumerate() {
                builder.append_option(there(row).then_some(value));
            }
            Arc::new(builder.finish())
        }
        ColumnValues::Text(values) => {
            let mut builder = StringBuilder::new();
            let there = |row: usize| column.valid.as_ref().is_none_or(|valid| valid[row]);
            for (row, value) in values.into_iter().enumerate() {
                builder.append_option(there(row).then_some(value));
            }
            Arc::new(builder.finish())
        }
    }
}
