//! A sweep and how it is run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter_scenario::Format;
use tenter_study::{Sweep, SweepCell, SweepTrial, TrialSeed, published_table};
use tenter_units::{Budget, Limits};

use super::only::Only;
use crate::budget::{check_budget, check_limits, forced_budget, way_to_more};
use crate::{Error, Plan, Scenario, read_text};

/// A sweep and how it is run.
#[derive(Clone, Debug)]
#[must_use]
pub struct SweepRun {
    pub(super) sweep: Sweep,
    pub(super) base: Scenario,
    pub(super) folder: PathBuf,
    /// The folder of the ledger, where that is another one.
    pub(super) ledger: Option<PathBuf>,
    pub(super) workers: usize,
    pub(super) resume: bool,
    pub(super) retry_failed: bool,
    pub(super) only: Only,
    pub(super) force: bool,
    pub(super) limits: Limits,
    /// Where trials lie by their names, in place of a ledger.
    pub(super) named: Option<NamedTrials>,
    /// Threads of each trial where trials run one after the other.
    pub(super) threads: Option<u16>,
    /// It tells what the budgets of all plans have refused.
    pub(super) refusals: Arc<Budget>,
}

/// Trials that lie in a folder by their names, if they lie in any.
#[derive(Clone, Debug)]
pub(super) struct NamedTrials(Option<PathBuf>);

impl SweepRun {
    /// Reads the description of a sweep; the path of its scenario counts from it. The folder is
    /// `sweeps/NAME` unless [`SweepRun::folder`] says another.
    ///
    /// # Errors
    /// When the description or the scenario cannot be read or does not hold.
    pub fn read(file: impl AsRef<Path>) -> Result<SweepRun, Error> {
        let file = file.as_ref();
        let name = file.display().to_string();
        let (text, format) = (read_text(file)?, Format::of_name(&name));
        let folder = file.with_file_name("");
        let mut sweep = Sweep::read_beside(&text, &name, format, &|name| {
            published_beside(&folder, name)
        })?;
        if sweep.keys.name.is_empty() {
            let stem = file.file_stem().unwrap_or_default();
            sweep.keys.name = stem.to_string_lossy().into_owned();
        }
        SweepRun::beside(sweep, folder)
    }

    /// A sweep whose scenario is the one that its description names; paths count from a folder.
    ///
    /// # Errors
    /// When the scenario cannot be read.
    pub fn beside(sweep: Sweep, folder: impl AsRef<Path>) -> Result<SweepRun, Error> {
        let base = match sweep.keys.scenario.strip_prefix("preset:") {
            Some(preset) => Scenario::preset(preset)?,
            None => Scenario::read(folder.as_ref().join(&sweep.keys.scenario))?,
        };
        Ok(SweepRun::new(sweep, base))
    }

    /// A sweep over a scenario.
    pub fn new(sweep: Sweep, base: Scenario) -> SweepRun {
        let name = match sweep.keys.name.as_str() {
            "" => "sweep".to_owned(),
            name => name.replace(['/', '\\'], "-"),
        };
        SweepRun {
            folder: Path::new("sweeps").join(name),
            ledger: None,
            sweep,
            base,
            workers: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            resume: false,
            retry_failed: false,
            only: Only::default(),
            force: false,
            limits: check_limits(),
            named: None,
            threads: None,
            refusals: Arc::new(forced_budget()),
        }
    }

    /// Changes a value of the scenario before it is varied: `PATH=VALUE`.
    pub fn with_setting(mut self, setting: impl Into<String>) -> SweepRun {
        self.base = self.base.with_setting(setting);
        self
    }

    /// Keeps ledger, tables and trials in a folder, which may hold those of an earlier run.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> SweepRun {
        self.folder = folder.into();
        self
    }

    /// Keeps the ledger in another folder, where several sweeps share what has run.
    pub fn ledger(mut self, folder: impl Into<PathBuf>) -> SweepRun {
        self.ledger = Some(folder.into());
        self
    }

    /// Keeps no ledger and writes no results. With a folder each trial lies in
    /// `FOLDER/NAME/VARIANT`, or in `seed-N` below that where conditions choose seeds.
    pub fn without_ledger(mut self, folder: Option<PathBuf>) -> SweepRun {
        self.named = Some(NamedTrials(folder));
        self
    }

    /// Uses at most so many threads for each trial, where they run one after the other.
    pub fn threads(mut self, threads: u16) -> SweepRun {
        self.threads = Some(threads);
        self
    }

    /// Runs at most so many trials side by side; one for each core unless told.
    pub fn workers(mut self, workers: usize) -> SweepRun {
        self.workers = workers.max(1);
        self
    }

    /// Runs trials again that have failed before.
    pub fn retry_failed(mut self, retry: bool) -> SweepRun {
        self.retry_failed = retry;
        self
    }

    /// Goes on with the sweep that the folder holds, and refuses to begin one: for a folder that
    /// was named wrongly. Without this a sweep goes on, too, where its folder holds one.
    pub fn resume(mut self, resume: bool) -> SweepRun {
        self.resume = resume;
        self
    }

    /// Runs only these variants, and only the points that have these values of axes, written
    /// `AXIS=VALUE`; an empty list is all of them.
    ///
    /// # Errors
    /// When the sweep has no such variant, axis or value.
    pub fn only(mut self, named: &[String]) -> Result<SweepRun, Error> {
        self.only = Only::read(&self.sweep, named)?;
        Ok(self)
    }

    /// Runs even trials that are expected to take more memory than there is.
    pub fn force(mut self, force: bool) -> SweepRun {
        self.force = force;
        self
    }

    /// Sets what making the plan of one trial may take, and checking it; what the machine has free
    /// and [`CHECK_TIME`](crate::CHECK_TIME) unless told.
    pub fn limits(mut self, limits: Limits) -> SweepRun {
        self.limits = limits;
        self
    }

    /// The budget of one plan, on the thread that makes it.
    pub(super) fn budget(&self) -> Budget {
        if self.force {
            return forced_budget();
        }
        // What an earlier plan was refused for is no reason of what fails now.
        self.refusals.forget_refusals();
        check_budget(self.limits, Arc::default()).telling(&self.refusals)
    }

    /// How to allow more of what a plan was refused for, as [`way_to_more`](crate::way_to_more).
    pub fn way_to_more<'w>(&self, time: &'w str, memory: &'w str) -> Option<&'w str> {
        way_to_more(&self.refusals, time, memory)
    }

    /// The sweep.
    pub fn sweep(&self) -> &Sweep {
        &self.sweep
    }

    /// Where its ledger and its tables are.
    pub fn in_folder(&self) -> &Path {
        &self.folder
    }

    /// The trials that are meant. Where conditions choose seeds, plans are made to find them.
    pub(super) fn trials(&self) -> Result<Vec<SweepTrial>, Error> {
        let mut trials = Vec::new();
        for cell in self.sweep.cells().iter().filter(|cell| cell.is_run) {
            if self.only.has(&self.sweep, cell.point, cell.variant) {
                trials.extend(self.trials_of(cell)?);
            }
        }
        Ok(trials)
    }

    /// The trials of a variant at a point.
    fn trials_of(&self, cell: &SweepCell) -> Result<Vec<SweepTrial>, Error> {
        let with = |cell: &SweepCell, seeds| SweepTrial {
            seeds,
            ..cell.trial()
        };
        let chosen = self.sweep.chosen_seeds();
        let Some(chosen) = chosen.filter(|chosen| chosen.has_conditions()) else {
            let seeds = self.sweep.seeds();
            return Ok(seeds.map(|seeds| with(cell, seeds)).collect());
        };
        // The variant that decides does so at each point.
        let by = chosen.by.as_ref();
        let place = by.and_then(|by| self.sweep.variants().position(|name| name == by));
        let judge = place.and_then(|variant| self.sweep.cell(cell.point, variant));
        let judge = judge.map(|(_, cell)| cell);
        let mut trials = Vec::new();
        for seed in chosen.candidates() {
            if trials.len() == chosen.runs {
                break;
            }
            let seeds = vec![TrialSeed::Is(seed)];
            let looked_at = with(judge.unwrap_or(cell), seeds.clone());
            let plan = self.plan(&looked_at, None, &self.budget())?;
            if chosen.meets(plan.resolved()).map_err(Error::Unbuildable)? {
                trials.push(with(cell, seeds));
            }
        }
        Ok(trials)
    }

    /// The plans of the first variant, one for each seed.
    ///
    /// # Errors
    /// When the scenario does not hold.
    pub fn first_plans(&self) -> Result<Vec<Plan>, Error> {
        let first = self.sweep.cells().first();
        let trials = first.map_or(Ok(Vec::new()), |cell| self.trials_of(cell))?;
        let plan = |trial| self.plan(trial, None, &self.budget());
        trials.iter().map(plan).collect()
    }

    /// Where a trial of a name lies, if it lies anywhere.
    pub(super) fn named_folder(&self, trial: &SweepTrial, seed: u64) -> Option<PathBuf> {
        let NamedTrials(folder) = self.named.as_ref()?;
        let (_, cell) = self.sweep.cell(trial.point, trial.variant)?;
        let folder = folder
            .as_ref()?
            .join(&self.sweep.keys.name)
            .join(&cell.name);
        Some(match self.sweep.chosen_seeds() {
            Some(_) => folder.join(format!("seed-{seed}")),
            None => folder,
        })
    }

    /// How many variants at points there are.
    pub(super) fn cells(&self) -> usize {
        self.sweep.points().len() * self.sweep.variants().len()
    }

    /// The number of the variant and point of a trial.
    pub(super) fn cell(&self, trial: &SweepTrial) -> usize {
        trial.point * self.sweep.variants().len() + trial.variant
    }

    /// What a trial is called: its variant and its point.
    pub(super) fn title(&self, trial: &SweepTrial) -> String {
        if let Some((_, cell)) = self.sweep.cell(trial.point, trial.variant)
            && self.sweep.is_study()
        {
            return format!("{} {}", self.sweep.keys.name, cell.name);
        }
        let variant = self.sweep.variants().nth(trial.variant);
        let point = self.sweep.point_name(trial.point);
        let parts = [variant.unwrap_or_default(), point];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// The text of a published table: that of a folder, or that of the program.
pub(crate) fn published_beside(folder: &Path, name: &str) -> Option<String> {
    let own = read_text(&folder.join(format!("{name}.csv"))).ok();
    own.or_else(|| published_table(name).map(str::to_owned))
}
