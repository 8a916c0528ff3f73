//! Trial outcomes, as the ledger keeps them.

use crate::studies::{TrialPauses, TrialValue};
use serde::{Deserialize, Serialize};
use tenter_results::Summary;

/// Results that are kept from a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Summary of the trial, as in `summary.json`.
    pub(crate) summary: Summary,
    /// Readings, each with its key: the query, or whatever else identifies it.
    pub(crate) values: Vec<(String, Option<TrialValue>)>,
    /// Pauses at the trial's NICs; missing in ledgers from earlier versions.
    #[serde(default)]
    pub(crate) pauses: Option<TrialPauses>,
}

impl Outcome {
    /// Adds readings whose keys are not there yet; existing values stay.
    pub(super) fn add(&mut self, values: Vec<(String, Option<TrialValue>)>) {
        for (of, value) in values {
            if self.values.iter().all(|(own, _)| *own != of) {
                self.values.push((of, value));
            }
        }
    }
}

/// End of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum End {
    Done(Box<Outcome>),
    Failed(String),
    Stopped,
}
