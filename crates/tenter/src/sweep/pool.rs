//! Trials side by side: as many as there are workers, and no more than fit into memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenter_report::available_memory_bytes;

use super::session::{SweepSession, Taken, Task, TrialAnswer};
use super::{SweepObserver, SweepResults, SweepRun};
use crate::observer::{Observer, Running};
use crate::{Control, Error};

/// How often the observer hears of a sweep, and processes look whether another one has finished a
/// trial.
const TICK: Duration = Duration::from_millis(100);
/// What trials may take of the memory that is available at the beginning, in percent.
const MEMORY_PERCENT: u64 = 90;

/// Runs all trials.
pub(super) fn run(run: &SweepRun, observer: &mut dyn SweepObserver) -> Result<SweepResults, Error> {
    let session = SweepSession::open(run)?;
    let workers = run.workers.min(session.progress().trials).max(1);
    let available = available_memory_bytes().unwrap_or(u64::MAX);
    let pool = Pool {
        threads: (run.workers / workers) as u16,
        memory_limit: (u128::from(available) * u128::from(MEMORY_PERCENT) / 100) as u64,
        session: &session,
        state: Mutex::default(),
        changed: Condvar::new(),
        cancelled: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| pool.work());
        }
        pool.watch(observer, workers);
    });
    let state = pool.state.into_inner();
    match state.unwrap_or_else(PoisonError::into_inner).broken {
        Some(error) => Err(error),
        None => session.end(),
    }
}

/// What workers share.
struct Pool<'s> {
    session: &'s SweepSession,
    /// Of each trial.
    threads: u16,
    /// What trials that run may take together.
    memory_limit: u64,
    state: Mutex<State>,
    changed: Condvar,
    cancelled: AtomicBool,
}

#[derive(Default)]
struct State {
    /// What trials that run are expected to take together.
    memory_bytes: u64,
    running: usize,
    /// Packet-hops of trials that run, by their numbers.
    under_way: Vec<(usize, f64)>,
    /// Why the sweep cannot go on: the ledger is gone.
    broken: Option<Error>,
    /// Workers that have ended.
    idle: usize,
}

impl Pool<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// What one worker does: trial after trial until none is left.
    fn work(&self) {
        while !self.is_over() {
            match self.trial() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.state().broken.get_or_insert(error);
                    self.cancelled.store(true, Ordering::Relaxed);
                }
            }
            self.changed.notify_all();
        }
        self.state().idle += 1;
        self.changed.notify_all();
    }

    /// Runs one trial, unless its outcome is known; whether there was one. An error is one of the
    /// ledger.
    fn trial(&self) -> Result<bool, Error> {
        match self.session.take()? {
            Taken::Nothing => return Ok(false),
            // Others first; where there is none, it takes a while.
            Taken::Elsewhere if self.session.waits_for_one() => {
                drop(self.changed.wait_timeout(self.state(), TICK));
            }
            Taken::Known | Taken::Elsewhere => {}
            Taken::Task(task) => {
                let answer = self.carry_out(&task);
                self.session.keep(task.number, &task.key, answer)?;
            }
        }
        Ok(true)
    }

    fn carry_out(&self, task: &Task) -> TrialAnswer {
        let needed = self.session.memory_bytes(task.number);
        if !self.reserve(needed) {
            return TrialAnswer::stopped();
        }
        let mut watch = Watch {
            pool: self,
            number: task.number,
        };
        let answer = self.session.carry_out(task, self.threads, &mut watch);
        let mut state = self.state();
        state.memory_bytes -= needed;
        state.running -= 1;
        state.under_way.retain(|(of, _)| *of != task.number);
        answer
    }

    /// Waits until a trial fits into memory; not when the sweep is stopped before.
    fn reserve(&self, needed: u64) -> bool {
        let mut state = self.state();
        while state.memory_bytes > 0 && state.memory_bytes + needed > self.memory_limit {
            if self.is_over() {
                return false;
            }
            let waited = self.changed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.memory_bytes += needed;
        state.running += 1;
        true
    }

    /// Tells the observer how far the sweep is until all workers have ended.
    fn watch(&self, observer: &mut dyn SweepObserver, workers: usize) {
        let mut state = self.state();
        loop {
            let under_way: f64 = state.under_way.iter().map(|(_, hops)| hops).sum();
            let running = state.running;
            let is_over = state.idle == workers;
            drop(state);
            let mut at = self.session.progress();
            at.packet_hops += under_way;
            at.running = running;
            if observer.progress(&at) == Control::Stop {
                self.cancelled.store(true, Ordering::Relaxed);
            }
            if is_over {
                return;
            }
            let waited = self.changed.wait_timeout(self.state(), TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Hears how far one trial is, and ends it when the sweep is stopped.
struct Watch<'p, 's> {
    pool: &'p Pool<'s>,
    number: usize,
}

impl Observer for Watch<'_, '_> {
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
}
