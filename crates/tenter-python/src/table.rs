//! Tables as Arrow streams.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::error::wrong;

/// Batches of one schema; a consumer of Arrow takes them as they are, any number of times.
#[pyclass(frozen, module = "tenter._core")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Arc<[RecordBatch]>,
}

impl Table {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Table {
        Table {
            schema,
            batches: batches.into(),
        }
    }

    pub(crate) fn of_batch(batch: RecordBatch) -> Table {
        Table::new(batch.schema(), vec![batch])
    }
}

#[pymethods]
impl Table {
    /// The stream of the Arrow `PyCapsule` interface; no type is cast for `requested_schema`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    /// Units of the columns that have one.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.metadata(py, "tenter.unit")
    }

    /// What the columns mean.
    #[getter]
    fn meanings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.metadata(py, "tenter.meaning")
    }

    /// The values of a column, from a row on, at most so many.
    #[pyo3(signature = (name, start=0, count=None))]
    fn column<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        start: usize,
        count: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let index = self.schema.index_of(name).map_err(|_| {
            let known = self.columns().join(", ");
            wrong(
                py,
                &format!("there is no column `{name}`: choose one of {known}"),
            )
        })?;
        let values = PyList::empty(py);
        let (mut skip, mut left) = (start, count.unwrap_or(usize::MAX));
        for batch in self.batches.iter() {
            let rows = batch.num_rows();
            let taken = rows.saturating_sub(skip).min(left);
            append(&values, &batch.column(index).slice(skip.min(rows), taken))?;
            skip = skip.saturating_sub(rows);
            left -= taken;
        }
        Ok(values)
    }
}

impl Table {
    fn metadata<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for field in self.schema.fields() {
            if let Some(text) = field.metadata().get(key) {
                found.set_item(field.name(), text)?;
            }
        }
        Ok(found)
    }
}

/// Appends the values of an array; missing ones are `None`.
fn append(values: &Bound<'_, PyList>, array: &dyn Array) -> PyResult<()> {
    match array.data_type() {
        DataType::Int64 => array
            .as_primitive::<Int64Type>()
            .iter()
            .try_for_each(|value| values.append(value)),
        DataType::UInt64 => array
            .as_primitive::<UInt64Type>()
            .iter()
            .try_for_each(|value| values.append(value)),
        DataType::Float64 => array
            .as_primitive::<Float64Type>()
            .iter()
            .try_for_each(|value| values.append(value)),
        DataType::Boolean => array
            .as_boolean()
            .iter()
            .try_for_each(|value| values.append(value)),
        _ => array
            .as_string::<i32>()
            .iter()
            .try_for_each(|value| values.append(value)),
    }
}
