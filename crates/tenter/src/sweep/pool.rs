//! Trials side by side: as many as there are workers, and no more than fit into memory.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenter_record::Summary;

use super::progress::{SweepObserver, SweepProgress};
use crate::memory::reserve_memory;
use crate::observer::{Observer, Running};
use crate::{Control, Error};

/// How often the observer hears of a sweep.
const TICK: Duration = Duration::from_millis(100);

/// Where a pool gets trials from, and what takes what came of them.
pub(crate) trait Supply: Sync {
    /// A trial.
    type Task;
    /// What came of it.
    type Answer;

    /// The next trial that waits.
    fn take(&self) -> Result<Taken<Self::Task>, Error>;

    /// The memory that a trial is expected to take, in bytes.
    fn memory_bytes(&self, task: &Self::Task) -> u64;

    /// Runs a trial, which the observer may stop.
    fn carry_out(
        &self,
        task: &Self::Task,
        threads: u16,
        observer: &mut dyn Observer,
    ) -> Self::Answer;

    /// Takes what came of a trial; nothing where it was stopped before it began. An error ends
    /// the pool.
    fn keep(&self, task: Self::Task, answer: Option<Self::Answer>) -> Result<(), Error>;

    /// How far all trials are, without those under way.
    fn progress(&self) -> SweepProgress;
}

/// What is to be done with the next trial that waits.
pub(crate) enum Taken<T> {
    /// It is to be run.
    Task(T),
    /// It was run before, or has failed; the next one may be to be run.
    Known,
    /// Other processes run all that are left; it is time to look again in so long.
    Later(Duration),
    /// None is left.
    Nothing,
}

/// Runs all trials of a supply on so many workers; an error is one of the supply.
pub(crate) fn run<S: Supply>(
    supply: &S,
    workers: usize,
    observer: &mut dyn SweepObserver,
) -> Result<(), Error> {
    let trials = supply.progress().trials;
    let side_by_side = workers.min(trials).max(1);
    let pool = Pool {
        threads: u16::try_from(workers / side_by_side).unwrap_or(u16::MAX),
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

/// What workers share.
struct Pool<'s, S> {
    supply: &'s S,
    /// Of each trial.
    threads: u16,
    state: Mutex<State>,
    changed: Condvar,
    cancelled: AtomicBool,
}

#[derive(Default)]
struct State {
    running: usize,
    /// Packet-hops of trials that run, by their workers.
    under_way: Vec<(usize, f64)>,
    /// Trials that have ended since the observer has heard of any.
    ended: Vec<Ended>,
    /// How many trials this process has run: one that ends ends the rest of workers.
    kept: usize,
    /// Why the sweep cannot go on: the ledger is gone.
    broken: Option<Error>,
    /// Workers that have ended.
    idle: usize,
}

/// A trial that has come to its end, or was kept, with its title.
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

    /// What one worker does: trial after trial until none is left.
    fn work(&self, number: usize) {
        let _leaves = Leaves(self);
        while !self.is_over() {
            match self.trial(number) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.state().broken.get_or_insert(error);
                    self.stop();
                }
            }
        }
    }

    /// Runs one trial, unless its outcome is known; whether there was one. An error is one of the
    /// supply.
    fn trial(&self, number: usize) -> Result<bool, Error> {
        let kept = self.state().kept;
        match self.supply.take()? {
            Taken::Nothing => return Ok(false),
            Taken::Later(pause) => self.rest(pause, kept),
            Taken::Known => {}
            Taken::Task(task) => {
                let answer = self.carry_out(number, &task);
                self.supply.keep(task, answer)?;
                self.state().kept += 1;
                self.changed.notify_all();
            }
        }
        Ok(true)
    }

    /// Waits until a trial of this process has ended, beyond those that had when the supply was
    /// asked; until the sweep is stopped, and not longer than the pause.
    fn rest(&self, pause: Duration, kept: usize) {
        let rests = |state: &mut State| !self.is_over() && state.kept == kept;
        drop(self.changed.wait_timeout_while(self.state(), pause, rests));
    }

    /// Ends all trials that run.
    fn stop(&self) {
        // Under the lock, so that none begins to rest in between.
        let state = self.state();
        self.cancelled.store(true, Ordering::Relaxed);
        drop(state);
        self.changed.notify_all();
    }

    fn carry_out(&self, number: usize, task: &S::Task) -> Option<S::Answer> {
        let needed = self.supply.memory_bytes(task);
        let reserved = reserve_memory(needed, || self.is_over())?;
        self.state().running += 1;
        let mut watch = Watch { pool: self, number };
        let answer = self.supply.carry_out(task, self.threads, &mut watch);
        let mut state = self.state();
        state.running -= 1;
        state.under_way.retain(|(of, _)| *of != number);
        drop(state);
        drop(reserved);
        Some(answer)
    }

    /// Tells the observer how far the sweep is until all workers have ended.
    fn watch(&self, observer: &mut dyn SweepObserver, workers: usize) {
        let mut state = self.state();
        loop {
            let under_way: f64 = state.under_way.iter().map(|(_, hops)| hops).sum();
            let running = state.running;
            let is_over = state.idle == workers;
            let ended = std::mem::take(&mut state.ended);
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

/// A worker that ends, even by a panic, which is seen when its thread is joined.
struct Leaves<'p, 's, S: Supply>(&'p Pool<'s, S>);

impl<S: Supply> Drop for Leaves<'_, '_, S> {
    fn drop(&mut self) {
        self.0.state().idle += 1;
        self.0.changed.notify_all();
    }
}

/// Hears how far one trial is, and ends it when the sweep is stopped.
struct Watch<'p, 's, S> {
    pool: &'p Pool<'s, S>,
    /// Of the worker.
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
