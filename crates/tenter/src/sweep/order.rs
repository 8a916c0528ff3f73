//! Orders: trials to be run here or elsewhere, and the answers to them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::resolve::Format;
use crate::studies::{Ended, Read, TrialPauses};
use serde::{Deserialize, Serialize};
use tenter_results::Summary;

use super::outcome::{End, Outcome};
use super::reading::held;
use crate::budget::{forced_budget, run_budget};
use crate::identity::sources;
use crate::observer::Observer;
use crate::{Error, Plan, Run, Trial};

/// A self-contained trial that any process or machine can run. Equal orders have equal keys and
/// equal answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialOrder {
    /// The trial's key in the ledger: a digest over configuration and program.
    pub key: String,
    /// Variant, point and seed, for people.
    pub name: String,
    /// Expected memory, in bytes.
    pub memory_bytes: u64,
    /// Expected packet-hops; 0 if they cannot be predicted.
    pub packet_hops: f64,
    /// Digest over the sources from which the issuing program was built.
    pub(super) sources: String,
    /// Readings to take from the trial.
    pub(super) reads: Vec<Read>,
    pub(super) config: String,
    /// Keys that the scenario's author wrote: `config` has all keys, and notes must not speak of
    /// defaults.
    pub(super) given: Vec<String>,
    #[serde(with = "as_characters")]
    pub(super) beside: Vec<(String, Vec<u8>)>,
    /// Folder for the trial's tables, if they are kept.
    pub(crate) folder: Option<PathBuf>,
    pub(super) force: bool,
    /// The trial's name for observers.
    pub(crate) title: String,
    /// Interval at which rows become readable in the folder, for a process that may be killed.
    #[serde(default)]
    pub(super) checkpoints: Option<Duration>,
}

/// Answer to an order: results, a failure, or that the trial was stopped.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialAnswer {
    pub(super) end: End,
    /// Results of a trial that was stopped, or of which a further run failed.
    #[serde(default)]
    partial: Option<Box<Summary>>,
}

impl TrialAnswer {
    /// Answers that the trial could not be run, and why. It is not run again unless failed ones are
    /// retried.
    pub fn failed(why: impl Into<String>) -> TrialAnswer {
        TrialAnswer::new(End::Failed(why.into()), None)
    }

    /// Answers that the trial was not run to its end; it may be run again.
    pub fn stopped() -> TrialAnswer {
        TrialAnswer::new(End::Stopped, None)
    }

    fn new(end: End, partial: Option<Summary>) -> TrialAnswer {
        TrialAnswer {
            end,
            partial: partial.map(Box::new),
        }
    }

    /// Returns the trial's results, as far as it has run.
    pub fn summary(&self) -> Option<&Summary> {
        match &self.end {
            End::Done(outcome) => Some(&outcome.summary),
            End::Failed(_) | End::Stopped => self.partial.as_deref(),
        }
    }

    /// Returns the reason if the trial failed.
    pub fn failure(&self) -> Option<&str> {
        match &self.end {
            End::Failed(why) => Some(why),
            End::Done(_) | End::Stopped => None,
        }
    }

    /// True if the trial was not run to its end.
    pub fn was_stopped(&self) -> bool {
        matches!(self.end, End::Stopped)
    }

    /// Returns the packet-hops if the trial has run, and 0 otherwise.
    pub(super) fn packet_hops(&self) -> f64 {
        match &self.end {
            End::Done(outcome) => outcome.summary.engine.packet_hops as f64,
            End::Failed(_) | End::Stopped => 0.0,
        }
    }
}

/// Share of its expected memory, in percent, and bytes beside it, that a trial in a process of its
/// own may take.
const MEMORY_PERCENT: u64 = 150;
const MEMORY_BESIDE: u64 = 512 << 20;

impl TrialOrder {
    /// Orders a plan to be run as a trial in `folder`, whose rows so far become readable every
    /// `checkpoints`.
    ///
    /// # Errors
    /// When the plan cannot be explained.
    pub fn of(plan: &Plan, folder: PathBuf, checkpoints: Duration) -> Result<TrialOrder, Error> {
        let order = TrialOrder {
            folder: Some(folder),
            checkpoints: Some(checkpoints),
            memory_bytes: plan.memory_bytes()?,
            packet_hops: predicted(plan.packet_hops()?),
            ..TrialOrder::bare(plan)
        };
        Ok(order)
    }

    /// Orders a plan to be run, and nothing kept.
    pub(super) fn bare(plan: &Plan) -> TrialOrder {
        let loaded = plan.loaded();
        TrialOrder {
            key: String::new(),
            name: plan.name().to_owned(),
            memory_bytes: 0,
            packet_hops: 0.0,
            sources: sources().to_owned(),
            reads: Vec::new(),
            config: loaded.effective.clone(),
            given: loaded.given.clone(),
            beside: loaded.beside(),
            folder: None,
            force: false,
            title: String::new(),
            checkpoints: None,
        }
    }

    /// Returns the memory that the trial may take in a process of its own, in bytes.
    pub(crate) fn memory_limit(&self) -> Option<u64> {
        let expected = self.memory_bytes / 100 * MEMORY_PERCENT;
        (!self.force).then(|| expected.saturating_add(MEMORY_BESIDE))
    }

    /// Runs the trial on at most `threads` threads; the observer may stop it. A failure is an
    /// answer, too.
    pub fn carry_out(&self, threads: u16, observer: &mut dyn Observer) -> TrialAnswer {
        // Another build may give other results, and the key promises those of the issuing one.
        if self.sources != sources() {
            return TrialAnswer::failed(
                "this worker has another build of Tenter than the sweep: install the same on all machines",
            );
        }
        match self.plan() {
            Ok(plan) => {
                let mut run = Run::new(&plan).threads(threads).force(self.force);
                if let Some(every) = self.checkpoints {
                    run = run.checkpoints(every);
                }
                let run = run.title(&self.title);
                carry_out(run, self.folder.as_deref(), &self.reads, observer)
            }
            Err(error) => TrialAnswer::failed(error.to_string()),
        }
    }

    fn plan(&self) -> Result<Plan, Error> {
        let find = |name: &str| {
            let found = self.beside.iter().find(|(of, _)| of == name);
            let bytes = found.map(|(_, bytes)| bytes.clone().into());
            bytes.ok_or_else(|| "the order does not hold it".to_owned())
        };
        let config = (self.config.as_str(), "config.yaml", Format::Yaml);
        // The sweep that issued the order has resolved this plan within its limits already.
        let budget = if self.force {
            forced_budget()
        } else {
            run_budget()
        };
        let (text, name, format) = config;
        let mut loaded =
            crate::resolve::load_beside(text, name, format, &[], None, &find, &budget)?;
        // In `config.yaml` every key is written, so its own list would name them all.
        loaded.given.clone_from(&self.given);
        Ok(Plan::new(loaded, &budget)?)
    }
}

/// Returns predicted packet-hops as an order has them: JSON has no number for what is unknown.
pub(super) fn predicted(packet_hops: f64) -> f64 {
    if packet_hops.is_finite() {
        packet_hops
    } else {
        0.0
    }
}

/// Runs a trial and takes its readings. A finished trial in `folder` is read instead of run again.
pub(super) fn carry_out(
    run: Run,
    folder: Option<&Path>,
    reads: &[Read],
    observer: &mut dyn Observer,
) -> TrialAnswer {
    let mut run = match folder {
        Some(folder) => run.folder(folder).reuse(),
        None => run,
    };
    if reads.iter().any(Read::is_of_flows) {
        run = run.keep_flows();
    }
    if reads.iter().any(Read::is_of_samples) {
        run = run.keep_samples();
    }
    match run.run_with(observer) {
        Ok(trial) if trial.was_cancelled() => TrialAnswer::new(End::Stopped, Some(trial.summary)),
        Ok(trial) => TrialAnswer::new(End::Done(Box::new(read(reads, trial))), None),
        Err(error) => {
            let why = End::Failed(error.to_string());
            let partial = match error {
                Error::NotMeasured { trial, .. } => Some(trial.summary),
                _ => None,
            };
            TrialAnswer::new(why, partial)
        }
    }
}

/// Takes the readings from a trial; its tables are dropped with it.
fn read(reads: &[Read], trial: Trial) -> Outcome {
    let names = trial.names();
    let ended = Ended {
        plan: trial.plan.resolved(),
        held: held(&trial, &names),
    };
    let values = reads.iter().map(|read| (read.key(), read.of(ended)));
    Outcome {
        values: values.collect(),
        pauses: Some(TrialPauses::of(ended)),
        summary: trial.summary,
    }
}

/// Writes files as text, each byte as the character with its number (up to U+00FF): most files are
/// ASCII, and stay readable and short in JSON.
mod as_characters {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        files: &[(String, Vec<u8>)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let text = |bytes: &[u8]| bytes.iter().map(|&byte| char::from(byte)).collect();
        let files = files.iter().map(|(name, bytes)| (name, text(bytes)));
        let files: Vec<(&String, String)> = files.collect();
        files.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, Vec<u8>)>, D::Error> {
        let files = Vec::<(String, String)>::deserialize(deserializer)?;
        let bytes = |text: &str| text.chars().map(|char| char as u8).collect();
        let files = files.into_iter().map(|(name, text)| (name, bytes(&text)));
        Ok(files.collect())
    }
}
