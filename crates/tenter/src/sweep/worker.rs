//! Sweep workers on a file system that machines share: each takes trials from the queue until none
//! is left. A batch system's job array is nothing but several such workers.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::order::{TrialAnswer, TrialOrder};
use super::pool::{self, Hands, Supply, Taken};
use super::progress::{SweepObserver, SweepProgress};
use super::queue::{Claimed, Queue};
use crate::Error;
use crate::observer::Observer;
use crate::process::TrialProgram;

/// Settings for one worker.
#[derive(Clone, Debug)]
#[must_use]
pub struct SweepWorker {
    folder: PathBuf,
    workers: usize,
    program: Option<TrialProgram>,
}

/// Results of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerResults {
    /// Trials that it has run.
    pub run: usize,
    /// Trials among `run` that failed.
    pub failed: usize,
    /// Trials that other workers have claimed and not answered.
    pub elsewhere: usize,
    /// True if its observer has stopped it.
    pub was_cancelled: bool,
}

impl SweepWorker {
    /// Prepares a worker on the queue in a sweep's folder.
    pub fn new(folder: impl Into<PathBuf>) -> SweepWorker {
        SweepWorker {
            folder: folder.into(),
            workers: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            program: None,
        }
    }

    /// Runs trials in processes of `program`; by default they run in this one.
    pub fn in_processes(mut self, program: Option<TrialProgram>) -> SweepWorker {
        self.program = program;
        self
    }

    /// Runs at most `workers` trials side by side (at least 1); by default one for each core.
    pub fn workers(mut self, workers: usize) -> SweepWorker {
        self.workers = workers.max(1);
        self
    }

    /// Takes trials until all in the queue are answered, or claimed by others.
    ///
    /// # Errors
    /// When there is no queue, it comes from another build of Tenter, or it cannot be read or
    /// written. A trial that fails is an answer, not an error.
    pub fn run(&self, observer: &mut dyn SweepObserver) -> Result<WorkerResults, Error> {
        let queue = Queue::join(&self.folder)?;
        let orders = Orders::new(&self.folder, &queue)?;
        let hands = Hands {
            workers: self.workers,
            threads: None,
            program: self.program.as_ref(),
        };
        pool::run(&orders, hands, observer)?;
        let state = orders.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        Ok(WorkerResults {
            // Only a stop leaves orders that were never looked at.
            was_cancelled: !state.waiting.is_empty() || state.results.was_cancelled,
            ..state.results
        })
    }
}

/// A pool's supply: the orders in a queue.
struct Orders<'q> {
    folder: &'q Path,
    queue: &'q Queue,
    state: Mutex<State>,
}

struct State {
    waiting: VecDeque<String>,
    progress: SweepProgress,
    results: WorkerResults,
}

impl<'q> Orders<'q> {
    fn new(folder: &'q Path, queue: &'q Queue) -> Result<Orders<'q>, Error> {
        let waiting = queue.keys()?;
        let progress = SweepProgress {
            trials: waiting.len(),
            ..SweepProgress::default()
        };
        Ok(Orders {
            folder,
            queue,
            state: Mutex::new(State {
                waiting: waiting.into(),
                progress,
                results: WorkerResults::default(),
            }),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Supply for Orders<'_> {
    type Task = Box<TrialOrder>;

    fn take(&self) -> Result<Taken<Box<TrialOrder>>, Error> {
        let key = self.state().waiting.pop_front();
        let Some(key) = key else {
            return Ok(Taken::Nothing);
        };
        match self.queue.claim(&key)? {
            Claimed::Mine => {}
            Claimed::Answered => {
                self.state().progress.done += 1;
                return Ok(Taken::Known);
            }
            // If that worker is lost, a worker that starts later runs the trial.
            Claimed::Others => {
                self.state().results.elsewhere += 1;
                return Ok(Taken::Known);
            }
        }
        let Some(mut order) = self.queue.order(&key)? else {
            // The order is gone: the sweep has collected an answer between listing and claiming.
            self.queue.release(&key);
            return Ok(Taken::Known);
        };
        // Machines may mount the sweep's folder under different paths.
        order.folder = order.folder.and_then(|folder| {
            let name = folder.file_name()?;
            Some(self.folder.join("trials").join(name))
        });
        Ok(Taken::Task(Box::new(order)))
    }

    fn memory_bytes(&self, order: &Box<TrialOrder>) -> u64 {
        order.memory_bytes
    }

    fn order<'t>(&self, order: &'t Box<TrialOrder>) -> Result<Option<Cow<'t, TrialOrder>>, Error> {
        Ok(Some(Cow::Borrowed(order)))
    }

    fn carry_out(
        &self,
        order: &Box<TrialOrder>,
        threads: u16,
        observer: &mut dyn Observer,
    ) -> TrialAnswer {
        order.carry_out(threads, observer)
    }

    fn keep(&self, order: Box<TrialOrder>, answer: Option<TrialAnswer>) -> Result<(), Error> {
        let answer = answer.filter(|answer| !answer.was_stopped());
        let Some(answer) = answer else {
            // Another worker shall take it at once, not after the patience.
            self.queue.release(&order.key);
            self.state().results.was_cancelled = true;
            return Ok(());
        };
        // A slow worker that was taken for lost may finish after the sweep has collected another
        // answer. An answer without an order would stay in the queue for ever.
        if self.queue.has(&order.key) {
            self.queue.give(&order.key, &answer)?;
        }
        let mut state = self.state();
        state.results.run += 1;
        state.results.failed += usize::from(answer.failure().is_some());
        state.progress.done += 1;
        state.progress.packet_hops += answer.packet_hops();
        Ok(())
    }

    fn progress(&self) -> SweepProgress {
        self.state().progress
    }
}
