//! Runs and trials.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tenter::{
    Control, FlowRow, Interference, Names, Observer, Progress, Row, Running, SampleRow, SinkError,
    arrow_schema, record_batch,
};

use crate::background::wait_for;
use crate::error::{raised, wrong};
use crate::scenario::Plan;
use crate::table::Table;

/// Rows become Arrow arrays so many at a time.
const BATCH_ROWS: usize = 1 << 16;

/// A trial that was run or opened.
#[pyclass(frozen, module = "tenter._core")]
pub(crate) struct Trial {
    inner: tenter::Trial,
    flows: Option<Vec<RecordBatch>>,
    samples: Option<Vec<RecordBatch>>,
}

#[pymethods]
impl Trial {
    #[getter]
    fn digest(&self) -> &str {
        self.inner.digest()
    }

    #[getter]
    fn complete(&self) -> bool {
        self.inner.is_complete()
    }

    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.inner.folder().map(PathBuf::from)
    }

    /// Everything at a glance, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(self.inner.summary()).map_err(|error| wrong(py, &error.to_string()))
    }

    #[getter]
    fn plan(&self) -> Plan {
        Plan(self.inner.plan().clone())
    }

    /// A table by its name.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let kept = |batches: &Option<Vec<RecordBatch>>, schema: arrow_schema::Schema| {
            let batches = batches.clone().ok_or_else(|| {
                wrong(
                    py,
                    &format!("the {name} of this trial were not kept: run it with `{name}=True`"),
                )
            })?;
            Ok(Table::new(Arc::new(schema), batches))
        };
        match name {
            FlowRow::TABLE => kept(&self.flows, arrow_schema::<FlowRow>()),
            SampleRow::TABLE => kept(&self.samples, arrow_schema::<SampleRow>()),
            _ => match self.inner.table(name) {
                Some(Ok(batch)) => Ok(Table::of_batch(batch)),
                Some(Err(error)) => Err(crate::error::internal(py, &error.to_string())),
                None => {
                    let known: Vec<_> = tenter::Trial::table_names().collect();
                    let known = known.join(", ");
                    Err(wrong(
                        py,
                        &format!("there is no table `{name}`: choose one of {known}"),
                    ))
                }
            },
        }
    }
}

/// Runs a plan.
#[pyfunction]
#[pyo3(signature = (
    plan, *, threads=None, flows=true, samples=true, folder=None, interference=None, force=false,
    progress=None
))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword of Python")]
pub(crate) fn run(
    py: Python<'_>,
    plan: &Plan,
    threads: Option<u16>,
    flows: bool,
    samples: bool,
    folder: Option<PathBuf>,
    interference: Option<&str>,
    force: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Trial> {
    let mut run = tenter::Run::new(&plan.0).force(force);
    if let Some(threads) = threads {
        run = run.threads(threads);
    }
    if let Some(folder) = folder {
        run = run.folder(folder);
    }
    run = match interference {
        None => run,
        Some("none") => run.interference(Interference::None),
        Some("alone") => run.interference(Interference::Alone),
        Some("pairs") => run.interference(Interference::Pairs),
        Some(other) => {
            let what = format!("`interference` is `{other}`: choose none, alone or pairs");
            return Err(wrong(py, &what));
        }
    };
    let expected = progress
        .as_ref()
        .map(|_| plan.0.packet_hops().unwrap_or(f64::NAN));
    let cancelled = Arc::new(AtomicBool::new(false));
    let at = Arc::new(Mutex::new(Progress::default()));
    let mut keeper = Keeper {
        flows: flows.then(Rows::default),
        samples: samples.then(Rows::default),
        names: plan.0.names(),
        cancelled: Arc::clone(&cancelled),
        at: Arc::clone(&at),
    };
    let work = move || {
        let trial = run.run_with(&mut keeper);
        (trial, keeper)
    };
    let tick = |py: Python<'_>| match progress {
        Some(progress) => {
            let at = *at.lock().unwrap_or_else(PoisonError::into_inner);
            let told = PyDict::new(py);
            told.set_item("simulated_ns", at.simulated.ps() as f64 / 1e3)?;
            told.set_item("packet_hops", at.packet_hops)?;
            told.set_item("expected_packet_hops", expected)?;
            told.set_item("flows_done", at.flows_done)?;
            told.set_item("flows_total", at.flows_total)?;
            progress.call1((told,)).map(drop)
        }
        None => Ok(()),
    };
    let (trial, keeper) = wait_for(py, &cancelled, tick, work)?;
    let trial = trial.map_err(|error| raised(py, &error))?;
    let names = &keeper.names;
    Ok(Trial {
        inner: trial,
        flows: keeper.flows.map(|rows| rows.finish(names)),
        samples: keeper.samples.map(|rows| rows.finish(names)),
    })
}

/// Opens the folder of a trial.
#[pyfunction]
pub(crate) fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Trial> {
    let opened = py.detach(|| {
        let trial = tenter::Trial::open(folder)?;
        let names = trial.names();
        let flows = Rows::of(trial.flows(), &names);
        let samples = Rows::of(trial.samples(), &names);
        Ok((trial, flows, samples))
    });
    let (trial, flows, samples) = opened.map_err(|error: tenter::Error| raised(py, &error))?;
    Ok(Trial {
        inner: trial.without_rows(),
        flows: Some(flows),
        samples: Some(samples),
    })
}

/// Rows on their way into Arrow arrays.
struct Rows<R> {
    pending: Vec<R>,
    batches: Vec<RecordBatch>,
}

impl<R> Default for Rows<R> {
    fn default() -> Rows<R> {
        Rows {
            pending: Vec::new(),
            batches: Vec::new(),
        }
    }
}

impl<R: Row + Clone> Rows<R> {
    fn take(&mut self, rows: &[R], names: &Names) -> Result<(), SinkError> {
        self.pending.extend_from_slice(rows);
        if self.pending.len() >= BATCH_ROWS {
            self.flush(names)
                .map_err(|error| SinkError(error.to_string()))?;
        }
        Ok(())
    }

    fn flush(&mut self, names: &Names) -> Result<(), arrow_schema::ArrowError> {
        if !self.pending.is_empty() {
            self.batches.push(record_batch(&self.pending, names)?);
            self.pending.clear();
        }
        Ok(())
    }

    fn finish(mut self, names: &Names) -> Vec<RecordBatch> {
        // Every row came through `record_batch` before, or would have.
        let _ = self.flush(names);
        self.batches
    }

    fn of(rows: &[R], names: &Names) -> Vec<RecordBatch> {
        let batches = rows
            .chunks(BATCH_ROWS)
            .map(|rows| record_batch(rows, names));
        batches.filter_map(Result::ok).collect()
    }
}

/// Takes the rows of a run, tells how far it is, and ends it when it is told to.
struct Keeper {
    flows: Option<Rows<FlowRow>>,
    samples: Option<Rows<SampleRow>>,
    names: Names,
    cancelled: Arc<AtomicBool>,
    at: Arc<Mutex<Progress>>,
}

impl Observer for Keeper {
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        match &mut self.flows {
            Some(kept) => kept.take(rows, &self.names),
            None => Ok(()),
        }
    }

    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError> {
        match &mut self.samples {
            Some(kept) => kept.take(rows, &self.names),
            None => Ok(()),
        }
    }

    fn progress(&mut self, at: &Running<'_>) -> Control {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = at.progress;
        if self.cancelled.load(Ordering::Relaxed) {
            Control::Stop
        } else {
            Control::Continue
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
