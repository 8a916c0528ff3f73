//! The trials of a study, as the pool of [sweeps](crate::SweepRun) runs them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tenter_scenario::Loaded;
use tenter_study::{StudyAnswer, Variant};

use crate::budget::machine_limits;
use crate::observer::Observer;
use crate::sweep::pool::{self, Supply, Taken};
use crate::{Error, Run, StudyRun, SweepObserver, SweepProgress, Trial};

impl StudyRun {
    /// Runs all variants and compares them with what was published; `None` where the observer has
    /// stopped a trial, since no study is judged by a part of its trials.
    ///
    /// # Errors
    /// When a scenario of the study does not hold, or a trial cannot be run or written.
    pub fn answer(&self, observer: &mut dyn SweepObserver) -> Result<Option<StudyAnswer>, Error> {
        let trials = StudyTrials::of(self)?;
        pool::run(&trials, self.workers, observer)?;
        let state = trials.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        if state.was_stopped || !state.variants.is_empty() || !state.waiting.is_empty() {
            return Ok(None);
        }
        let of_variants = state.ended.into_iter();
        let trials: Option<Vec<Vec<_>>> = of_variants
            .map(|trials| trials.into_iter().collect())
            .collect();
        Ok(trials.map(|trials| self.study().judge(self.extent, &trials)))
    }
}

/// A trial of a study: the number of its variant, its own among those of the variant.
struct Task {
    variant: usize,
    nth: usize,
    memory_bytes: u64,
    packet_hops: f64,
    run: Run,
}

struct StudyTrials<'s> {
    study: &'s StudyRun,
    state: Mutex<State<'s>>,
}

struct State<'s> {
    /// Variants whose trials are not known yet, which may take much memory.
    variants: VecDeque<(usize, &'s Variant)>,
    /// Trials of the variant before.
    waiting: VecDeque<(usize, usize, Loaded)>,
    /// What has come of the trials of each variant.
    ended: Vec<Vec<Option<tenter_study::Trial>>>,
    progress: SweepProgress,
    was_stopped: bool,
}

impl<'s> StudyTrials<'s> {
    fn of(study: &'s StudyRun) -> Result<StudyTrials<'s>, Error> {
        let has_trials = study.study().has(study.extent);
        let variants = study.study().variants.iter().enumerate();
        let variants = variants.filter(|_| has_trials).collect();
        let estimate = study.estimate()?;
        let progress = SweepProgress {
            trials: estimate.trials,
            expected_packet_hops: estimate.packet_hops,
            ..SweepProgress::default()
        };
        Ok(StudyTrials {
            study,
            state: Mutex::new(State {
                variants,
                waiting: VecDeque::new(),
                ended: Vec::new(),
                progress,
                was_stopped: false,
            }),
        })
    }

    fn state(&self) -> MutexGuard<'_, State<'s>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next trial, those of the next variant where all of this one are under way.
    fn next(&self) -> Result<Option<(usize, usize, Loaded)>, Error> {
        let mut state = self.state();
        while state.waiting.is_empty() {
            let Some((number, variant)) = state.variants.pop_front() else {
                break;
            };
            let trials = self
                .study
                .study()
                .trials(variant, self.study.extent, machine_limits())?;
            state.ended.push(trials.iter().map(|_| None).collect());
            let numbered = trials.into_iter().enumerate();
            let numbered = numbered.map(|(nth, loaded)| (number, nth, loaded));
            state.waiting.extend(numbered);
        }
        Ok(state.waiting.pop_front())
    }
}

impl Supply for StudyTrials<'_> {
    type Task = Box<Task>;
    type Answer = Result<Trial, Error>;

    fn take(&self) -> Result<Taken<Box<Task>>, Error> {
        let Some((variant, nth, loaded)) = self.next()? else {
            return Ok(Taken::Nothing);
        };
        let run = self
            .study
            .run(&self.study.study().variants[variant], loaded)?;
        Ok(Taken::Task(Box::new(Task {
            variant,
            nth,
            memory_bytes: run.plan().memory_bytes()?,
            packet_hops: run.plan().packet_hops()?,
            run,
        })))
    }

    fn memory_bytes(&self, task: &Box<Task>) -> u64 {
        task.memory_bytes
    }

    fn carry_out(
        &self,
        task: &Box<Task>,
        threads: u16,
        observer: &mut dyn Observer,
    ) -> Result<Trial, Error> {
        // One trial after the other has the threads that were asked for.
        let threads = match self.study.workers {
            1 => self.study.threads,
            _ => threads,
        };
        task.run.clone().threads(threads).run_with(observer)
    }

    fn keep(&self, task: Box<Task>, answer: Option<Result<Trial, Error>>) -> Result<(), Error> {
        let trial = answer.transpose()?.filter(|trial| !trial.was_cancelled());
        let mut state = self.state();
        let Some(trial) = trial else {
            state.was_stopped = true;
            return Ok(());
        };
        let plan = task.run.plan().resolved();
        let trial = tenter_study::Trial::of(plan, trial.summary, trial.counts, trial.flows);
        state.progress.done += 1;
        state.progress.packet_hops += task.packet_hops;
        state.ended[task.variant][task.nth] = Some(self.study.study().thinned(trial));
        Ok(())
    }

    fn progress(&self) -> SweepProgress {
        self.state().progress
    }
}
