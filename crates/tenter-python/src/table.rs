//! Tables, handed over as Arrow streams.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyInt, PyList, PyString, PyTuple};
use tenter::{ColumnTest, Condition, Selection, StoredTable};

use crate::error::{internal, raised, wrong};

/// Batches of one schema; a consumer of Arrow takes them as they are, any number of times.
#[pyclass(frozen, module = "tenter._core")]
pub(crate) struct Table {
    source: Source,
    selection: Selection,
    /// Schema that the selected columns have.
    schema: SchemaRef,
}

#[derive(Clone)]
enum Source {
    /// In memory, as Arrow batches.
    Kept {
        schema: SchemaRef,
        batches: Arc<[RecordBatch]>,
    },
    /// In a file within a trial's folder.
    Stored(StoredTable),
}

type Batches = Box<dyn RecordBatchReader + Send>;

impl Table {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Table {
        let batches = batches.into();
        Table::of(Source::Kept { schema, batches }, Selection::default())
    }

    pub(crate) fn of_batch(batch: RecordBatch) -> Table {
        Table::new(batch.schema(), vec![batch])
    }

    pub(crate) fn stored(table: StoredTable) -> Table {
        Table::of(Source::Stored(table), Selection::default())
    }

    fn of(source: Source, selection: Selection) -> Table {
        Table {
            schema: selection.schema(source.schema()),
            source,
            selection,
        }
    }

    /// Returns batches with the selected columns and rows, in their order.
    fn batches(&self, py: Python<'_>, selection: &Selection) -> PyResult<Batches> {
        match &self.source {
            Source::Stored(table) => {
                let batches = table.batches(selection);
                let batches = batches.map_err(|error| raised(py, &error))?;
                Ok(Box::new(batches))
            }
            Source::Kept { schema, batches } => {
                let own = selection.schema(schema);
                // Whole batches are passed on without a copy.
                if *selection == Selection::default() {
                    let batches: Vec<_> = batches.iter().cloned().map(Ok).collect();
                    return Ok(Box::new(RecordBatchIterator::new(batches, own)));
                }
                let (schema, selection) = (Arc::clone(schema), selection.clone());
                // The stream may outlive this table, so both share the batches.
                let batches = Arc::clone(batches);
                let selected = (0..batches.len()).map(move |at| {
                    let batch = &batches[at];
                    let column = |place: usize| Arc::clone(batch.column(place));
                    selection.of(&schema, batch.num_rows(), column)
                });
                Ok(Box::new(RecordBatchIterator::new(selected, own)))
            }
        }
    }
}

impl Source {
    fn schema(&self) -> &SchemaRef {
        match self {
            Source::Kept { schema, .. } => schema,
            Source::Stored(table) => table.schema(),
        }
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
        // The interface lets a producer ignore the request.
        let _ = requested_schema;
        let stream = FFI_ArrowArrayStream::new(self.batches(py, &self.selection)?);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        if !self.selection.conditions.is_empty() {
            let counted = Selection {
                // Only the columns of the conditions are read; the rows that fit are counted
                // without columns.
                columns: Some(Vec::new()),
                ..self.selection.clone()
            };
            let batches = self.batches(py, &counted)?;
            let counts = py.detach(|| {
                let rows = batches.map(|batch| batch.map(|batch| batch.num_rows()));
                rows.sum::<Result<usize, ArrowError>>()
            });
            return counts.map_err(|error| unreadable(py, &error));
        }
        Ok(match &self.source {
            Source::Kept { batches, .. } => batches.iter().map(RecordBatch::num_rows).sum(),
            Source::Stored(table) => table.rows(),
        })
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        names(&self.schema)
    }

    /// Units of the columns that have one.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.metadata(py, "tenter.unit")
    }

    /// Meanings of the columns, by name.
    #[getter]
    fn meanings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.metadata(py, "tenter.meaning")
    }

    /// Returns the table with some of its columns, and the rows whose values fit.
    #[pyo3(signature = (columns=None, conditions=None))]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments of Python are values"
    )]
    fn select(
        &self,
        py: Python<'_>,
        columns: Option<Vec<String>>,
        conditions: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Table> {
        let all = self.source.schema();
        let place = |name: &str| {
            all.index_of(name).map_err(|_| {
                let known = names(all).join(", ");
                let what = format!("there is no column `{name}`: choose one of {known}");
                wrong(py, &what)
            })
        };
        let mut selection = self.selection.clone();
        if let Some(columns) = &columns {
            let places = columns.iter().map(|name| place(name));
            selection.columns = Some(places.collect::<PyResult<_>>()?);
        }
        for (name, value) in conditions.into_iter().flatten() {
            let name: String = name.extract()?;
            let column = place(&name)?;
            let kind = all.field(column).data_type();
            let test = test_of(py, &name, kind, &value)?;
            selection.conditions.push(Condition { column, test });
        }
        Ok(Table::of(self.source.clone(), selection))
    }

    /// Returns all rows in parts of at most `rows` each.
    fn parts(&self, py: Python<'_>, rows: usize) -> PyResult<Parts> {
        Ok(Parts(Mutex::new(Reading {
            batches: self.batches(py, &self.selection)?,
            batch: None,
            rows: rows.max(1),
        })))
    }

    /// The values of a column.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        // `select` knows every column of the source, also those that this selection left out.
        let own = self.select(py, Some(vec![name.to_owned()]), None)?;
        if !self.columns().iter().any(|known| known == name) {
            let known = self.columns().join(", ");
            let what = format!("there is no column `{name}`: choose one of {known}");
            return Err(wrong(py, &what));
        }
        let values = PyList::empty(py);
        for batch in own.batches(py, &own.selection)? {
            let batch = batch.map_err(|error| unreadable(py, &error))?;
            append(&values, batch.column(0))?;
        }
        Ok(values)
    }
}

/// The rows of a table, some at a time: each batch is read once.
#[pyclass(frozen, module = "tenter._core")]
pub(crate) struct Parts(Mutex<Reading>);

struct Reading {
    batches: Batches,
    /// Rows in the current batch that have not been returned yet.
    batch: Option<RecordBatch>,
    rows: usize,
}

impl Reading {
    /// Returns the next rows; `None` after the last.
    fn next(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        loop {
            let Some(batch) = self
                .batch
                .take()
                .map_or_else(|| self.batches.next(), |of| Some(Ok(of)))
            else {
                return Ok(None);
            };
            let batch = batch?;
            let rows = batch.num_rows().min(self.rows);
            if batch.num_rows() > rows {
                self.batch = Some(batch.slice(rows, batch.num_rows() - rows));
            }
            // Batches without rows are passed over.
            if rows > 0 {
                return Ok(Some(batch.slice(0, rows)));
            }
        }
    }
}

#[pymethods]
impl Parts {
    fn __iter__(own: PyRef<'_, Self>) -> PyRef<'_, Self> {
        own
    }

    /// The values of the columns in the next rows.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyList>>>> {
        // Other threads of Python run while a file is read.
        let part = py.detach(|| {
            let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            reading.next()
        });
        let Some(part) = part.map_err(|error| unreadable(py, &error))? else {
            return Ok(None);
        };
        let columns = part.columns().iter().map(|array| {
            let values = PyList::empty(py);
            append(&values, array)?;
            Ok(values)
        });
        columns.collect::<PyResult<_>>().map(Some)
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

fn names(schema: &SchemaRef) -> Vec<String> {
    let fields = schema.fields().iter();
    fields.map(|field| field.name().clone()).collect()
}

fn unreadable(py: Python<'_>, error: &ArrowError) -> PyErr {
    internal(py, &error.to_string())
}

/// Returns the test that a condition's value stands for.
fn test_of(
    py: Python<'_>,
    name: &str,
    kind: &DataType,
    value: &Bound<'_, PyAny>,
) -> PyResult<ColumnTest> {
    let is_number = matches!(kind, DataType::Int64 | DataType::UInt64 | DataType::Float64);
    let remedy = match kind {
        DataType::Utf8 => "give a text",
        DataType::Boolean => "give True or False",
        _ => "give a number, or a pair of the least and the greatest",
    };
    let refused = || {
        let what = format!("`{name}` cannot be compared with {value}: {remedy}");
        wrong(py, &what)
    };
    if value.is_instance_of::<PyBool>() && *kind == DataType::Boolean {
        return Ok(ColumnTest::Flag(value.extract()?));
    }
    if value.is_instance_of::<PyString>() && *kind == DataType::Utf8 {
        return Ok(ColumnTest::Text(value.extract()?));
    }
    // `True` is an `int` in Python, but no number that a user would compare with.
    if value.is_instance_of::<PyBool>() || !is_number {
        return Err(refused());
    }
    if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
        let ends: Vec<f64> = value.extract().map_err(|_| refused())?;
        return match ends.as_slice() {
            &[low, high] if low <= high => Ok(ColumnTest::Between(low, high)),
            _ => Err(refused()),
        };
    }
    if value.is_instance_of::<PyInt>() || value.extract::<f64>().is_ok() {
        let number: f64 = value.extract().map_err(|_| refused())?;
        // Equality is a range with one value.
        return Ok(ColumnTest::Between(number, number));
    }
    Err(refused())
}

/// Appends an array's values; missing ones become `None`.
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
