//! Sessions: sweeps under way, with the trials that are left and the others' outcomes. Threads in
//! this process, other processes or a cluster run the trials.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::studies::{Keep, Measured, SweepTrial};

use super::elsewhere::{Elsewhere, PAUSE_MAX};
use super::first::{First, Known, check, prepared};
use super::ledger::{Claim, Ledger, Title};
use super::order::{TrialAnswer, TrialOrder, carry_out, predicted};
use super::outcome::{End, Outcome};
use super::pool::{Supply, Taken};
use super::progress::SweepProgress;
use super::queue::{Claimed, Queue};
use super::results::{self, SweepResults, Told};
use super::run::SweepRun;
use super::swept::{Swept, SweptOutcome};
use crate::observer::Observer;
use crate::{Error, Plan, Run};

/// A sweep whose trials the caller runs.
///
/// [`SweepSession::next`] hands out trials that no process has run yet, [`SweepSession::answer`]
/// takes their answers, in any order and from any thread, and [`SweepSession::end`] writes the
/// results. A trial that is handed out and never answered is free again when the session is gone.
#[derive(Debug)]
pub struct SweepSession {
    pub(super) run: SweepRun,
    trials: Vec<SweepTrial>,
    firsts: Vec<First>,
    /// Each trial's identity, or the reason why it cannot be run.
    known: Vec<Result<Known, String>>,
    ledger: Mutex<Ledger>,
    /// Queue from which workers on other machines take trials, if the sweep has one.
    queue: Option<Queue>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Trials that wait, by index.
    waiting: VecDeque<usize>,
    /// Trials that other processes were running at the last poll.
    elsewhere: Elsewhere,
    progress: SweepProgress,
    outcomes: Vec<Option<Box<Outcome>>>,
    failures: Vec<(usize, String)>,
    /// Ended trials that were not reported yet, by index.
    ended: Vec<usize>,
    /// Keys of trials that were handed out, with their indices: equal trials at several points are
    /// handed out once.
    handed_out: BTreeMap<String, usize>,
    /// Keys of trials that this process runs, each with the indices of equal trials that wait for
    /// its end.
    here: BTreeMap<String, Vec<usize>>,
}

impl State {
    /// Returns the index of the next trial to be looked at; `None` if no trial is left. An error
    /// says how long to wait while others run all that are left.
    fn next(&mut self, now: Instant) -> Result<Option<usize>, Duration> {
        if self.waiting.is_empty() {
            self.waiting.extend(self.elsewhere.again(now)?);
        }
        match self.waiting.pop_front() {
            // An equal trial that ends wakes the caller before this pause is over.
            None if self.here.values().any(|equal| !equal.is_empty()) => Err(PAUSE_MAX),
            next => Ok(next),
        }
    }

    /// Sets a trial aside until the process that runs it, this one or another, has ended it.
    fn leave(&mut self, number: usize, key: &str) {
        match self.here.get_mut(key) {
            Some(equal) => equal.push(number),
            None => self.elsewhere.trials.push(number),
        }
    }

    /// Notes that this process no longer runs a trial: equal trials that wait for it can be looked
    /// up.
    fn left(&mut self, key: &str) {
        self.waiting
            .extend(self.here.remove(key).unwrap_or_default());
    }
}

/// Reply to a caller that asks for a trial to run.
#[derive(Debug)]
pub enum NextTrial {
    /// A trial to be run.
    Order(Box<TrialOrder>),
    /// All trials that are left are under way, in this process or in others. Ask again later, since
    /// others may give some back.
    Later,
    /// No trial is left.
    None,
}

/// The ledger's answer to a claim, after this sweep's readings were checked.
enum Granted {
    /// The trial is this process's to run.
    Mine,
    /// The trial has run, with every reading that this sweep takes.
    Done(Box<Outcome>),
    /// The trial has failed before, for this reason.
    Failed(String),
    /// Another process is running the trial.
    Elsewhere,
}

/// A trial that this process has claimed.
pub(crate) struct Task {
    number: usize,
    /// The plan; without it the order is known already.
    plan: Option<Plan>,
}

/// Files of a trial that are longer together are not sent to another process.
const SENT_BYTES: u64 = 256 << 20;

impl SweepSession {
    /// Checks every point, opens the ledger and notes all trials in it. A mistake in the last point
    /// is reported before the first is run.
    ///
    /// With a `patience` the queue is made if there is none; without it, only an existing queue is
    /// joined.
    pub(super) fn open(run: &SweepRun, patience: Option<Duration>) -> Result<SweepSession, Error> {
        let trials = run.trials()?;
        let firsts = check(run, &trials, || run.budget())?;
        let known = prepared(run, &trials, &firsts);
        let ledger = if run.named.is_some() {
            Ledger::in_memory()?
        } else if run.resume {
            Ledger::reopen(run.ledger.as_ref().unwrap_or(&run.folder))?
        } else {
            Ledger::open(run.ledger.as_ref().unwrap_or(&run.folder))?
        };
        let queue = match patience {
            Some(patience) => {
                let queue = Queue::make(&run.folder, patience)?;
                // A part of the sweep does not know the trials of the other parts.
                if run.only.is_all() {
                    forget_others(&queue, &ledger, &known)?;
                }
                Some(queue)
            }
            None if run.named.is_some() => None,
            None => Queue::join_if_there(&run.folder)?,
        };
        let settings: Vec<String> = trials.iter().map(|of| of.settings.join(" ")).collect();
        let seeds: Vec<String> = known.iter().map(seed_text).collect();
        let titles = known.iter().zip(&settings).zip(&seeds);
        ledger.queue(titles.filter_map(|((known, settings), seed)| {
            let Known { key, name, .. } = known.as_ref().ok()?;
            Some((
                key.as_str(),
                Title {
                    name,
                    settings,
                    seed,
                },
            ))
        }))?;
        let expected = trials
            .iter()
            .map(|trial| firsts[run.cell(trial)].packet_hops);
        let progress = SweepProgress {
            trials: trials.len(),
            expected_packet_hops: expected.sum(),
            ..SweepProgress::default()
        };
        Ok(SweepSession {
            run: run.clone(),
            ledger: Mutex::new(ledger),
            queue,
            state: Mutex::new(State {
                waiting: (0..trials.len()).collect(),
                elsewhere: Elsewhere::new(),
                progress,
                outcomes: trials.iter().map(|_| None).collect(),
                failures: Vec::new(),
                ended: Vec::new(),
                handed_out: BTreeMap::new(),
                here: BTreeMap::new(),
            }),
            known,
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

    fn first(&self, number: usize) -> First {
        self.firsts[self.run.cell(&self.trials[number])]
    }

    /// The sweep's progress; packet-hops are those in ended trials.
    pub fn progress(&self) -> SweepProgress {
        self.state().progress
    }

    /// Hands out the next trial that no process has run.
    ///
    /// # Errors
    /// When the ledger cannot be read or written.
    pub fn next(&self) -> Result<NextTrial, Error> {
        loop {
            match self.take()? {
                Taken::Task(task) => {
                    let order = self.order(&task)?;
                    let mut state = self.state();
                    state.progress.running += 1;
                    state.handed_out.insert(order.key.clone(), task.number);
                    return Ok(NextTrial::Order(Box::new(order)));
                }
                Taken::Known => {}
                Taken::Nothing => return Ok(NextTrial::None),
                Taken::Later(_) => return Ok(NextTrial::Later),
            }
        }
    }

    fn order(&self, task: &Task) -> Result<TrialOrder, Error> {
        let (known, first) = (self.known(task.number)?, self.first(task.number));
        let title = self.run.title(&self.trials[task.number]);
        let name = format!("{title} seed {}", known.seeds.first().unwrap_or(&0));
        Ok(TrialOrder {
            name: name.trim_start().to_owned(),
            memory_bytes: first.memory_bytes,
            packet_hops: predicted(first.packet_hops),
            reads: self.run.sweep.reads().to_vec(),
            folder: self.folder(task.number),
            force: self.run.force,
            key: known.key.clone(),
            title: self.observed_title(task.number),
            ..match (&task.plan, &known.order) {
                (Some(plan), _) => TrialOrder::bare(plan),
                (None, Some(order)) => (**order).clone(),
                (None, None) => TrialOrder::bare(&self.plan_of(task.number)?),
            }
        })
    }

    /// Names a trial for the observer; only trials of studies are told apart there.
    fn observed_title(&self, number: usize) -> String {
        if self.run.named.is_none() {
            return String::new();
        }
        let title = self.run.title(&self.trials[number]);
        match (self.run.sweep.chosen_seeds(), &self.known[number]) {
            (Some(_), Ok(known)) => format!("{title}, seed {}", known.seed),
            _ => title,
        }
    }

    /// Puts all trials that have not run into the queue, and returns how many it did not have
    /// before. Answers in the queue are collected first: they may lack a reading that is new.
    ///
    /// # Errors
    /// When the ledger or the queue cannot be written.
    pub(super) fn queue_all(&self) -> Result<usize, Error> {
        let Some(queue) = &self.queue else {
            return Ok(0);
        };
        let mut queued = 0;
        for (number, known) in self.known.iter().enumerate() {
            let Ok(known) = known else { continue };
            if let Some(answer) = queue.answer(&known.key)? {
                self.note(number, &known.key, answer)?;
            }
            let is_there = queue.has(&known.key);
            if !is_there && !matches!(self.ledger_claim(number, known)?, Granted::Mine) {
                continue;
            }
            let plan = self.plan_of(number)?;
            queue.put(&self.order(&Task {
                number,
                plan: Some(plan),
            })?)?;
            if !is_there {
                self.ledger().wait(&known.key)?;
                queued += 1;
            }
        }
        Ok(queued)
    }

    /// Returns the folder with a trial's tables, if they are kept.
    fn folder(&self, number: usize) -> Option<PathBuf> {
        let known = self.known[number].as_ref().ok()?;
        if self.run.named.is_some() {
            let seed = known.seeds.first().copied().unwrap_or_default();
            return self.run.named_folder(&self.trials[number], seed);
        }
        // The first 64 bits of the digest name the folder. The path is absolute, and workers on
        // other machines replace all of it but this name.
        let key = &known.key;
        let folder = self.run.folder.join("trials").join(&key[..16]);
        (self.run.sweep.keys.keep == Keep::Tables)
            .then(|| std::path::absolute(&folder).unwrap_or(folder))
    }

    /// Returns the identity of a trial that is under way; one that cannot be run never is.
    fn known(&self, number: usize) -> Result<&Known, Error> {
        self.known[number]
            .as_ref()
            .map_err(|why| Error::Asked(why.clone()))
    }

    /// Takes the answer for a trial that was handed out.
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
        self.note(number, key, answer)
    }

    fn ledger_claim(&self, number: usize, known: &Known) -> Result<Granted, Error> {
        let title = Title {
            name: &known.name,
            settings: &self.trials[number].settings.join(" "),
            seed: &seed_text_of(&known.seeds),
        };
        let (key, retry) = (&known.key, self.run.retry_failed);
        let ledger = self.ledger();
        loop {
            let finished = match ledger.claim(key, &title, retry)? {
                Claim::Granted => return Ok(Granted::Mine),
                Claim::Failed(why) => return Ok(Granted::Failed(why)),
                Claim::Elsewhere => return Ok(Granted::Elsewhere),
                Claim::Done(finished) => finished,
            };
            if let Some(outcome) = self.with_readings(&finished.outcome) {
                return Ok(Granted::Done(Box::new(outcome)));
            }
            // A run for the missing reading has failed, and every further one would.
            if let Some(why) = finished.error.clone().filter(|_| !retry) {
                return Ok(Granted::Failed(why));
            }
            // The missing reading needs tables that were not kept: run again.
            if ledger.reclaim(key, &finished)? {
                return Ok(Granted::Mine);
            }
        }
    }

    /// Claims a trial in the ledger, and in the queue if it has the trial. Returns true if it is
    /// this process's to run.
    fn claim(&self, number: usize, known: &Known) -> Result<bool, Error> {
        let key = &known.key;
        if let Some(queue) = &self.queue
            && let Some(answer) = queue.answer(key)?
        {
            self.note(number, key, answer)?;
            return Ok(false);
        }
        match self.ledger_claim(number, known)? {
            Granted::Mine => {}
            Granted::Done(outcome) => {
                self.done(number, *outcome, true);
                return Ok(false);
            }
            Granted::Failed(why) => {
                self.failed(number, why);
                return Ok(false);
            }
            Granted::Elsewhere => {
                self.state().leave(number, key);
                return Ok(false);
            }
        }
        let Some(queue) = self.queue.as_ref().filter(|queue| queue.has(key)) else {
            return Ok(true);
        };
        match queue.claim(key)? {
            Claimed::Mine => Ok(true),
            // Another worker has it, or has answered it in this instant.
            Claimed::Others | Claimed::Answered => {
                self.ledger().wait(key)?;
                self.state().leave(number, key);
                Ok(false)
            }
        }
    }

    /// Notes the answer for a trial.
    fn note(&self, number: usize, key: &str, answer: TrialAnswer) -> Result<(), Error> {
        self.note_end(number, key, answer.end)?;
        // The ledger must have the answer first: equal trials are looked up there.
        self.state().left(key);
        Ok(())
    }

    fn note_end(&self, number: usize, key: &str, end: End) -> Result<(), Error> {
        match end {
            End::Stopped => {
                self.ledger().stop(key)?;
                if let Some(queue) = &self.queue {
                    queue.release(key);
                }
                return Ok(());
            }
            End::Done(outcome) => {
                self.ledger().finish(key, &outcome)?;
                match self.with_readings(&outcome) {
                    Some(outcome) => self.done(number, outcome, false),
                    // The order had other readings: those of this sweep need another run.
                    None => self.state().waiting.push_back(number),
                }
            }
            End::Failed(why) => {
                self.ledger().fail(key, &why)?;
                self.failed(number, why);
            }
        }
        if let Some(queue) = &self.queue {
            queue.forget(key);
        }
        Ok(())
    }

    /// Returns the outcome with this sweep's readings alone, in order; `None` if one is missing.
    fn with_readings(&self, outcome: &Outcome) -> Option<Outcome> {
        let reads = self.run.sweep.reads().iter();
        let values = reads.map(|read| {
            let key = read.key();
            let known = outcome.values.iter().find(|(of, _)| *of == key);
            known.cloned()
        });
        Some(Outcome {
            values: values.collect::<Option<Vec<_>>>()?,
            summary: outcome.summary.clone(),
            pauses: outcome.pauses.clone(),
        })
    }

    fn done(&self, number: usize, outcome: Outcome, kept: bool) {
        let expected = self.first(number).packet_hops;
        let mut state = self.state();
        state.progress.done += 1;
        state.elsewhere.has_ended();
        if kept {
            state.progress.kept += 1;
            state.progress.expected_packet_hops -= expected;
        } else {
            let engine = &outcome.summary.engine;
            state.progress.trials_wall_s += engine.wall_s + engine.set_up_s;
            state.progress.packet_hops += engine.packet_hops as f64;
        }
        state.outcomes[number] = Some(Box::new(outcome));
        state.ended.push(number);
    }

    fn failed(&self, number: usize, why: String) {
        let expected = self.first(number).packet_hops;
        let mut state = self.state();
        state.progress.failed += 1;
        state.elsewhere.has_ended();
        state.progress.expected_packet_hops -= expected;
        state.failures.push((number, why));
        state.ended.push(number);
    }

    /// Takes the indices of trials that have ended since the last call.
    pub(super) fn take_ended(&self) -> Vec<usize> {
        std::mem::take(&mut self.state().ended)
    }

    /// Resolves a trial's scenario.
    fn plan_of(&self, number: usize) -> Result<Plan, Error> {
        let first = self.first(number);
        let budget = self.run.budget();
        self.run.plan(&self.trials[number], Some(&first), &budget)
    }

    /// Returns a trial that has ended; `None` if it has not.
    pub(super) fn swept(&self, number: usize) -> Option<Swept<'_>> {
        let state = self.state();
        let outcome = if let Some(outcome) = &state.outcomes[number] {
            Ok(SweptOutcome {
                summary: Box::new(outcome.summary.clone()),
                values: outcome
                    .values
                    .iter()
                    .map(|(_, value)| value.clone())
                    .collect(),
            })
        } else {
            let mut failures = state.failures.iter();
            Err(failures.find(|(of, _)| *of == number)?.1.clone())
        };
        drop(state);
        let (known, trial) = (self.known[number].as_ref().ok(), &self.trials[number]);
        let seed = known.and_then(|known| known.seeds.first().copied());
        Some(Swept {
            planned: Box::new(move || self.plan_of(number)),
            place: number,
            title: self.run.title(trial),
            variant: trial.variant,
            point: trial.point,
            seed: seed.unwrap_or_default(),
            outcome,
            folder: self.folder(number),
        })
    }

    /// Ends the session and writes the results from all trials that have run.
    ///
    /// # Errors
    /// When the results cannot be written.
    pub fn end(self) -> Result<SweepResults, Error> {
        let (results, told) = self.finish();
        results::write(&results, &told)?;
        Ok(results)
    }

    /// Ends the session without writing anything.
    pub(super) fn told(self) -> SweepResults {
        self.finish().0
    }

    fn finish(self) -> (SweepResults, Vec<Told>) {
        let state = self.state.into_inner();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        // Trials that were handed out and not answered are free for other processes.
        let ledger = self.ledger.into_inner();
        let ledger = ledger.unwrap_or_else(PoisonError::into_inner);
        for key in state.handed_out.keys() {
            let _ = ledger.stop(key);
        }
        if let Some(queue) = &self.queue {
            state.handed_out.keys().for_each(|key| queue.release(key));
            queue.remove_if_done();
        }
        state.progress.running = 0;
        let (mut measured, mut told) = (Vec::new(), Vec::new());
        for (number, outcome) in state.outcomes.into_iter().enumerate() {
            let (Some(outcome), Ok(known)) = (outcome, &self.known[number]) else {
                continue;
            };
            let trial = &self.trials[number];
            measured.push(Measured {
                variant: trial.variant,
                point: trial.point,
                seed: known.seeds.first().copied().unwrap_or_default(),
                digest: outcome.summary.engine.digest.clone(),
                values: outcome.values.into_iter().map(|(_, value)| value).collect(),
                notes: outcome.summary.notes.clone(),
                pauses: outcome.pauses,
            });
            told.push(Told {
                seeds: known.seeds.clone(),
                summary: outcome.summary,
            });
        }
        // Threads fail in any order, and results must not depend on it.
        state.failures.sort_unstable();
        let failures = state.failures.into_iter();
        let failures = failures.map(|(number, why)| (self.trials[number].clone(), why));
        let unfinished = state.progress.done + state.progress.failed < self.trials.len();
        let SweepRun {
            sweep,
            only,
            folder,
            ..
        } = self.run;
        let results = SweepResults {
            answer: results::answer(&sweep, &only, &measured),
            winners: sweep.winners(&measured),
            sweep,
            measured,
            failures: failures.collect(),
            progress: state.progress,
            was_cancelled: unfinished,
            folder,
            only,
        };
        (results, told)
    }
}

impl Supply for SweepSession {
    type Task = Box<Task>;

    fn take(&self) -> Result<Taken<Box<Task>>, Error> {
        let number = match self.state().next(Instant::now()) {
            Ok(Some(number)) => number,
            Ok(None) => return Ok(Taken::Nothing),
            Err(pause) => return Ok(Taken::Later(pause)),
        };
        let known = match &self.known[number] {
            Ok(known) => known,
            Err(why) => {
                self.failed(number, why.clone());
                return Ok(Taken::Known);
            }
        };
        if !self.claim(number, known)? {
            return Ok(Taken::Known);
        }
        self.state().here.entry(known.key.clone()).or_default();
        if known.order.is_some() {
            return Ok(Taken::Task(Box::new(Task { number, plan: None })));
        }
        match self.plan_of(number) {
            Ok(plan) => Ok(Taken::Task(Box::new(Task {
                number,
                plan: Some(plan),
            }))),
            Err(error) => {
                self.note(number, &known.key, TrialAnswer::failed(error.to_string()))?;
                Ok(Taken::Known)
            }
        }
    }

    fn memory_bytes(&self, task: &Box<Task>) -> u64 {
        self.first(task.number).memory_bytes
    }

    fn order<'t>(&self, task: &'t Box<Task>) -> Result<Option<Cow<'t, TrialOrder>>, Error> {
        let plan = task.plan.as_ref();
        if plan.is_some_and(|plan| plan.loaded().bytes_beside() > SENT_BYTES) {
            return Ok(None);
        }
        Ok(Some(Cow::Owned(SweepSession::order(self, task)?)))
    }

    fn carry_out(
        &self,
        task: &Box<Task>,
        threads: u16,
        observer: &mut dyn Observer,
    ) -> TrialAnswer {
        let Some(plan) = &task.plan else {
            return match SweepSession::order(self, task) {
                Ok(order) => order.carry_out(threads, observer),
                Err(error) => TrialAnswer::failed(error.to_string()),
            };
        };
        let run = Run::new(plan)
            .threads(threads)
            .force(self.run.force)
            .title(self.observed_title(task.number));
        let folder = self.folder(task.number);
        carry_out(run, folder.as_deref(), self.run.sweep.reads(), observer)
    }

    fn keep(&self, task: Box<Task>, answer: Option<TrialAnswer>) -> Result<(), Error> {
        let key = &self.known(task.number)?.key;
        self.note(
            task.number,
            key,
            answer.unwrap_or_else(TrialAnswer::stopped),
        )
    }

    fn progress(&self) -> SweepProgress {
        SweepSession::progress(self)
    }
}

/// Removes from the queue the trials that the sweep does not have. Answers go into the ledger: they
/// may belong to another sweep in the same folder, or to this one before it had fewer trials.
fn forget_others(
    queue: &Queue,
    ledger: &Ledger,
    known: &[Result<Known, String>],
) -> Result<(), Error> {
    let known = known.iter().filter_map(|known| known.as_ref().ok());
    let known: BTreeSet<&str> = known.map(|known| known.key.as_str()).collect();
    for key in queue.others(&known)? {
        if let Some(answer) = queue.answer(&key)? {
            let order = queue.order(&key)?;
            ledger.add(
                &key,
                order.as_ref().map_or("", |order| &order.name),
                &answer.end,
            )?;
        }
        queue.forget(&key);
    }
    Ok(())
}

fn seed_text(known: &Result<Known, String>) -> String {
    known
        .as_ref()
        .map_or_else(|_| String::new(), |known| seed_text_of(&known.seeds))
}

/// Writes the first varied seed as text; empty if none varies.
fn seed_text_of(seeds: &[u64]) -> String {
    seeds.first().map(u64::to_string).unwrap_or_default()
}
