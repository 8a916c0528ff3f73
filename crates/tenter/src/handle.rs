//! Handles of runs on threads of their own.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tenter_results::{Control, FlowRow, Progress, SampleRow, SinkError, Summary};

use tenter_language::units::Time;

use crate::observer::{Observer, Running};
use crate::prepared::Prepared;
use crate::{Error, Plan, Trial};

/// A run on its own thread. Dropping the handle cancels the run, and waits until it has ended.
#[derive(Debug)]
#[must_use = "dropping the handle cancels the run"]
pub struct RunHandle {
    plan: Plan,
    shared: Arc<Shared>,
    /// `None` once [`RunHandle::join`] has taken it.
    work: Option<Work>,
}

/// Source from which the handle gets the trial.
#[derive(Debug)]
enum Work {
    Thread(JoinHandle<Result<Trial, Error>>),
    /// A finished trial, reused from its folder.
    Finished(Box<Trial>),
}

/// Cancels a run from anywhere, even while another thread waits in [`RunHandle::join`].
#[derive(Clone, Debug)]
pub struct Canceller {
    shared: Arc<Shared>,
}

impl Canceller {
    /// Asks the run to end, as [`RunHandle::cancel`] does. A run that has ended is not affected.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }
}

/// State that the run's thread and its handles share.
#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    progress: Mutex<Progress>,
}

impl RunHandle {
    /// Makes the handle for a trial that is reused and not run again.
    pub(crate) fn finished(trial: Trial) -> RunHandle {
        let shared = Arc::new(Shared::default());
        shared.end(&trial.summary);
        RunHandle {
            plan: trial.plan.clone(),
            shared,
            work: Some(Work::Finished(Box::new(trial))),
        }
    }

    pub(crate) fn start(
        prepared: Prepared,
        observer: impl Observer + Send + 'static,
    ) -> Result<RunHandle, Error> {
        let plan = prepared.plan.clone();
        let shared = Arc::new(Shared::default());
        let mut heard = Heard {
            shared: Arc::clone(&shared),
            observer,
            is_further: false,
        };
        let thread = std::thread::Builder::new()
            .name("tenter run".to_owned())
            .spawn(move || prepared.carry_out(&mut heard))
            .map_err(|error| Error::Internal(format!("no thread can be started: {error}")))?;
        Ok(RunHandle {
            plan,
            shared,
            work: Some(Work::Thread(thread)),
        })
    }

    /// The plan that is run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the progress of the run with all jobs, as last reported by its thread; at the end,
    /// the totals. Further runs with some of the jobs do not count.
    pub fn progress(&self) -> Progress {
        *self.shared.lock()
    }

    /// Asks the run to end at its next progress report; the results so far become a partial trial.
    pub fn cancel(&self) {
        self.canceller().cancel();
    }

    /// Returns a handle that can cancel the run while another thread waits for it.
    pub fn canceller(&self) -> Canceller {
        Canceller {
            shared: Arc::clone(&self.shared),
        }
    }

    /// True if the run has ended, so that [`RunHandle::join`] does not wait.
    pub fn is_finished(&self) -> bool {
        match &self.work {
            Some(Work::Thread(thread)) => thread.is_finished(),
            Some(Work::Finished(_)) | None => true,
        }
    }

    /// Waits for the trial, which is partial if the run was cancelled.
    ///
    /// # Errors
    /// When the run failed or panicked, or its last files could not be written.
    pub fn join(mut self) -> Result<Trial, Error> {
        match self.work.take() {
            Some(Work::Finished(trial)) => Ok(*trial),
            Some(Work::Thread(thread)) => match thread.join() {
                Ok(trial) => trial,
                Err(panic) => Err(Error::Internal(message_of(&*panic))),
            },
            None => Err(Error::Internal("the run was joined twice".to_owned())),
        }
    }
}

impl Drop for RunHandle {
    fn drop(&mut self) {
        if let Some(Work::Thread(thread)) = self.work.take() {
            self.cancel();
            // Without the wait, the thread could go on writing to a folder that the caller removes.
            drop(thread.join());
        }
    }
}

/// Returns the message with which a thread panicked.
pub(crate) fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    // A `panic!` without arguments carries a `&str`, one with arguments a `String`.
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "the run panicked".to_owned())
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Observer on the run's thread: copies progress for the handle, passes cancellation on, and
/// forwards everything to the caller's observer.
struct Heard<O> {
    shared: Arc<Shared>,
    observer: O,
    /// Set once further runs with some of the jobs have begun; their progress is not shown.
    is_further: bool,
}

impl Shared {
    /// Sets the progress to the totals of a trial that has ended.
    fn end(&self, summary: &Summary) {
        let mut progress = self.lock();
        progress.simulated = Time::from_ps((summary.engine.simulated_ns * 1e3).round() as u64);
        progress.packet_hops = summary.engine.packet_hops;
        // Flows that a stopped trial did not finish still count in `flows_total`.
        progress.flows_done = summary.totals.flows;
        progress.flows_total = progress.flows_total.max(progress.flows_done);
    }
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
        if !self.is_further {
            // Progress of a further run would start again from zero.
            *self.shared.lock() = at.progress;
        }
        if self.shared.cancelled.load(Ordering::Relaxed) {
            return Control::Stop;
        }
        self.observer.progress(at)
    }

    fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed) || self.observer.is_cancelled()
    }

    fn further_runs(&mut self, count: usize) {
        self.is_further = true;
        self.observer.further_runs(count);
    }

    fn ends(&mut self) {
        self.observer.ends();
    }

    fn trial(&mut self, title: &str, summary: &Summary) {
        self.shared.end(summary);
        self.observer.trial(title, summary);
    }

    fn kept(&mut self, title: &str, folder: &Path) {
        self.observer.kept(title, folder);
    }
}
