//! Ended trials of a sweep, as an observer sees them.

use std::fmt;
use std::path::PathBuf;

use crate::studies::TrialValue;
use tenter_results::Summary;

use crate::{Error, Plan};

/// A trial that has ended, in this run or in an earlier one.
pub struct Swept<'s> {
    /// Index of the trial in the sweep.
    pub place: usize,
    /// Variant and point in words; empty if the sweep has one each.
    pub title: String,
    /// Index among the sweep's variants.
    pub variant: usize,
    /// Index among the sweep's points.
    pub point: usize,
    /// First seed that differs from trial to trial.
    pub seed: u64,
    /// Results of the trial, or the reason why it failed.
    pub outcome: Result<SweptOutcome, String>,
    /// Folder with the trial's tables, if the sweep keeps them.
    pub folder: Option<PathBuf>,
    pub(super) planned: Box<dyn Fn() -> Result<Plan, Error> + 's>,
}

/// Results that a sweep keeps from one trial.
#[derive(Clone, Debug)]
pub struct SweptOutcome {
    /// Summary of the trial, as in `summary.json`.
    pub summary: Box<Summary>,
    /// One value for each reading, in their order; `None` where the trial has none.
    pub values: Vec<Option<TrialValue>>,
}

impl Swept<'_> {
    /// Resolves the trial's scenario with its settings and seeds. Each call resolves anew.
    ///
    /// # Errors
    /// When the scenario is invalid or exceeds the sweep's limits.
    pub fn plan(&self) -> Result<Plan, Error> {
        (self.planned)()
    }
}

impl fmt::Debug for Swept<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Swept")
            .field("place", &self.place)
            .field("title", &self.title)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
