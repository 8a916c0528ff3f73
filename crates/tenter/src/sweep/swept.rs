//! A trial of a sweep that has ended.

use std::fmt;
use std::path::PathBuf;

use tenter_record::Summary;
use tenter_study::TrialValue;

use crate::{Error, Plan};

/// A trial of a sweep that has ended, in this run of the sweep or before.
pub struct Swept<'s> {
    /// Its place among the trials of the sweep.
    pub place: usize,
    /// Its variant and its point in words; empty in a sweep of one of each.
    pub title: String,
    /// Index of its variant.
    pub variant: usize,
    /// Index of its point.
    pub point: usize,
    /// The first of its seeds that differ from trial to trial.
    pub seed: u64,
    /// What came of it, or why it failed.
    pub outcome: Result<SweptOutcome, String>,
    /// Where its tables are, if the sweep keeps them.
    pub folder: Option<PathBuf>,
    pub(super) planned: Box<dyn Fn() -> Result<Plan, Error> + 's>,
}

/// What has come of a trial of a sweep.
#[derive(Clone, Debug)]
pub struct SweptOutcome {
    /// Everything about it at a glance.
    pub summary: Box<Summary>,
    /// The value of each reading, in their order.
    pub values: Vec<Option<TrialValue>>,
}

impl Swept<'_> {
    /// Its scenario, with its settings and seeds.
    ///
    /// # Errors
    /// When it does not hold.
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
