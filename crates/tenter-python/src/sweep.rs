//! Sweeps that run here, or whose trials are handed out for others to run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;
use tenter::{
    Control, Error, NextTrial, Sweep, SweepObserver, SweepProgress, SweepResults, TrialAnswer,
    TrialOrder,
};

use crate::allowance::{Allowance, MORE_MEMORY, MORE_TIME};
use crate::background::wait_for;
use crate::error::{internal, raised, raised_with, wrong};
use crate::scenario::{Scenario, format_of};

/// A sweep that was read, and how it is run.
#[pyclass(frozen, module = "tenter._core")]
pub(crate) struct SweepRun(tenter::SweepRun);

#[pymethods]
impl SweepRun {
    /// Reads a description from a file.
    #[staticmethod]
    fn read(py: Python<'_>, file: PathBuf) -> PyResult<SweepRun> {
        let run = tenter::SweepRun::read(file).map_err(|error| raised(py, &error))?;
        Ok(SweepRun(run))
    }

    /// A description as text, over a scenario, or over the one that it names.
    #[staticmethod]
    fn parse(
        py: Python<'_>,
        text: &str,
        format: &str,
        scenario: Option<&Scenario>,
    ) -> PyResult<SweepRun> {
        let sweep = Sweep::read(text, "sweep", format_of(py, format)?);
        let sweep = sweep.map_err(|error| raised(py, &error.into()))?;
        let run = match scenario {
            Some(scenario) => tenter::SweepRun::new(sweep, scenario.0.clone()),
            // A text has no folder: paths in it count from the current one.
            None => tenter::SweepRun::beside(sweep, "").map_err(|error| raised(py, &error))?,
        };
        Ok(SweepRun(run))
    }

    /// Returns a copy with other ways to run it.
    #[expect(
        clippy::needless_pass_by_value,
        clippy::too_many_arguments,
        reason = "arguments of Python are values, and each is a keyword"
    )]
    #[pyo3(signature = (
        *, folder=None, workers=None, retry_failed=false, only=Vec::new(), force=false,
        max_time=None, max_memory=None
    ))]
    fn with_options(
        &self,
        py: Python<'_>,
        folder: Option<PathBuf>,
        workers: Option<usize>,
        retry_failed: bool,
        only: Vec<String>,
        force: bool,
        max_time: Option<&str>,
        max_memory: Option<&str>,
    ) -> PyResult<SweepRun> {
        let allowance = Allowance::read(py, max_time, max_memory)?;
        let run = self.0.clone().retry_failed(retry_failed).force(force);
        let run = run.limits(allowance.limits());
        let mut run = run.only(&only).map_err(|error| raised(py, &error))?;
        if let Some(folder) = folder {
            run = run.folder(folder);
        }
        if let Some(workers) = workers {
            run = run.workers(workers);
        }
        Ok(SweepRun(run))
    }

    /// Names of the readings and of the variants, and the number of trials, as JSON.
    fn describe(&self) -> String {
        let sweep = self.0.sweep();
        let readings: Vec<_> = sweep.keys.readings.iter().map(|of| &of.name).collect();
        let variants: Vec<_> = sweep.variants().collect();
        json!({
            "name": sweep.keys.name,
            "readings": readings,
            "variants": variants,
            "axes": sweep.axes().collect::<Vec<_>>(),
            "trials": sweep.len(),
        })
        .to_string()
    }

    /// Runs it on this machine, and gives the answer as JSON.
    #[pyo3(signature = (progress=None))]
    fn run(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let cancelled = Arc::new(AtomicBool::new(false));
        let at = Arc::new(Mutex::new(SweepProgress::default()));
        let mut watch = Watch {
            cancelled: Arc::clone(&cancelled),
            at: Arc::clone(&at),
        };
        let run = self.0.clone();
        let tick = |py: Python<'_>| match progress {
            Some(progress) => {
                let at = *at.lock().unwrap_or_else(PoisonError::into_inner);
                progress.call1((told(py, &at)?,)).map(drop)
            }
            None => Ok(()),
        };
        let results = wait_for(py, &cancelled, tick, move || run.run_with(&mut watch))?;
        Ok(document(
            &results.map_err(|error| self.refused(py, &error))?,
        ))
    }

    /// Begins it, for others to run its trials.
    fn begin(&self, py: Python<'_>) -> PyResult<SweepSession> {
        let session = py.detach(|| self.0.begin());
        let session = session.map_err(|error| self.refused(py, &error))?;
        Ok(SweepSession(Mutex::new(Some(session))))
    }
}

impl SweepRun {
    /// Makes the exception for an error, and names the keyword that allows more if a plan exceeded
    /// its limits.
    fn refused(&self, py: Python<'_>, error: &Error) -> PyErr {
        let way = self.0.way_to_more(MORE_TIME, MORE_MEMORY);
        raised_with(py, error, way.unwrap_or_default())
    }
}

/// A sweep under way.
#[pyclass(frozen, module = "tenter._core")]
pub(crate) struct SweepSession(Mutex<Option<tenter::SweepSession>>);

#[pymethods]
impl SweepSession {
    /// The next trial that nobody has run: its key, its name, its packet-hops, its memory and the
    /// order; `None` where none is left, and `False` where other processes run all that are.
    fn next(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let next = self.with(py, tenter::SweepSession::next)?;
        match next {
            NextTrial::None => Ok(py.None()),
            NextTrial::Later => Ok(false.into_pyobject(py)?.to_owned().into_any().unbind()),
            NextTrial::Order(order) => {
                let text = serde_json::to_vec(&*order);
                let text = text.map_err(|error| internal(py, &error.to_string()))?;
                let parts = (
                    order.key.as_str(),
                    order.name.as_str(),
                    order.packet_hops,
                    order.memory_bytes,
                    PyBytes::new(py, &text),
                );
                Ok(parts.into_pyobject(py)?.into_any().unbind())
            }
        }
    }

    /// Takes the answer to an order.
    fn answer(&self, py: Python<'_>, key: &str, answer: &[u8]) -> PyResult<()> {
        let answer: TrialAnswer = serde_json::from_slice(answer).map_err(|error| {
            wrong(py, &format!("the answer of a worker cannot be read: {error}; install the same Tenter everywhere"))
        })?;
        self.with(py, |session| session.answer(key, answer))
    }

    /// Notes that a trial failed without an answer.
    fn failed(&self, py: Python<'_>, key: &str, why: String) -> PyResult<()> {
        self.with(py, |session| session.answer(key, TrialAnswer::failed(why)))
    }

    /// Notes that a trial was not run to its end; a later run of the sweep runs it.
    fn stopped(&self, py: Python<'_>, key: &str) -> PyResult<()> {
        self.with(py, |session| session.answer(key, TrialAnswer::stopped()))
    }

    /// How far the sweep is.
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let at = self.with(py, |session| Ok(session.progress()))?;
        told(py, &at)
    }

    /// Writes the results, and gives the answer as JSON.
    fn end(&self, py: Python<'_>) -> PyResult<String> {
        // Later calls find no session, and are refused.
        let session = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let session = session.ok_or_else(|| wrong(py, "the sweep has ended"))?;
        let results = py.detach(|| session.end());
        Ok(document(&results.map_err(|error| raised(py, &error))?))
    }
}

impl SweepSession {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&tenter::SweepSession) -> Result<T, tenter::Error> + Send,
    ) -> PyResult<T> {
        // Another thread may hold the session and need the interpreter, so this one waits without
        // its lock.
        let done = py.detach(|| {
            let session = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            session.as_ref().map(work)
        });
        let done = done.ok_or_else(|| wrong(py, "the sweep has ended; begin it again"))?;
        done.map_err(|error| raised(py, &error))
    }
}

/// Runs the trial of an order, and gives the answer. The trial ends early once `stopped` says so,
/// which is asked again and again.
#[pyfunction]
#[pyo3(signature = (order, threads=1, stopped=None))]
pub(crate) fn carry_out<'py>(
    py: Python<'py>,
    order: &[u8],
    threads: u16,
    stopped: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let order: TrialOrder = serde_json::from_slice(order).map_err(|error| {
        wrong(
            py,
            &format!("the order cannot be read: {error}; install the same Tenter everywhere"),
        )
    })?;
    let cancelled = Arc::new(AtomicBool::new(false));
    let mut end = End(Arc::clone(&cancelled));
    let work = move || order.carry_out(threads, &mut end);
    let tick = |_: Python<'_>| {
        let is_over = stopped.map(|stopped| stopped.call0()?.is_truthy());
        if is_over.transpose()?.unwrap_or(false) {
            // Nothing is raised: the answer of a stopped trial is wanted, too.
            cancelled.store(true, Ordering::Relaxed);
        }
        Ok(())
    };
    let answer = wait_for(py, &cancelled, tick, work)?;
    let text = serde_json::to_vec(&answer).map_err(|error| internal(py, &error.to_string()))?;
    Ok(PyBytes::new(py, &text))
}

/// Observer that ends a trial once it is cancelled.
struct End(Arc<AtomicBool>);

impl tenter::Observer for End {
    fn progress(&mut self, _: &tenter::Running<'_>) -> Control {
        if self.is_cancelled() {
            Control::Stop
        } else {
            Control::Continue
        }
    }

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Observer that shares a sweep's progress, and ends it once cancelled.
struct Watch {
    cancelled: Arc<AtomicBool>,
    at: Arc<Mutex<SweepProgress>>,
}

impl SweepObserver for Watch {
    fn progress(&mut self, at: &SweepProgress) -> Control {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = *at;
        if self.cancelled.load(Ordering::Relaxed) {
            Control::Stop
        } else {
            Control::Continue
        }
    }
}

fn told<'py>(py: Python<'py>, at: &SweepProgress) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("trials", at.trials)?;
    told.set_item("done", at.done)?;
    told.set_item("kept", at.kept)?;
    told.set_item("failed", at.failed)?;
    told.set_item("running", at.running)?;
    told.set_item("packet_hops", at.packet_hops)?;
    told.set_item("expected_packet_hops", at.expected_packet_hops)?;
    Ok(told)
}

/// Writes a sweep's results as JSON.
fn document(results: &SweepResults) -> String {
    let failures = results.failures.iter();
    let variants = &results.answer.variants;
    let failures: Vec<_> = failures
        .map(|(trial, why)| {
            let variant = variants.get(trial.variant).map(|of| of.name.as_str());
            json!({"trial": trial.settings.join(" "), "variant": variant, "error": why})
        })
        .collect();
    json!({
        "answer": results.answer,
        "winners": results.winners,
        "failures": failures,
        "complete": !results.was_cancelled,
        "done": results.progress.done,
        "kept": results.progress.kept,
        "folder": results.folder,
    })
    .to_string()
}
