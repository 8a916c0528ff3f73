//! Orders: trials to be run here or elsewhere, and the answers to them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_scenario::Format;
use tenter_study::{Ended, Read, TrialPauses};

use super::outcome::{End, Outcome};
use super::reading::held;
use crate::budget::run_budget;
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
    /// Expected packet-hops.
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
    pub(super) folder: Option<PathBuf>,
    pub(super) force: bool,
}

/// Answer to an order: results, a failure, or that the trial was stopped.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialAnswer {
    pub(super) end: End,
}

impl TrialAnswer {
    /// Answers that the trial could not be run, and why. It is not run again unless failed ones are
    /// retried.
    pub fn failed(why: impl Into<String>) -> TrialAnswer {
        TrialAnswer {
            end: End::Failed(why.into()),
        }
    }

    /// Answers that the trial was not run to its end; it may be run again.
    pub fn stopped() -> TrialAnswer {
        TrialAnswer { end: End::Stopped }
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

impl TrialOrder {
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
                let run = Run::new(&plan).threads(threads).force(self.force);
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
        let budget = run_budget();
        let (text, name, format) = config;
        let mut loaded =
            tenter_scenario::load_beside(text, name, format, &[], None, &find, &budget)?;
        // In `config.yaml` every key is written, so its own list would name them all.
        loaded.given.clone_from(&self.given);
        Ok(Plan::new(loaded, &budget)?)
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
    let end = match run.run_with(observer) {
        Ok(trial) if trial.was_cancelled() => End::Stopped,
        Ok(trial) => End::Done(Box::new(read(reads, trial))),
        Err(error) => End::Failed(error.to_string()),
    };
    TrialAnswer { end }
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
