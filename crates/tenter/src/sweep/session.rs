//! A sweep under way: which trials are left, and what has come of the others. Threads of this
//! process, other processes or a cluster run them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tenter_scenario::Format;
use tenter_study::{Keep, Measured, Sweep, SweepTrial, TrialSeed};

use super::ledger::{Claim, Ledger, Outcome, Title};
use super::results::{self, Finished};
use super::{SweepProgress, SweepResults, SweepRun, key, read};
use crate::identity::sources;
use crate::observer::Observer;
use crate::{Error, Plan, Run};

/// A sweep whose trials are run by its caller.
///
/// [`SweepSession::next`] hands out trials that no process has run yet, [`SweepSession::answer`]
/// takes what came of them, in any order and from any thread, and [`SweepSession::end`] writes the
/// results. A trial that is handed out and never answered is free again when the session is gone.
#[derive(Debug)]
pub struct SweepSession {
    pub(super) run: SweepRun,
    trials: Vec<SweepTrial>,
    firsts: Vec<First>,
    ledger: Mutex<Ledger>,
    state: Mutex<State>,
}

/// What the first trial of each variant and point has told.
#[derive(Clone, Copy, Debug, Default)]
struct First {
    /// The seed of its scenario.
    seed: u64,
    packet_hops: f64,
    memory_bytes: u64,
}

#[derive(Debug)]
struct State {
    /// Trials that wait, by their numbers.
    waiting: VecDeque<usize>,
    progress: SweepProgress,
    outcomes: Vec<Option<Box<Outcome>>>,
    seeds: Vec<u64>,
    failures: Vec<(usize, String)>,
    /// Trials that were handed out, by their keys: equal trials of several points are one.
    handed_out: BTreeMap<String, usize>,
}

/// What there is to do.
#[derive(Debug)]
pub enum NextTrial {
    /// A trial to be run.
    Order(Box<TrialOrder>),
    /// Other processes run all that are left; they may leave some.
    Later,
    /// No trial is left.
    None,
}

/// A trial that anyone may run, here or on another machine: all that it takes, and no more. Equal
/// orders have equal keys and equal answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialOrder {
    /// What the ledger knows the trial by: the digest of its configuration and of the program.
    pub key: String,
    /// Its variant, its point and its seed, for people.
    pub name: String,
    /// Memory that it is expected to take, in bytes.
    pub memory_bytes: u64,
    /// Packet-hops that it is expected to have.
    pub packet_hops: f64,
    /// The sources of the program that gave the order.
    sources: String,
    /// The description of the sweep, which has the readings.
    sweep: String,
    config: String,
    beside: Vec<(String, String)>,
    /// Where its tables are kept, if they are.
    folder: Option<std::path::PathBuf>,
    force: bool,
}

/// What came of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialAnswer {
    end: End,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum End {
    Done(Box<Outcome>),
    Failed(String),
    Stopped,
}

impl TrialAnswer {
    /// Of a trial that could not be run, and why: it is not run again unless that is asked for.
    pub fn failed(why: impl Into<String>) -> TrialAnswer {
        TrialAnswer {
            end: End::Failed(why.into()),
        }
    }

    /// Of a trial that was not run to its end, and may be run again.
    pub fn stopped() -> TrialAnswer {
        TrialAnswer { end: End::Stopped }
    }

    /// Why the trial failed, if it did.
    pub fn failure(&self) -> Option<&str> {
        match &self.end {
            End::Failed(why) => Some(why),
            End::Done(_) | End::Stopped => None,
        }
    }
}

impl TrialOrder {
    /// Runs the trial; the observer may stop it. A failure is an answer, too.
    pub fn carry_out(&self, threads: u16, observer: &mut dyn Observer) -> TrialAnswer {
        if self.sources != sources() {
            return TrialAnswer::failed(
                "this worker has another build of Tenter than the sweep: install the same on all machines",
            );
        }
        match self.plan_and_sweep() {
            Ok((plan, sweep)) => {
                let run = Run::new(&plan).threads(threads).force(self.force);
                let run = match &self.folder {
                    Some(folder) => run.folder(folder),
                    None => run,
                };
                carry_out(run, &sweep, observer)
            }
            Err(error) => TrialAnswer::failed(error.to_string()),
        }
    }

    fn plan_and_sweep(&self) -> Result<(Plan, Sweep), Error> {
        let sweep = Sweep::read(&self.sweep, "sweep", Format::Yaml)?;
        let find = |name: &str| {
            let found = self.beside.iter().find(|(of, _)| of == name);
            let text = found.map(|(_, text)| text.clone());
            text.ok_or_else(|| "the order does not hold it".to_owned())
        };
        let config = (self.config.as_str(), "config.yaml", Format::Yaml);
        let loaded = tenter_scenario::load_beside(config.0, config.1, config.2, &[], None, &find)?;
        Ok((Plan::new(loaded), sweep))
    }
}

/// Runs a trial and reads it.
fn carry_out(run: Run, sweep: &Sweep, observer: &mut dyn Observer) -> TrialAnswer {
    let run = if sweep.needs_flows() {
        run.keep_flows()
    } else {
        run
    };
    let end = match run.run_with(observer) {
        Ok(trial) if trial.was_cancelled() => End::Stopped,
        Ok(trial) => End::Done(Box::new(Outcome {
            values: read(sweep, &trial),
            summary: trial.summary,
        })),
        Err(error) => End::Failed(error.to_string()),
    };
    TrialAnswer { end }
}

/// A trial that this process has claimed.
pub(super) struct Task {
    pub(super) number: usize,
    pub(super) key: String,
    plan: Plan,
}

/// What is to be done with the next trial that waits.
pub(super) enum Taken {
    Task(Box<Task>),
    /// It was run before, or has failed; the next one may be to be run.
    Known,
    /// Another process runs it.
    Elsewhere,
    /// None is left.
    Nothing,
}

impl SweepSession {
    /// Checks every point and opens the ledger: a mistake in the last point is told before the
    /// first is run.
    pub(super) fn open(run: &SweepRun) -> Result<SweepSession, Error> {
        let trials = run.trials();
        let firsts = check(run, &trials)?;
        let expected = trials.iter().map(|trial| firsts[cell(run, trial)]);
        let progress = SweepProgress {
            trials: trials.len(),
            expected_packet_hops: expected.map(|first| first.packet_hops).sum(),
            ..SweepProgress::default()
        };
        Ok(SweepSession {
            run: run.clone(),
            ledger: Mutex::new(Ledger::open(&run.folder)?),
            state: Mutex::new(State {
                waiting: (0..trials.len()).collect(),
                progress,
                outcomes: trials.iter().map(|_| None).collect(),
                seeds: vec![0; trials.len()],
                failures: Vec::new(),
                handed_out: BTreeMap::new(),
            }),
            firsts,
            trials,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory that a trial is expected to take.
    pub(super) fn memory_bytes(&self, number: usize) -> u64 {
        self.firsts[cell(&self.run, &self.trials[number])].memory_bytes
    }

    /// How far the sweep is; packet-hops are those of trials that have ended.
    pub fn progress(&self) -> SweepProgress {
        self.state().progress
    }

    /// The next trial that nobody has run.
    ///
    /// # Errors
    /// When the ledger cannot be read or written.
    pub fn next(&self) -> Result<NextTrial, Error> {
        let mut elsewhere = 0;
        loop {
            match self.take()? {
                Taken::Task(task) => return Ok(NextTrial::Order(Box::new(self.order(*task)))),
                Taken::Known => {}
                Taken::Nothing => return Ok(NextTrial::None),
                Taken::Elsewhere => {
                    elsewhere += 1;
                    if elsewhere > self.state().waiting.len() {
                        return Ok(NextTrial::Later);
                    }
                }
            }
        }
    }

    fn order(&self, task: Task) -> TrialOrder {
        let trial = &self.trials[task.number];
        let first = self.firsts[cell(&self.run, trial)];
        let loaded = task.plan.loaded();
        let name = format!("{} seed {}", title(&self.run, trial), task.plan.seed());
        let order = TrialOrder {
            name: name.trim_start().to_owned(),
            memory_bytes: first.memory_bytes,
            packet_hops: first.packet_hops,
            sources: sources().to_owned(),
            sweep: self.run.sweep.to_yaml(),
            config: loaded.effective.clone(),
            beside: loaded.beside.clone(),
            folder: self.folder(&task.key),
            force: self.run.force,
            key: task.key,
        };
        let mut state = self.state();
        state.progress.running += 1;
        state.handed_out.insert(order.key.clone(), task.number);
        order
    }

    /// Where the tables of a trial are kept, if they are.
    fn folder(&self, key: &str) -> Option<std::path::PathBuf> {
        let folder = self.run.folder.join("trials").join(&key[..16]);
        (self.run.sweep.keys.keep == Keep::Tables)
            .then(|| std::path::absolute(&folder).unwrap_or(folder))
    }

    /// Takes what came of a trial that was handed out.
    ///
    /// # Errors
    /// When no such trial was handed out, or the ledger cannot be written.
    pub fn answer(&self, key: &str, answer: TrialAnswer) -> Result<(), Error> {
        let number = self.state().handed_out.remove(key);
        let Some(number) = number else {
            return Err(Error::Asked(format!(
                "no trial `{key}` is under way; answer each order once"
            )));
        };
        self.state().progress.running -= 1;
        self.keep(number, key, answer)
    }

    /// Takes the next trial that waits, unless its outcome is known.
    pub(super) fn take(&self) -> Result<Taken, Error> {
        let number = self.state().waiting.pop_front();
        let Some(number) = number else {
            return Ok(Taken::Nothing);
        };
        let trial = &self.trials[number];
        let first = self.firsts[cell(&self.run, trial)];
        let plan = match self.run.plan(trial, Some(first.seed)) {
            Ok(plan) => plan,
            Err(error) => {
                self.failed(number, error.to_string());
                return Ok(Taken::Known);
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
                    return Ok(Taken::Known);
                }
                // A reading that is new needs tables that were not kept.
            }
            Claim::Failed(why) => {
                self.failed(number, why);
                return Ok(Taken::Known);
            }
            Claim::Elsewhere => {
                self.state().waiting.push_back(number);
                return Ok(Taken::Elsewhere);
            }
        }
        Ok(Taken::Task(Box::new(Task { number, key, plan })))
    }

    /// Whether no other trial waits than those that other processes run.
    pub(super) fn waits_for_one(&self) -> bool {
        self.state().waiting.len() <= 1
    }

    /// Runs a trial that was taken.
    pub(super) fn carry_out(
        &self,
        task: &Task,
        threads: u16,
        observer: &mut dyn Observer,
    ) -> TrialAnswer {
        let run = Run::new(&task.plan).threads(threads).force(self.run.force);
        let run = match self.folder(&task.key) {
            Some(folder) => run.folder(folder),
            None => run,
        };
        carry_out(run, &self.run.sweep, observer)
    }

    /// Notes what came of a trial.
    pub(super) fn keep(&self, number: usize, key: &str, answer: TrialAnswer) -> Result<(), Error> {
        match answer.end {
            End::Stopped => self.ledger().stop(key),
            End::Done(outcome) => {
                self.ledger().finish(key, &outcome)?;
                self.done(number, *outcome, false);
                Ok(())
            }
            End::Failed(why) => {
                self.ledger().fail(key, &why)?;
                self.failed(number, why);
                Ok(())
            }
        }
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

    fn done(&self, number: usize, outcome: Outcome, kept: bool) {
        let expected = self.firsts[cell(&self.run, &self.trials[number])].packet_hops;
        let mut state = self.state();
        state.progress.done += 1;
        if kept {
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

    /// Writes the results of all trials that have run.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn end(self) -> Result<SweepResults, Error> {
        let finished = self.finish();
        results::write(&finished)?;
        Ok(finished.told())
    }

    fn finish(self) -> Finished {
        let state = self.state.into_inner();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        // What was handed out and not answered is for others to run.
        let ledger = self.ledger.into_inner();
        let ledger = ledger.unwrap_or_else(PoisonError::into_inner);
        for key in state.handed_out.keys() {
            let _ = ledger.stop(key);
        }
        state.progress.running = 0;
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
        Finished {
            variants: self.run.sweep.variants().map(str::to_owned).collect(),
            sweep: self.run.sweep,
            rows,
            failures: failures.collect(),
            progress: state.progress,
            was_cancelled: unfinished,
            folder: self.run.folder,
        }
    }
}

/// Resolves the first trial of each variant and point.
fn check(run: &SweepRun, trials: &[SweepTrial]) -> Result<Vec<First>, Error> {
    let cells = run.sweep.points().len() * run.sweep.variants().len();
    let mut firsts: Vec<Option<First>> = vec![None; cells];
    for trial in trials {
        let first = &mut firsts[cell(run, trial)];
        if first.is_some() {
            continue;
        }
        let own = SweepTrial {
            seed: TrialSeed::After(0),
            ..trial.clone()
        };
        let named = |error| named(run, trial, error);
        let plan = run.plan(&own, None).map_err(named)?;
        plan.check().map_err(named)?;
        *first = Some(First {
            seed: plan.seed(),
            packet_hops: plan.packet_hops()?,
            memory_bytes: plan.memory_bytes()?,
        });
    }
    // Cells that `only` leaves out are never looked up.
    Ok(firsts.into_iter().map(Option::unwrap_or_default).collect())
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
fn title(run: &SweepRun, trial: &SweepTrial) -> String {
    let variant = run.sweep.variants().nth(trial.variant).unwrap_or_default();
    let point = run.sweep.point_name(trial.point);
    let parts = [variant, &point]
        .into_iter()
        .filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}
