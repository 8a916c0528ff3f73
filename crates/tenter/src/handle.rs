//! A run on a thread of its own.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tenter_record::{Control, FlowRow, Progress, SampleRow, SinkError, Summary};

use crate::observer::{Observer, Running};
use crate::run::Prepared;
use crate::{Error, Plan, Trial};

/// A run that is under way on a thread of its own. Dropping the handle cancels the run.
#[derive(Debug)]
pub struct RunHandle {
    plan: Plan,
    shared: Arc<Shared>,
    /// Taken by [`RunHandle::join`].
    thread: Option<JoinHandle<Result<Trial, Error>>>,
}

/// What the thread of the run and its handle both see.
#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    progress: Mutex<Progress>,
}

impl RunHandle {
    pub(crate) fn start(prepared: Prepared) -> Result<RunHandle, Error> {
        RunHandle::start_with(prepared, ())
    }

    pub(crate) fn start_with(
        prepared: Prepared,
        observer: impl Observer + Send + 'static,
    ) -> Result<RunHandle, Error> {
        let plan = prepared.run.plan().clone();
        let shared = Arc::new(Shared::default());
        let mut heard = Heard {
            shared: Arc::clone(&shared),
            observer,
        };
        let thread = std::thread::Builder::new()
            .name("tenter run".to_owned())
            .spawn(move || prepared.carry_out(&mut heard))
            .map_err(|error| Error::Internal(format!("no thread can be started: {error}")))?;
        Ok(RunHandle {
            plan,
            shared,
            thread: Some(thread),
        })
    }

    /// What is run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How far the run is, as of the last time it told.
    pub fn progress(&self) -> Progress {
        *self.shared.lock()
    }

    /// Asks the run to end; what it has until then becomes a partial trial.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the run has ended, so that [`RunHandle::join`] does not wait.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the trial: whole, or what there was when the run was cancelled.
    ///
    /// # Errors
    /// When the run failed, or its last files could not be written.
    pub fn join(mut self) -> Result<Trial, Error> {
        let Some(thread) = self.thread.take() else {
            return Err(Error::Internal("the run was joined twice".to_owned()));
        };
        match thread.join() {
            Ok(trial) => trial,
            Err(panic) => Err(Error::Internal(message_of(&*panic))),
        }
    }
}

impl Drop for RunHandle {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.cancel();
            drop(thread.join());
        }
    }
}

/// What a thread said when it panicked.
fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "the run panicked".to_owned())
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the handle how far the run is, and the caller's observer everything.
struct Heard<O> {
    shared: Arc<Shared>,
    observer: O,
}

impl<O: Observer> Observer for Heard<O> {
    fn begins(&mut self, title: &str) {
        self.observer.begins(title);
    }

    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        self.observer.flows(rows)
    }

    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError> {
        self.observer.samples(rows)
    }

    fn progress(&mut self, at: &Running<'_>) -> Control {
        *self.shared.lock() = at.progress;
        if self.shared.cancelled.load(Ordering::Relaxed) {
            return Control::Stop;
        }
        self.observer.progress(at)
    }

    fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed) || self.observer.is_cancelled()
    }

    fn further_runs(&mut self, count: usize) {
        self.observer.further_runs(count);
    }

    fn ends(&mut self) {
        self.observer.ends();
    }

    fn trial(&mut self, title: &str, summary: &Summary) {
        self.observer.trial(title, summary);
    }

    fn kept(&mut self, title: &str, folder: &Path) {
        self.observer.kept(title, folder);
    }
}
