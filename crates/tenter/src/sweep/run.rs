//! Sweeps and their settings.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::resolve::Format;
use crate::studies::{Sweep, SweepCell, SweepTrial, TrialSeed, published_table};
use tenter_language::units::{Budget, Limits};

use super::only::Only;
use crate::budget::{check_budget, check_limits, forced_budget, way_to_more};
use crate::process::TrialProgram;
use crate::{Error, Plan, Scenario, read_text};

/// A sweep with the settings for running it. Nothing happens before [`SweepRun::run`] or another
/// method that starts it.
#[derive(Clone, Debug)]
#[must_use]
pub struct SweepRun {
    pub(super) sweep: Sweep,
    pub(super) base: Scenario,
    pub(super) folder: PathBuf,
    /// The ledger's folder, if it differs from `folder`.
    pub(super) ledger: Option<PathBuf>,
    pub(super) workers: usize,
    pub(super) resume: bool,
    pub(super) retry_failed: bool,
    pub(super) only: Only,
    pub(super) force: bool,
    pub(super) limits: Limits,
    /// Set if trials lie in folders by name, and no ledger is kept.
    pub(super) named: Option<NamedTrials>,
    /// Threads for each trial if trials run one after the other.
    pub(super) threads: Option<u16>,
    pub(super) program: Option<TrialProgram>,
    /// Collects from all plans' budgets what they have refused, for [`SweepRun::way_to_more`].
    pub(super) refusals: Arc<Budget>,
}

/// Folder in which trials lie by name; `None` keeps no folders either.
#[derive(Clone, Debug)]
pub(super) struct NamedTrials(Option<PathBuf>);

impl SweepRun {
    /// Reads a sweep's description; its scenario's path is relative to it. Results go to
    /// `sweeps/NAME` unless [`SweepRun::folder`] names another folder.
    ///
    /// # Errors
    /// When the description or the scenario cannot be read, or the description is invalid.
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

    /// Takes a sweep whose description names its scenario: a preset as `preset:NAME`, or a path
    /// relative to `folder`.
    ///
    /// # Errors
    /// When the scenario cannot be read, or there is no such preset.
    pub fn beside(sweep: Sweep, folder: impl AsRef<Path>) -> Result<SweepRun, Error> {
        let base = match sweep.keys.scenario.strip_prefix("preset:") {
            Some(preset) => Scenario::preset(preset)?,
            None => Scenario::read(folder.as_ref().join(&sweep.keys.scenario))?,
        };
        Ok(SweepRun::new(sweep, base))
    }

    /// Takes a sweep and the scenario that it varies.
    pub fn new(sweep: Sweep, base: Scenario) -> SweepRun {
        let name = match sweep.keys.name.as_str() {
            "" => "sweep".to_owned(),
            // A name must not lead to another folder.
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
            program: None,
            refusals: Arc::new(forced_budget()),
        }
    }

    /// Sets one key in the scenario before it is varied: `PATH=VALUE`.
    pub fn with_setting(mut self, setting: impl Into<String>) -> SweepRun {
        self.base = self.base.with_setting(setting);
        self
    }

    /// Keeps ledger, tables and trials in `folder`, which may hold those from an earlier run.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> SweepRun {
        self.folder = folder.into();
        self
    }

    /// Keeps the ledger in another folder, where several sweeps share finished trials.
    pub fn ledger(mut self, folder: impl Into<PathBuf>) -> SweepRun {
        self.ledger = Some(folder.into());
        self
    }

    /// Keeps no ledger and writes no results. With a folder, each trial lies in
    /// `FOLDER/NAME/VARIANT`, or in `seed-N` below that if the description chooses seeds.
    pub fn without_ledger(mut self, folder: Option<PathBuf>) -> SweepRun {
        self.named = Some(NamedTrials(folder));
        self
    }

    /// Uses at most `threads` threads for each trial, if trials run one after the other.
    pub fn threads(mut self, threads: u16) -> SweepRun {
        self.threads = Some(threads);
        self
    }

    /// Runs trials in processes of `program`, so that one that is ended costs its trial alone; by
    /// default they run in this process.
    pub fn in_processes(mut self, program: Option<TrialProgram>) -> SweepRun {
        self.program = program;
        self
    }

    /// Runs at most `workers` trials side by side (at least 1); by default one for each core.
    pub fn workers(mut self, workers: usize) -> SweepRun {
        self.workers = workers.max(1);
        self
    }

    /// With `true`, runs failed trials again.
    pub fn retry_failed(mut self, retry: bool) -> SweepRun {
        self.retry_failed = retry;
        self
    }

    /// With `true`, only continues an existing sweep, and fails if the folder holds none, which
    /// guards against a mistyped folder. By default an existing sweep is continued, and a missing
    /// one begun.
    pub fn resume(mut self, resume: bool) -> SweepRun {
        self.resume = resume;
        self
    }

    /// Runs only the named variants, and only points with the named axis values, written
    /// `AXIS=VALUE`; an empty list selects everything.
    ///
    /// # Errors
    /// When the sweep has no such variant, axis or value.
    pub fn only(mut self, named: &[String]) -> Result<SweepRun, Error> {
        self.only = Only::read(&self.sweep, named)?;
        Ok(self)
    }

    /// With `true`, runs even trials that are expected to take more memory than there is, and lifts
    /// all limits on plans.
    pub fn force(mut self, force: bool) -> SweepRun {
        self.force = force;
        self
    }

    /// Limits resolving and checking one plan; by default to the machine's free memory and
    /// [`CHECK_TIME`](crate::CHECK_TIME).
    pub fn limits(mut self, limits: Limits) -> SweepRun {
        self.limits = limits;
        self
    }

    /// Makes the budget for one plan, on the thread that resolves it.
    pub(super) fn budget(&self) -> Budget {
        if self.force {
            return forced_budget();
        }
        // An earlier plan's refusal would suggest a wrong remedy for what fails now.
        self.refusals.forget_refusals();
        check_budget(self.limits, Arc::default()).telling(&self.refusals)
    }

    /// Returns the hint on how to allow more, `time` or `memory`, as
    /// [`way_to_more`](crate::way_to_more) does, if a plan was refused.
    pub fn way_to_more<'w>(&self, time: &'w str, memory: &'w str) -> Option<&'w str> {
        way_to_more(&self.refusals, time, memory)
    }

    /// The sweep's description.
    pub fn sweep(&self) -> &Sweep {
        &self.sweep
    }

    /// Folder with ledger and tables.
    pub fn in_folder(&self) -> &Path {
        &self.folder
    }

    /// Lists the selected trials. If conditions choose the seeds, candidates are resolved to find
    /// them.
    pub(super) fn trials(&self) -> Result<Vec<SweepTrial>, Error> {
        let mut trials = Vec::new();
        for cell in self.sweep.cells().iter().filter(|cell| cell.is_run) {
            if self.only.has(&self.sweep, cell.point, cell.variant) {
                trials.extend(self.trials_of(cell)?);
            }
        }
        Ok(trials)
    }

    /// Lists a variant's trials at a point.
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
        // Variants are compared on the same seeds: one of them may be the judge at each point.
        let by = chosen.by.as_ref();
        let place = by.and_then(|by| self.sweep.variants().position(|name| name == by));
        let judge = place.and_then(|variant| self.sweep.cell(cell.point, variant));
        let judge = judge.map(|(_, cell)| cell);
        let mut trials = Vec::new();
        for seed in chosen.candidates() {
            // The first candidates that meet the conditions, so that the choice is the same in
            // every run.
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

    /// Resolves the trials for the first variant at the first point, one plan for each seed.
    ///
    /// # Errors
    /// When the scenario is invalid.
    pub fn first_plans(&self) -> Result<Vec<Plan>, Error> {
        let first = self.sweep.cells().first();
        let trials = first.map_or(Ok(Vec::new()), |cell| self.trials_of(cell))?;
        let plan = |trial| self.plan(trial, None, &self.budget());
        trials.iter().map(plan).collect()
    }

    /// Returns a trial's folder by name, if trials lie in such folders.
    pub(super) fn named_folder(&self, trial: &SweepTrial, seed: u64) -> Option<PathBuf> {
        let NamedTrials(folder) = self.named.as_ref()?;
        let (_, cell) = self.sweep.cell(trial.point, trial.variant)?;
        let folder = folder
            .as_ref()?
            .join(&self.sweep.keys.name)
            .join(&cell.name);
        let several = self.sweep.chosen_seeds().is_some() || self.sweep.seeds().count() > 1;
        Some(if several {
            folder.join(format!("seed-{seed}"))
        } else {
            folder
        })
    }

    /// Counts the pairs of a variant and a point.
    pub(super) fn cells(&self) -> usize {
        self.sweep.points().len() * self.sweep.variants().len()
    }

    /// Returns the index of a trial's variant and point among all such pairs.
    pub(super) fn cell(&self, trial: &SweepTrial) -> usize {
        trial.point * self.sweep.variants().len() + trial.variant
    }

    /// Names a trial: its variant and its point.
    pub(super) fn title(&self, trial: &SweepTrial) -> String {
        if let Some((_, cell)) = self.sweep.cell(trial.point, trial.variant)
            && self.sweep.is_study()
        {
            return format!("{} {}", self.sweep.keys.name, cell.name);
        }
        self.sweep.trial_name(trial)
    }
}

/// Returns a published table's text: the one in `folder`, or else the built-in one.
///
/// # Errors
/// When `folder` has the table and it cannot be read: the built-in one would judge by other values.
pub(crate) fn published_beside(folder: &Path, name: &str) -> Result<Option<String>, String> {
    let own = folder.join(format!("{name}.csv"));
    // A link that leads nowhere is there, too.
    match own.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(published_table(name).map(str::to_owned))
        }
        _ => read_text(&own).map(Some).map_err(|error| error.to_string()),
    }
}
