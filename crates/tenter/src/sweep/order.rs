//! A trial to be run, here or elsewhere, and what came of it.

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
    pub(super) sources: String,
    /// What is read of it.
    pub(super) reads: Vec<Read>,
    pub(super) config: String,
    /// The keys of it that somebody wrote: notes tell of no others.
    pub(super) given: Vec<String>,
    #[serde(with = "as_characters")]
    pub(super) beside: Vec<(String, Vec<u8>)>,
    /// Where its tables are kept, if they are.
    pub(super) folder: Option<PathBuf>,
    pub(super) force: bool,
}

/// What came of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialAnswer {
    pub(super) end: End,
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

    /// Whether the trial was not run to its end.
    pub fn was_stopped(&self) -> bool {
        matches!(self.end, End::Stopped)
    }

    /// Packet-hops of a trial that has run.
    pub(super) fn packet_hops(&self) -> f64 {
        match &self.end {
            End::Done(outcome) => outcome.summary.engine.packet_hops as f64,
            End::Failed(_) | End::Stopped => 0.0,
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
        // The sweep that gave the order has made this plan within its limits.
        let budget = run_budget();
        let (text, name, format) = config;
        let mut loaded =
            tenter_scenario::load_beside(text, name, format, &[], None, &find, &budget)?;
        loaded.given.clone_from(&self.given);
        Ok(Plan::new(loaded, &budget)?)
    }
}

/// Runs a trial and reads it. The tables of a trial that lie in its folder whole are read, and
/// nothing is run.
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

/// Reads a trial.
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

/// Files whose bytes are the characters up to U+00FF of a text: most of them are ASCII.
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
