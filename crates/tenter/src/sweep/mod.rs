//! Sweeps: many trials of one scenario, side by side on the cores and in the memory of the machine,
//! with a ledger of what has run.

mod ledger;
mod pool;
mod results;
mod session;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tenter_scenario::Format;
use tenter_study::{Measured, StudyAnswer, Sweep, SweepTrial, TrialSeed, Winner};

use crate::identity::sources;
use crate::{Control, Error, Plan, Scenario, Trial, read_text};

pub use results::RESULTS_FILE;
pub use session::{NextTrial, SweepSession, TrialAnswer, TrialOrder};

/// A sweep and how it is run.
#[derive(Clone, Debug)]
#[must_use]
pub struct SweepRun {
    sweep: Sweep,
    base: Scenario,
    folder: PathBuf,
    workers: usize,
    retry_failed: bool,
    only: Vec<String>,
    force: bool,
}

/// Hears how far a sweep is, and may stop it; called from the thread that runs the sweep.
pub trait SweepObserver {
    /// Hears of all trials together, about ten times a second. [`Control::Stop`] stops those that
    /// run; what has run stays in the ledger.
    fn progress(&mut self, _at: &SweepProgress) -> Control {
        Control::Continue
    }
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
            retry_failed: false,
            only: Vec::new(),
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

    /// Runs only these variants; an empty list is all of them.
    ///
    /// # Errors
    /// When the sweep has no such variant.
    pub fn only(mut self, variants: &[String]) -> Result<SweepRun, Error> {
        for name in variants {
            let mut known = self.sweep.variants();
            if !known.any(|known| known == name) {
                let known: Vec<&str> = self.sweep.variants().collect();
                let help = tenter_scenario::suggestion(name, known.into_iter());
                return Err(Error::Asked(format!(
                    "the sweep has no variant `{name}`; {help}"
                )));
            }
        }
        self.only = variants.to_vec();
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
        pool::run(self, observer)
    }

    /// Begins the sweep and leaves the running of its trials to the caller.
    ///
    /// # Errors
    /// When a point does not hold, or the ledger cannot be opened.
    pub fn begin(&self) -> Result<SweepSession, Error> {
        SweepSession::open(self)
    }

    /// The trials that are meant.
    fn trials(&self) -> Vec<SweepTrial> {
        let names: Vec<&str> = self.sweep.variants().collect();
        let is_meant = |trial: &SweepTrial| {
            let name = names[trial.variant];
            self.only.is_empty() || self.only.iter().any(|only| only == name)
        };
        self.sweep.trials().filter(is_meant).collect()
    }

    /// The plan of a trial; `first` is the seed of its scenario, where that is known.
    fn plan(&self, trial: &SweepTrial, first: Option<u64>) -> Result<Plan, Error> {
        let settings = trial.settings.iter().cloned();
        let scenario = settings.fold(self.base.clone(), Scenario::with_setting);
        let plan = |seed: Option<u64>| match seed {
            Some(seed) => scenario.clone().seed(seed).resolve(),
            None => scenario.resolve(),
        };
        let more = match trial.seed {
            TrialSeed::Is(seed) => return plan(Some(seed)),
            TrialSeed::After(0) => return plan(None),
            TrialSeed::After(more) => more,
        };
        let first = match first {
            Some(first) => first,
            None => plan(None)?.seed(),
        };
        let seed = first.checked_add(more).ok_or_else(|| {
            Error::Asked(format!(
                "there are no {more} seeds after {first}; give a smaller seed"
            ))
        })?;
        plan(Some(seed))
    }
}

/// What a trial is known by: its whole configuration and the program that runs it.
fn key(plan: &Plan) -> String {
    let loaded = plan.loaded();
    let mut digest = Sha256::new();
    let mut add = |text: &str| {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    };
    add(env!("CARGO_PKG_VERSION"));
    add(sources());
    add(&loaded.effective);
    for (name, text) in &loaded.beside {
        add(name);
        add(text);
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The values of the readings of a trial.
fn read(sweep: &Sweep, trial: &Trial) -> Vec<(String, Option<f64>)> {
    let names = trial.names();
    let tables = tenter_study::Tables {
        summary: trial.summary(),
        counts: trial.counts(),
        flows: trial.flows(),
        names: &names,
    };
    let readings = sweep.keys.readings.iter();
    readings
        .map(|reading| (reading.identity(), reading.read(tables)))
        .collect()
}
