//! Trials side by side: as many as there are workers, and no more than fit into memory.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenter_report::available_memory_bytes;
use tenter_study::{Keep, Measured, SweepTrial, TrialSeed};

use super::ledger::{Claim, Ledger, Outcome, Title};
use super::results::Finished;
use super::{SweepObserver, SweepProgress, SweepRun, key, read};
use crate::observer::{Observer, Running};
use crate::{Control, Error, Plan, Run};

/// How often the observer hears of a sweep, and processes look whether another one has finished a
/// trial.
const TICK: Duration = Duration::from_millis(100);
/// What trials may take of the memory that is available at the beginning, in percent.
const MEMORY_PERCENT: u64 = 90;

/// Runs all trials.
pub(super) fn run(run: &SweepRun, observer: &mut dyn SweepObserver) -> Result<Finished, Error> {
    let trials = run.trials();
    let firsts = check(run, &trials)?;
    let ledger = Ledger::open(&run.folder)?;
    let workers = run.workers.min(trials.len()).max(1);
    let pool = Pool {
        run,
        trials: &trials,
        firsts: &firsts,
        threads: (run.workers / workers) as u16,
        ledger: Mutex::new(ledger),
        state: Mutex::new(State::new(&trials, &firsts)),
        changed: Condvar::new(),
        cancelled: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| pool.work());
        }
        pool.watch(observer, workers);
    });
    pool.finish()
}

/// What the first trial of each variant and point has told.
struct First {
    /// The seed of its scenario.
    seed: u64,
    packet_hops: f64,
    memory_bytes: u64,
}

/// A mistake in the last point is told before the first is run.
fn check(run: &SweepRun, trials: &[SweepTrial]) -> Result<Vec<First>, Error> {
    let cells = run.sweep.points().len() * run.sweep.variants().len();
    let mut firsts: Vec<Option<First>> = (0..cells).map(|_| None).collect();
    for trial in trials {
        let first = &mut firsts[cell(run, trial)];
        if first.is_some() {
            continue;
        }
        let own = SweepTrial {
            seed: TrialSeed::After(0),
            ..trial.clone()
        };
        let plan = run
            .plan(&own, None)
            .map_err(|error| named(run, trial, error))?;
        plan.check().map_err(|error| named(run, trial, error))?;
        *first = Some(First {
            seed: plan.seed(),
            packet_hops: plan.packet_hops()?,
            memory_bytes: plan.memory_bytes()?,
        });
    }
    let none = First {
        seed: 0,
        packet_hops: 0.0,
        memory_bytes: 0,
    };
    // Cells that `only` leaves out are never looked up.
    Ok(firsts
        .into_iter()
        .map(|first| first.unwrap_or(First { ..none }))
        .collect())
}

fn cell(run: &SweepRun, trial: &SweepTrial) -> usize {
    trial.point * run.sweep.variants().len() + trial.variant
}

/// An error with the trial that it is about.
fn named(run: &SweepRun, trial: &SweepTrial, error: Error) -> Error {
    Error::Trial {
        name: title(run, trial),
        source: Box::new(error),
    }
}

/// What a trial is called: its variant and its point.
pub(super) fn title(run: &SweepRun, trial: &SweepTrial) -> String {
    let variant = run.sweep.variants().nth(trial.variant).unwrap_or_default();
    let point = run.sweep.point_name(trial.point);
    let parts = [variant, &point]
        .into_iter()
        .filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// What workers share.
struct Pool<'r> {
    run: &'r SweepRun,
    trials: &'r [SweepTrial],
    firsts: &'r [First],
    /// Of each trial.
    threads: u16,
    ledger: Mutex<Ledger>,
    state: Mutex<State>,
    changed: Condvar,
    cancelled: AtomicBool,
}

struct State {
    /// Trials that wait, by their numbers.
    waiting: VecDeque<usize>,
    /// What trials that run are expected to take together.
    memory_bytes: u64,
    /// What they may take.
    memory_limit: u64,
    progress: SweepProgress,
    /// Packet-hops of trials that run, by their numbers.
    under_way: Vec<(usize, f64)>,
    outcomes: Vec<Option<Box<Outcome>>>,
    seeds: Vec<u64>,
    failures: Vec<(usize, String)>,
    /// Why the sweep cannot go on: the ledger is gone.
    broken: Option<Error>,
    /// Workers that have ended.
    idle: usize,
}

impl State {
    fn new(trials: &[SweepTrial], firsts: &[First]) -> State {
        let available = available_memory_bytes().unwrap_or(u64::MAX);
        let each = firsts.iter().map(|first| first.packet_hops);
        let mean = each.sum::<f64>() / firsts.len() as f64;
        State {
            waiting: (0..trials.len()).collect(),
            memory_bytes: 0,
            memory_limit: (u128::from(available) * u128::from(MEMORY_PERCENT) / 100) as u64,
            progress: SweepProgress {
                trials: trials.len(),
                expected_packet_hops: mean * trials.len() as f64,
                ..SweepProgress::default()
            },
            under_way: Vec::new(),
            outcomes: trials.iter().map(|_| None).collect(),
            seeds: vec![0; trials.len()],
            failures: Vec::new(),
            broken: None,
            idle: 0,
        }
    }
}

impl Pool<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// What one worker does: trial after trial until none is left.
    fn work(&self) {
        loop {
            let next = if self.is_over() {
                None
            } else {
                self.state().waiting.pop_front()
            };
            let Some(number) = next else {
                break;
            };
            if let Err(error) = self.trial(number) {
                self.state().broken.get_or_insert(error);
                self.cancelled.store(true, Ordering::Relaxed);
            }
            self.changed.notify_all();
        }
        self.state().idle += 1;
        self.changed.notify_all();
    }

    /// Runs one trial, unless the ledger has it; an error is one of the ledger.
    fn trial(&self, number: usize) -> Result<(), Error> {
        let trial = &self.trials[number];
        let first = &self.firsts[cell(self.run, trial)];
        let plan = match self.run.plan(trial, Some(first.seed)) {
            Ok(plan) => plan,
            Err(error) => {
                self.failed(number, error.to_string());
                return Ok(());
            }
        };
        let key = key(&plan);
        self.state().seeds[number] = plan.seed();
        let title = Title {
            name: plan.name(),
            settings: &trial.settings.join(" "),
            seed: plan.seed(),
        };
        let claim = self.ledger().claim(&key, &title, self.run.retry_failed)?;
        match claim {
            Claim::Granted => {}
            Claim::Done(outcome) => {
                if let Some(outcome) = self.with_readings(*outcome) {
                    self.done(number, outcome, true);
                    return Ok(());
                }
                // A reading that is new needs tables that were not kept.
            }
            Claim::Failed(why) => {
                self.failed(number, why);
                return Ok(());
            }
            Claim::Elsewhere => {
                // Others first; where there is none, it takes a while.
                let mut state = self.state();
                state.waiting.push_back(number);
                if state.waiting.len() == 1 {
                    drop(self.changed.wait_timeout(state, TICK));
                }
                return Ok(());
            }
        }
        self.carry_out(number, &plan, &key)
    }

    fn carry_out(&self, number: usize, plan: &Plan, key: &str) -> Result<(), Error> {
        let needed = self.firsts[cell(self.run, &self.trials[number])].memory_bytes;
        if !self.reserve(needed) {
            return self.ledger().stop(key);
        }
        let trial = self.simulate(number, plan, key);
        self.release(number, needed);
        match trial {
            Ok(None) => self.ledger().stop(key),
            Ok(Some(outcome)) => {
                self.ledger().finish(key, &outcome)?;
                self.done(number, outcome, false);
                Ok(())
            }
            Err(error) => {
                let why = error.to_string();
                self.ledger().fail(key, &why)?;
                self.failed(number, why);
                Ok(())
            }
        }
    }

    /// Runs a trial and reads it; nothing where it was stopped.
    fn simulate(&self, number: usize, plan: &Plan, key: &str) -> Result<Option<Outcome>, Error> {
        let mut run = Run::new(plan).threads(self.threads).force(self.run.force);
        if self.run.sweep.needs_flows() {
            run = run.keep_flows();
        }
        if self.run.sweep.keys.keep == Keep::Tables {
            run = run.folder(self.run.folder.join("trials").join(&key[..16]));
        }
        let mut watch = Watch { pool: self, number };
        let trial = run.run_with(&mut watch)?;
        if trial.was_cancelled() {
            return Ok(None);
        }
        let values = read(&self.run.sweep, &trial);
        Ok(Some(Outcome {
            values,
            summary: trial.summary,
        }))
    }

    /// The outcome with a value for each reading of this sweep; nothing where one is missing.
    fn with_readings(&self, outcome: Outcome) -> Option<Outcome> {
        let readings = self.run.sweep.keys.readings.iter();
        let values = readings.map(|reading| {
            let identity = reading.identity();
            let known = outcome.values.iter().find(|(of, _)| *of == identity);
            known.cloned()
        });
        let values = values.collect::<Option<Vec<_>>>()?;
        Some(Outcome { values, ..outcome })
    }

    /// Waits until a trial fits into memory; not when the sweep is stopped before.
    fn reserve(&self, needed: u64) -> bool {
        let mut state = self.state();
        while state.memory_bytes > 0 && state.memory_bytes + needed > state.memory_limit {
            if self.is_over() {
                return false;
            }
            let waited = self.changed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.memory_bytes += needed;
        state.progress.running += 1;
        true
    }

    fn release(&self, number: usize, needed: u64) {
        let mut state = self.state();
        state.memory_bytes -= needed;
        state.progress.running -= 1;
        state.under_way.retain(|(of, _)| *of != number);
    }

    fn done(&self, number: usize, outcome: Outcome, kept: bool) {
        let mut state = self.state();
        state.progress.done += 1;
        if kept {
            let expected = self.firsts[cell(self.run, &self.trials[number])].packet_hops;
            state.progress.kept += 1;
            state.progress.expected_packet_hops -= expected;
        } else {
            state.progress.packet_hops += outcome.summary.engine.packet_hops as f64;
        }
        state.outcomes[number] = Some(Box::new(outcome));
    }

    fn failed(&self, number: usize, why: String) {
        let mut state = self.state();
        state.progress.failed += 1;
        state.failures.push((number, why));
    }

    /// Tells the observer how far the sweep is until all workers have ended.
    fn watch(&self, observer: &mut dyn SweepObserver, workers: usize) {
        let mut state = self.state();
        loop {
            let mut at = state.progress;
            at.packet_hops += state.under_way.iter().map(|(_, hops)| hops).sum::<f64>();
            let is_over = state.idle == workers;
            drop(state);
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

    fn finish(self) -> Result<Finished, Error> {
        let state = self.state.into_inner();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = state.broken {
            return Err(error);
        }
        let variant_names = self.run.sweep.variants().map(str::to_owned).collect();
        let mut rows = Vec::new();
        for (number, outcome) in state.outcomes.into_iter().enumerate() {
            let Some(outcome) = outcome else { continue };
            let trial = &self.trials[number];
            let measured = Measured {
                variant: trial.variant,
                point: trial.point,
                seed: state.seeds[number],
                digest: outcome.summary.engine.digest.clone(),
                values: outcome.values.iter().map(|(_, value)| *value).collect(),
            };
            rows.push((measured, outcome.summary));
        }
        state.failures.sort_unstable();
        let failures = state.failures.into_iter();
        let failures = failures.map(|(number, why)| (self.trials[number].clone(), why));
        let unfinished = state.progress.done + state.progress.failed < self.trials.len();
        Ok(Finished {
            sweep: self.run.sweep.clone(),
            variants: variant_names,
            rows,
            failures: failures.collect(),
            progress: state.progress,
            was_cancelled: unfinished,
            folder: self.run.folder.clone(),
        })
    }
}

/// Hears how far one trial is, and ends it when the sweep is stopped.
struct Watch<'p, 'r> {
    pool: &'p Pool<'r>,
    number: usize,
}

impl Observer for Watch<'_, '_> {
    fn progress(&mut self, at: &Running<'_>) -> Control {
        let hops = at.progress.packet_hops as f64;
        let mut state = self.pool.state();
        match state
            .under_way
            .iter_mut()
            .find(|(of, _)| *of == self.number)
        {
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
