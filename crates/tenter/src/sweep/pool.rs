//! Worker pool: runs trials side by side, as many as there are workers and as memory allows.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenter_results::Summary;

use super::order::{TrialAnswer, TrialOrder};
use super::progress::{SweepObserver, SweepProgress};
use crate::memory::reserve_memory;
use crate::observer::{Observer, Running};
use crate::process::{TrialProcess, TrialProgram};
use crate::{Control, Error};

/// Interval between progress reports to the observer.
const TICK: Duration = Duration::from_millis(100);

/// A pool's source for trials; it also takes their answers.
pub(crate) trait Supply: Sync {
    /// A trial to be run.
    type Task;

    /// Takes the next trial that waits.
    fn take(&self) -> Result<Taken<Self::Task>, Error>;

    /// Returns the memory that a trial is expected to take, in bytes.
    fn memory_bytes(&self, task: &Self::Task) -> u64;

    /// Makes the order by which another process runs a trial; `None` if its files are too long to
    /// be sent.
    fn order<'t>(&self, task: &'t Self::Task) -> Result<Option<Cow<'t, TrialOrder>>, Error>;

    /// Runs a trial on `threads` threads; the observer may stop it.
    fn carry_out(
        &self,
        task: &Self::Task,
        threads: u16,
        observer: &mut dyn Observer,
    ) -> TrialAnswer;

    /// Takes the result of a trial; `None` if it was stopped before it began. An error ends the
    /// pool.
    fn keep(&self, task: Self::Task, answer: Option<TrialAnswer>) -> Result<(), Error>;

    /// Returns the progress over all trials, except the packet-hops of those under way.
    fn progress(&self) -> SweepProgress;
}

/// Answer when a worker asks for the next trial.
pub(crate) enum Taken<T> {
    /// A trial to be run.
    Task(T),
    /// The trial's outcome is known already; ask for the next one.
    Known,
    /// Other processes run all that are left; ask again after this pause.
    Later(Duration),
    /// No trial is left.
    Nothing,
}

/// Settings for a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hands<'p> {
    /// Trials side by side.
    pub(crate) workers: usize,
    /// Threads for each trial if trials run one after the other; by default as many as there are
    /// workers. If there are fewer trials than workers, each trial gets several threads.
    pub(crate) threads: Option<u16>,
    /// Program whose processes run the trials; without one they run in this process.
    pub(crate) program: Option<&'p TrialProgram>,
}

/// Runs a supply's trials. An error is one from the supply, or from starting a process.
pub(crate) fn run<S: Supply>(
    supply: &S,
    hands: Hands<'_>,
    observer: &mut dyn SweepObserver,
) -> Result<(), Error> {
    let workers = hands.workers;
    let trials = supply.progress().trials;
    let side_by_side = workers.min(trials).max(1);
    let shared = u16::try_from(workers / side_by_side).unwrap_or(u16::MAX);
    let pool = Pool {
        threads: hands.threads.filter(|_| workers == 1).unwrap_or(shared),
        program: hands.program,
        supply,
        state: Mutex::default(),
        changed: Condvar::new(),
        cancelled: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        for number in 0..side_by_side {
            let pool = &pool;
            scope.spawn(move || pool.work(number));
        }
        pool.watch(observer, side_by_side);
    });
    let state = pool.state.into_inner();
    let broken = state.unwrap_or_else(PoisonError::into_inner).broken;
    broken.map_or(Ok(()), Err)
}

/// State that workers share.
struct Pool<'s, S> {
    supply: &'s S,
    /// Threads for each trial.
    threads: u16,
    program: Option<&'s TrialProgram>,
    state: Mutex<State>,
    changed: Condvar,
    cancelled: AtomicBool,
}

#[derive(Default)]
struct State {
    running: usize,
    /// Packet-hops so far in trials that run, each with its worker's number.
    under_way: Vec<(usize, f64)>,
    /// Trials that have ended since the last report to the observer.
    ended: Vec<Ended>,
    /// Trials that this process has run. A change wakes workers that rest.
    kept: usize,
    /// First error from the supply: the sweep cannot go on, for instance because the ledger is
    /// gone.
    broken: Option<Error>,
    /// Workers that have ended.
    idle: usize,
}

/// A trial to be reported, with its title: run now, or found in its folder.
enum Ended {
    Now(String, Box<Summary>),
    Before(String, PathBuf),
}

impl Ended {
    fn tell(&self, observer: &mut dyn SweepObserver) {
        match self {
            Ended::Now(title, summary) => observer.trial(title, summary),
            Ended::Before(title, folder) => observer.kept(title, folder),
        }
    }
}

impl<S: Supply> Pool<'_, S> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Runs trial after trial until none is left or the pool is stopped.
    fn work(&self, number: usize) {
        let _leaves = Leaves(self);
        let mut process = self.program.cloned().map(TrialProcess::new);
        while !self.is_over() {
            match self.trial(number, process.as_mut()) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    // Later errors tend to follow from the first.
                    self.state().broken.get_or_insert(error);
                    self.stop();
                }
            }
        }
    }

    /// Runs one trial, unless its outcome is known. Returns false if none is left.
    fn trial(&self, number: usize, process: Option<&mut TrialProcess>) -> Result<bool, Error> {
        // Before asking the supply: a trial that ends in between must not be missed by `rest`.
        let kept = self.state().kept;
        match self.supply.take()? {
            Taken::Nothing => return Ok(false),
            Taken::Later(pause) => self.rest(pause, kept),
            Taken::Known => {}
            Taken::Task(task) => {
                let answer = self.carry_out(number, &task, process)?;
                self.supply.keep(task, answer)?;
                self.state().kept += 1;
                self.changed.notify_all();
            }
        }
        Ok(true)
    }

    /// Waits for the pause, or until the sweep is stopped or another trial in this process has
    /// ended: `kept` counts those before the supply was asked.
    fn rest(&self, pause: Duration, kept: usize) {
        let rests = |state: &mut State| !self.is_over() && state.kept == kept;
        drop(self.changed.wait_timeout_while(self.state(), pause, rests));
    }

    /// Stops all trials, and wakes all workers.
    fn stop(&self) {
        // Under the lock: a worker between its check and its wait would miss the wake-up.
        let state = self.state();
        self.cancelled.store(true, Ordering::Relaxed);
        drop(state);
        self.changed.notify_all();
    }

    fn carry_out(
        &self,
        number: usize,
        task: &S::Task,
        process: Option<&mut TrialProcess>,
    ) -> Result<Option<TrialAnswer>, Error> {
        let needed = self.supply.memory_bytes(task);
        let Some(reserved) = reserve_memory(needed, || self.is_over()) else {
            return Ok(None);
        };
        // A trial that waits for memory does not run yet.
        self.state().running += 1;
        let mut watch = Watch { pool: self, number };
        let order = match &process {
            Some(_) => self.supply.order(task)?,
            None => None,
        };
        let answer = match (process, order) {
            (Some(process), Some(order)) => process.carry_out(&order, self.threads, &mut watch)?,
            _ => self.supply.carry_out(task, self.threads, &mut watch),
        };
        let mut state = self.state();
        state.running -= 1;
        state.under_way.retain(|(of, _)| *of != number);
        drop(state);
        drop(reserved);
        Ok(Some(answer))
    }

    /// Reports to the observer on the caller's thread until all workers have ended.
    fn watch(&self, observer: &mut dyn SweepObserver, workers: usize) {
        let mut state = self.state();
        loop {
            let under_way: f64 = state.under_way.iter().map(|(_, hops)| hops).sum();
            let running = state.running;
            let is_over = state.idle == workers;
            let ended = std::mem::take(&mut state.ended);
            // Without the lock: an observer may be slow, and workers must not wait for it.
            drop(state);
            for ended in &ended {
                ended.tell(observer);
            }
            let mut at = self.supply.progress();
            at.packet_hops += under_way;
            at.running = running;
            if observer.progress(&at) == Control::Stop {
                self.stop();
            }
            if is_over {
                return;
            }
            let works = |state: &mut State| state.idle < workers;
            let waited = self.changed.wait_timeout_while(self.state(), TICK, works);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Counts a worker as ended, even after a panic; joining its thread raises the panic again. Without
/// the count `watch` would never return.
struct Leaves<'p, 's, S: Supply>(&'p Pool<'s, S>);

impl<S: Supply> Drop for Leaves<'_, '_, S> {
    fn drop(&mut self) {
        self.0.state().idle += 1;
        self.0.changed.notify_all();
    }
}

/// Observes one trial: collects its packet-hops, and stops it when the sweep is stopped.
struct Watch<'p, 's, S> {
    pool: &'p Pool<'s, S>,
    /// Number of the worker.
    number: usize,
}

impl<S: Supply> Observer for Watch<'_, '_, S> {
    fn progress(&mut self, at: &Running<'_>) -> Control {
        let hops = at.progress.packet_hops as f64;
        let mut state = self.pool.state();
        let mut under_way = state.under_way.iter_mut();
        match under_way.find(|(of, _)| *of == self.number) {
            Some(entry) => entry.1 = hops,
            None => state.under_way.push((self.number, hops)),
        }
        if self.pool.is_over() {
            Control::Stop
        } else {
            Control::Continue
        }
    }

    fn is_cancelled(&self) -> bool {
        self.pool.is_over()
    }

    fn trial(&mut self, title: &str, summary: &Summary) {
        let ended = Ended::Now(title.to_owned(), Box::new(summary.clone()));
        self.pool.state().ended.push(ended);
    }

    fn kept(&mut self, title: &str, folder: &Path) {
        let ended = Ended::Before(title.to_owned(), folder.to_owned());
        self.pool.state().ended.push(ended);
    }
}
