//! Runs one plan and gives its trial.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::report::{TrialError, TrialFolder, finished_trial, is_written, read_counts, read_rows};
use serde::de::DeserializeOwned;
use tenter_results::Row;
use tenter_sim::{Interference, names};

use crate::clock::{options, usual_threads};
use crate::folder::{Folder, discard};
use crate::identity::identity;
use crate::observer::Observer;
use crate::prepared::{Keep, Prepared};
use crate::simulation::{self, Watch};
use crate::trial::Watched;
use crate::{Error, Plan, RunHandle, Trial};

/// Settings for one run. Nothing happens before [`Run::start`] or [`Run::run`].
///
/// Results depend on no setting: neither on the thread count, nor on what is kept or observed.
#[derive(Clone, Debug)]
#[must_use]
pub struct Run {
    plan: Plan,
    title: String,
    threads: u16,
    interference: Option<Interference>,
    folder: Folder,
    force: bool,
    reuse: bool,
    keep: Keep,
    watch: Option<(Watch, usize)>,
    checkpoints: Option<Duration>,
}

impl Run {
    /// Prepares a run on [`usual_threads`](crate::usual_threads) threads, in memory, that keeps no
    /// flows and no samples; the scenario decides on further runs.
    pub fn new(plan: &Plan) -> Run {
        Run {
            plan: plan.clone(),
            title: String::new(),
            threads: usual_threads(),
            interference: None,
            folder: Folder::None,
            force: false,
            reuse: false,
            keep: Keep::default(),
            watch: None,
            checkpoints: None,
        }
    }

    /// Uses at most `threads` threads (at least 1); the run takes fewer wherever more are no
    /// faster.
    pub fn threads(mut self, threads: u16) -> Run {
        self.threads = threads.max(1);
        self
    }

    /// Measures what jobs cost each other, by further runs with some of the jobs only; overrides
    /// the scenario.
    pub fn interference(mut self, asked: Interference) -> Run {
        self.interference = Some(asked);
        self
    }

    /// Writes the trial to the folder `path`. It must be missing, empty or hold a trial, which is
    /// replaced.
    pub fn folder(mut self, path: impl Into<PathBuf>) -> Run {
        self.folder = Folder::At(path.into());
        self
    }

    /// Writes the trial to a new folder `name` below `parent`, or to `NAME-2`, `NAME-3`, … if that
    /// is taken. [`Trial::folder`] tells which.
    pub fn new_folder(mut self, parent: impl Into<PathBuf>, name: impl Into<String>) -> Run {
        self.folder = Folder::free(parent, name);
        self
    }

    /// Keeps a row for each flow in memory: about 150 bytes each.
    pub fn keep_flows(mut self) -> Run {
        self.keep.flows = true;
        self
    }

    /// Keeps port samples in memory.
    pub fn keep_samples(mut self) -> Run {
        self.keep.samples = true;
        self
    }

    /// With `true`, runs even a trial that is expected to take more memory than there is.
    pub fn force(mut self, force: bool) -> Run {
        self.force = force;
        self
    }

    /// Reads the trial in [`Run::folder`] instead of running it again, if it is finished and comes
    /// from this very run: the same configuration, files, version and program.
    pub fn reuse(mut self) -> Run {
        self.reuse = true;
        self
    }

    /// Records the first `limit` events at a port or between two hosts; [`Trial::watched`] returns
    /// them. A plan that records queue changes or captures packets cannot be watched.
    pub fn watch(mut self, watch: Watch, limit: usize) -> Run {
        self.watch = Some((watch, limit));
        self
    }

    /// Writes, at intervals of about `every` (wall time), what the folder needs for its flows and
    /// samples to be readable if the process is killed; `crate::report::recover_tables` then makes
    /// them readable.
    pub fn checkpoints(mut self, every: Duration) -> Run {
        self.checkpoints = Some(every);
        self
    }

    /// Names this run for an observer that follows several.
    pub fn title(mut self, title: impl Into<String>) -> Run {
        self.title = title.into();
        self
    }

    /// Calls `observer` from the run's thread. Pass `&mut observer` to keep it.
    pub fn observe<O: Observer>(self, observer: O) -> Observed<O> {
        Observed {
            run: self,
            observer,
        }
    }

    /// The plan that is run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Starts the run on a new thread. Before, on the caller's thread, the network is built and the
    /// folder is made, so that a mistake is reported here.
    ///
    /// # Errors
    /// When the run would take more memory than there is, cannot be built, or its folder cannot be
    /// made. [`RunHandle::join`] reports later errors.
    pub fn start(self) -> Result<RunHandle, Error> {
        self.observe(()).start()
    }

    /// Runs on the caller's thread, to the end.
    ///
    /// # Errors
    /// When the run would take more memory than there is, cannot be built, cannot be written, or
    /// fails.
    pub fn run(self) -> Result<Trial, Error> {
        self.run_with(&mut ())
    }

    pub(crate) fn run_with(self, observer: &mut dyn Observer) -> Result<Trial, Error> {
        match self.kept(observer) {
            Some(trial) => Ok(trial),
            None => self.prepare()?.carry_out(observer),
        }
    }

    /// Returns the trial to be reused, if there is one. A watched run has none: events are not in
    /// the folder.
    fn kept(&self, observer: &mut dyn Observer) -> Option<Trial> {
        let Folder::At(path) = &self.folder else {
            return None;
        };
        // A trial folder does not hold the events of a watch.
        if !self.reuse || self.watch.is_some() {
            return None;
        }
        let loaded = self.plan.loaded();
        let identity = identity(&loaded.plan, self.asked_interference());
        // The configuration names these files; equal names with other content are another run.
        let has_beside = || {
            let mut files = loaded.files_beside();
            files.all(|file| is_written(&path.join(file.name), |to| file.write_to(to)))
        };
        let summary = finished_trial(path, &loaded.effective, has_beside, &identity)?;
        let trial = Trial {
            plan: self.plan.clone(),
            summary,
            counts: read_counts(path).ok()?,
            folder: Some(path.clone()),
            flows: rows_if(self.keep.flows, path)?,
            samples: rows_if(self.keep.samples, path)?,
            watched: Watched::default(),
        };
        observer.kept(&self.title, path);
        observer.trial(&self.title, trial.summary());
        Some(trial)
    }

    /// Checks memory, builds the network, and makes the folder last: a plan that cannot be built
    /// leaves none.
    pub(crate) fn prepare(self) -> Result<Prepared, Error> {
        let plan = self.plan.resolved();
        if let Some((watch, _)) = self.watch {
            watch.check(plan)?;
        }
        self.plan.check_memory(self.force)?;
        let notes = self.plan.notes()?;
        let began = Instant::now();
        let simulation = simulation::build(plan, options(self.threads), self.watch);
        let simulation = simulation.map_err(Error::Unbuildable)?;
        let set_up_s = began.elapsed().as_secs_f64();
        Ok(Prepared {
            notes,
            folder: self.begin_folder()?,
            further: (self.asked_interference(), self.threads),
            plan: self.plan,
            title: self.title,
            keep: self.keep,
            checkpoints: self.checkpoints,
            simulation,
            set_up_s,
        })
    }
}

/// A run with its observer.
#[derive(Debug)]
#[must_use]
pub struct Observed<O> {
    run: Run,
    observer: O,
}

impl<O: Observer> Observed<O> {
    /// As [`Run::run`].
    ///
    /// # Errors
    /// As [`Run::run`].
    pub fn run(mut self) -> Result<Trial, Error> {
        self.run.run_with(&mut self.observer)
    }
}

impl<O: Observer + Send + 'static> Observed<O> {
    /// As [`Run::start`]; the observer is called on the run's thread.
    ///
    /// # Errors
    /// As [`Run::start`].
    pub fn start(mut self) -> Result<RunHandle, Error> {
        match self.run.kept(&mut self.observer) {
            Some(trial) => Ok(RunHandle::finished(trial)),
            None => RunHandle::start(self.run.prepare()?, self.observer),
        }
    }
}

impl Run {
    fn asked_interference(&self) -> Interference {
        let by_scenario = if self.plan.resolved().baseline {
            Interference::Alone
        } else {
            Interference::None
        };
        self.interference.unwrap_or(by_scenario)
    }

    /// Makes the folder, with its configuration and a manifest that marks it as incomplete.
    fn begin_folder(&self) -> Result<Option<TrialFolder>, Error> {
        match &self.folder {
            Folder::None => Ok(None),
            Folder::At(path) => self.begin_at(path).map(Some),
            Folder::Free { .. } => {
                let Some(path) = self.folder.take()? else {
                    return Ok(None);
                };
                let begun = self.begin_at(&path);
                begun.map(Some).inspect_err(|error| {
                    // Another run may have taken the folder between its making and its locking: it
                    // is theirs then.
                    if !matches!(error, Error::Folder(TrialError::InUse { .. })) {
                        discard(&path);
                    }
                })
            }
        }
    }

    fn begin_at(&self, path: &Path) -> Result<TrialFolder, Error> {
        let loaded = self.plan.loaded();
        let names = names(&loaded.plan);
        let identity = identity(&loaded.plan, self.asked_interference());
        let folder = TrialFolder::create(path, &loaded.effective, names, identity)?;
        for file in loaded.files_beside() {
            folder.keep_beside(file.name, |to| file.write_to(to))?;
        }
        Ok(folder)
    }
}

/// Reads a table's rows if they are wanted; `None` if they cannot be read, so that the trial is run
/// again.
fn rows_if<R: Row + DeserializeOwned>(wanted: bool, folder: &Path) -> Option<Vec<R>> {
    if wanted {
        read_rows(folder).ok()
    } else {
        Some(Vec::new())
    }
}
