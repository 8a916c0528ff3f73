//! Sweeps: many trials of one scenario, side by side on the cores and in the memory of the machine,
//! with a ledger of what has run.

mod elsewhere;
mod first;
mod ledger;
mod only;
mod order;
pub(crate) mod pool;
mod queue;
mod results;
mod session;
mod worker;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tenter_record::Summary;
use tenter_report::Tiers;
use tenter_scenario::Format;
use tenter_study::{Measured, ReadingKeys, StudyAnswer, Sweep, SweepTrial, Winner};

use crate::{Control, Error, Scenario, Trial, read_text};
use only::Only;

pub use order::{TrialAnswer, TrialOrder};
pub use queue::PATIENCE_MIN;
pub use results::RESULTS_FILE;
pub use session::{NextTrial, SweepSession};
pub use worker::{SweepWorker, WorkerResults};

/// A sweep and how it is run.
#[derive(Clone, Debug)]
#[must_use]
pub struct SweepRun {
    sweep: Sweep,
    base: Scenario,
    folder: PathBuf,
    workers: usize,
    resume: bool,
    retry_failed: bool,
    only: Only,
    force: bool,
}

/// Hears how far a sweep or a study is, and may stop it; called from the thread that runs it.
pub trait SweepObserver {
    /// Hears of all trials together, about ten times a second. [`Control::Stop`] stops those that
    /// run; what has run is kept.
    fn progress(&mut self, _at: &SweepProgress) -> Control {
        Control::Continue
    }

    /// A trial has come to its end, or was stopped.
    fn trial(&mut self, _title: &str, _summary: &Summary) {}

    /// A trial that was finished before is read from its folder and not run again.
    fn kept(&mut self, _title: &str, _folder: &Path) {}
}

impl SweepObserver for () {}

/// How far a sweep is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SweepProgress {
    /// Trials of the sweep.
    pub trials: usize,
    /// Those that have run, in this run of the sweep or before.
    pub done: usize,
    /// Those of them that had run before.
    pub kept: usize,
    /// Those that have failed.
    pub failed: usize,
    /// Those that run now.
    pub running: usize,
    /// Wall time that the trials of this run have taken so far, each by itself, in seconds.
    pub trials_wall_s: f64,
    /// Packet-hops of this run so far.
    pub packet_hops: f64,
    /// Packet-hops that all trials are expected to have, less those of trials that had run before.
    pub expected_packet_hops: f64,
}

/// What a sweep has left.
#[derive(Clone, Debug)]
pub struct SweepResults {
    /// The sweep.
    pub sweep: Sweep,
    /// What was read of each trial that has run, in the order of the trials.
    pub measured: Vec<Measured>,
    /// A row for each reading, point and variant.
    pub answer: StudyAnswer,
    /// Which variant is best by each reading at each point.
    pub winners: Vec<Winner>,
    /// Trials that failed, and why.
    pub failures: Vec<(SweepTrial, String)>,
    /// How far it came.
    pub progress: SweepProgress,
    /// Whether its observer has stopped it.
    pub was_cancelled: bool,
    /// Where its ledger and its tables are.
    pub folder: PathBuf,
    only: Only,
}

impl SweepResults {
    /// Whether the trials of a variant at a point belong to the [part](SweepRun::only) that was
    /// asked for.
    pub fn is_meant(&self, point: usize, variant: usize) -> bool {
        self.only.has(&self.sweep, (point, variant))
    }
}

impl SweepRun {
    /// Reads the description of a sweep; the path of its scenario counts from it. The folder is
    /// `sweeps/NAME` unless [`SweepRun::folder`] says another.
    ///
    /// # Errors
    /// When the description or the scenario cannot be read or does not hold.
    pub fn read(file: impl AsRef<Path>) -> Result<SweepRun, Error> {
        let file = file.as_ref();
        let name = file.display().to_string();
        let mut sweep = Sweep::read(&read_text(file)?, &name, Format::of_name(&name))?;
        if sweep.keys.name.is_empty() {
            let stem = file.file_stem().unwrap_or_default();
            sweep.keys.name = stem.to_string_lossy().into_owned();
        }
        SweepRun::beside(sweep, file.with_file_name(""))
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
            sweep,
            base,
            workers: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            resume: false,
            retry_failed: false,
            only: Only::default(),
            force: false,
        }
    }

    /// Keeps ledger, tables and trials in a folder, which may hold those of an earlier run.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> SweepRun {
        self.folder = folder.into();
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

    /// The sweep.
    pub fn sweep(&self) -> &Sweep {
        &self.sweep
    }

    /// Where its ledger and its tables are.
    pub fn in_folder(&self) -> &Path {
        &self.folder
    }

    /// Runs all trials that have not run yet.
    ///
    /// # Errors
    /// When a point does not hold, before any trial; when the ledger or the results cannot be
    /// written. A trial that fails is among the [failures](SweepResults::failures), and the others
    /// go on.
    pub fn run(&self) -> Result<SweepResults, Error> {
        self.run_with(&mut ())
    }

    /// The same, with an observer, which may stop it.
    ///
    /// # Errors
    /// As [`SweepRun::run`].
    pub fn run_with(&self, observer: &mut dyn SweepObserver) -> Result<SweepResults, Error> {
        let session = SweepSession::open(self, None)?;
        pool::run(&session, self.workers, observer)?;
        session.end()
    }

    /// Runs nothing, and puts all trials that have not run into a queue, from which a
    /// [`SweepWorker`] on any machine takes them that has the folder; how many it did not have
    /// before. A worker that has said nothing for so long is taken for lost; a queue that is there
    /// keeps a greater patience. A queue of another build of Tenter is replaced. Trials that the
    /// sweep has no more are forgotten, unless it is a part that is queued; what workers have
    /// answered is put into the ledger before. [`SweepRun::run`] takes the answers.
    ///
    /// # Errors
    /// When a point does not hold, the patience is below [`PATIENCE_MIN`] or a year and more, or
    /// the ledger or the queue cannot be written.
    pub fn queue(&self, patience: Duration) -> Result<usize, Error> {
        queue::check_patience(patience)?;
        SweepSession::open(self, Some(patience))?.queue_all()
    }

    /// Begins the sweep and leaves the running of its trials to the caller.
    ///
    /// # Errors
    /// When a point does not hold, or the ledger cannot be opened.
    pub fn begin(&self) -> Result<SweepSession, Error> {
        SweepSession::open(self, None)
    }

    /// The trials that are meant.
    fn trials(&self) -> Vec<SweepTrial> {
        let trials = self.sweep.trials();
        trials
            .filter(|trial| self.only.has(&self.sweep, (trial.point, trial.variant)))
            .collect()
    }

    /// The number of the variant and point of a trial.
    fn cell(&self, trial: &SweepTrial) -> usize {
        trial.point * self.sweep.variants().len() + trial.variant
    }

    /// What a trial is called: its variant and its point.
    fn title(&self, trial: &SweepTrial) -> String {
        let variant = self.sweep.variants().nth(trial.variant);
        let point = self.sweep.point_name(trial.point);
        let parts = [variant.unwrap_or_default(), &point];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// The values of the readings of a trial, by what they read.
fn read(sweep: &Sweep, trial: &Trial) -> Vec<(String, Option<f64>)> {
    let readings = sweep.keys.readings.iter();
    let identities = readings.map(ReadingKeys::identity);
    identities
        .zip(read_trial(&sweep.keys.readings, trial))
        .collect()
}

/// The values of readings of a trial; nothing where no row has one, or was kept.
pub fn read_trial(readings: &[ReadingKeys], trial: &Trial) -> Vec<Option<f64>> {
    let names = trial.names();
    let counts = trial.counts();
    let tiers = Tiers::of(&counts.ports, &counts.switches).rows(&counts.ports);
    let tables = tenter_study::Tables {
        summary: trial.summary(),
        counts,
        flows: trial.flows(),
        samples: trial.samples(),
        tiers: &tiers,
        names: &names,
    };
    let values = readings.iter().map(|reading| reading.read(tables));
    values.collect()
}
