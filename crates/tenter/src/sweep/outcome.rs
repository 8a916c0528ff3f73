//! What has come of a trial.

use serde::{Deserialize, Serialize};
use tenter_record::Summary;
use tenter_study::{TrialPauses, TrialValue};

/// What is kept of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Everything about it at a glance.
    pub(crate) summary: Summary,
    /// Readings by what they read.
    pub(crate) values: Vec<(String, Option<TrialValue>)>,
    /// How its NICs were paused; missing in ledgers of an earlier version.
    #[serde(default)]
    pub(crate) pauses: Option<TrialPauses>,
}

impl Outcome {
    /// Takes readings that it does not have.
    pub(super) fn add(&mut self, values: Vec<(String, Option<TrialValue>)>) {
        for (of, value) in values {
            if self.values.iter().all(|(own, _)| *own != of) {
                self.values.push((of, value));
            }
        }
    }
}

/// How a trial ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum End {
    Done(Box<Outcome>),
    Failed(String),
    Stopped,
}
