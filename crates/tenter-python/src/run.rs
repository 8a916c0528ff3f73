//! Runs, and the trials that they leave.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tenter::{
    Budget, Control, FlowRow, Interference, KeptBatches, Names, Observer, Progress, Row, Running,
    SampleRow, SinkError, answer_batch, record_batch,
};

use crate::allowance::Allowance;
use crate::background::wait_for;
use crate::error::{raised, wrong};
use crate::scenario::Plan;
use crate::table::Table;

/// Rows that become one Arrow batch.
const BATCH_ROWS: usize = 1 << 16;

/// A trial that was run or opened.
#[pyclass(frozen, module = "tenter._core")]
pub(crate) struct Trial {
    inner: tenter::Trial,
    /// Limits for each call about the trial's plan.
    allowance: Allowance,
    flows: Rows,
    samples: Rows,
}

/// Storage for a large table's rows.
enum Rows {
    /// In memory, as Arrow batches.
    Kept(Vec<RecordBatch>),
    /// In files within the trial's folder.
    Stored,
    /// Not kept at all, neither in memory nor on disk.
    None,
}

impl Rows {
    /// Chooses the kept rows, else the trial's folder, if it has one.
    fn of<R: Row + Clone>(kept: Option<Pending<R>>, names: &Names, trial: &tenter::Trial) -> Rows {
        match (kept, trial.folder()) {
            (Some(rows), _) => Rows::Kept(rows.finish(names)),
            (None, Some(_)) => Rows::Stored,
            (None, None) => Rows::None,
        }
    }

    fn batches(&self) -> &[RecordBatch] {
        match self {
            Rows::Kept(batches) => batches,
            Rows::Stored | Rows::None => &[],
        }
    }
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
        Plan {
            plan: self.inner.plan().clone(),
            allowance: self.allowance,
        }
    }

    /// The answer to a query, as a table.
    fn query(&self, py: Python<'_>, query: &str) -> PyResult<Table> {
        let query: tenter::Query = query
            .parse()
            .map_err(|problem| wrong(py, &format!("{problem}")))?;
        for (table, rows) in [
            (FlowRow::TABLE, &self.flows),
            (SampleRow::TABLE, &self.samples),
        ] {
            // Without rows the answer would be that of an empty table.
            if query.table() == table && matches!(rows, Rows::None) {
                return Err(not_kept(py, table));
            }
        }
        let kept = KeptBatches {
            flows: self.flows.batches(),
            samples: self.samples.batches(),
        };
        let ask = |budget: &Budget| self.inner.query(&query, kept, budget);
        let answer = self.allowance.within(py, ask)?;
        let batch = answer_batch(&answer);
        let batch = batch.map_err(|error| crate::error::internal(py, &error.to_string()))?;
        Ok(Table::of_batch(batch))
    }

    /// A table by its name.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        match name {
            FlowRow::TABLE => self.large::<FlowRow>(py, &self.flows),
            SampleRow::TABLE => self.large::<SampleRow>(py, &self.samples),
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

impl Trial {
    fn large<R: tenter::Table>(&self, py: Python<'_>, rows: &Rows) -> PyResult<Table> {
        let name = R::TABLE;
        match rows {
            Rows::Kept(batches) => Ok(Table::new(self.inner.arrow_schema::<R>(), batches.clone())),
            Rows::Stored => match self.inner.stored::<R>() {
                Ok(Some(table)) => Ok(Table::stored(table)),
                Ok(None) => Err(wrong(py, "this trial has no folder")),
                Err(error) => Err(raised(py, &error)),
            },
            Rows::None => Err(not_kept(py, name)),
        }
    }
}

fn not_kept(py: Python<'_>, table: &str) -> PyErr {
    let what = format!(
        "the {table} of this trial were not kept: run it with `{table}=True`, or with a folder"
    );
    wrong(py, &what)
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
    let mut run = tenter::Run::new(&plan.plan).force(force);
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
    let expected = progress.as_ref().map(|_| {
        plan.plan
            .packet_hops_within(&plan.allowance.budget())
            // A refused estimate must not refuse the run: progress then has no total.
            .unwrap_or(f64::NAN)
    });
    let cancelled = Arc::new(AtomicBool::new(false));
    let at = Arc::new(Mutex::new(Progress::default()));
    let mut keeper = Keeper {
        flows: flows.then(Pending::default),
        samples: samples.then(Pending::default),
        names: plan.plan.names(),
        cancelled: Arc::clone(&cancelled),
        at: Arc::clone(&at),
    };
    let work = move || {
        let trial = run.observe(&mut keeper).run();
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
        flows: Rows::of(keeper.flows, names, &trial),
        samples: Rows::of(keeper.samples, names, &trial),
        inner: trial,
        allowance: plan.allowance,
    })
}

/// Opens the folder of a trial.
#[pyfunction]
#[pyo3(signature = (folder, max_time=None, max_memory=None))]
pub(crate) fn open(
    py: Python<'_>,
    folder: PathBuf,
    max_time: Option<&str>,
    max_memory: Option<&str>,
) -> PyResult<Trial> {
    let allowance = Allowance::read(py, max_time, max_memory)?;
    let inner = allowance.within(py, |budget| {
        let trial = tenter::Trial::open_without_rows(folder, budget)?;
        // A damaged folder is reported here, not when a table is read later.
        trial.stored::<FlowRow>()?;
        trial.stored::<SampleRow>()?;
        Ok(trial)
    })?;
    Ok(Trial {
        inner,
        allowance,
        flows: Rows::Stored,
        samples: Rows::Stored,
    })
}

/// Rows on their way into Arrow arrays.
struct Pending<R> {
    pending: Vec<R>,
    batches: Vec<RecordBatch>,
}

impl<R> Default for Pending<R> {
    fn default() -> Pending<R> {
        Pending {
            pending: Vec::new(),
            batches: Vec::new(),
        }
    }
}

impl<R: Row + Clone> Pending<R> {
    fn take(&mut self, rows: &[R], names: &Names) -> Result<(), SinkError> {
        self.pending.extend_from_slice(rows);
        // Full batches are converted at once, so that a table is never in memory twice.
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
        // An error would have come with earlier rows already, since all have the same columns.
        let _ = self.flush(names);
        self.batches
    }
}

/// Observer that keeps a run's rows, shares its progress, and ends it once cancelled.
struct Keeper {
    flows: Option<Pending<FlowRow>>,
    samples: Option<Pending<SampleRow>>,
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
        // A thread that panicked has left a whole progress behind, so the lock still serves.
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
