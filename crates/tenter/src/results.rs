//! Experiment results.

use std::path::PathBuf;

use crate::report::seed_rows;
use tenter_results::SeedRow;

use crate::Trial;

/// One grid point: a combination of settings, with a trial for each seed.
#[derive(Clone, Debug)]
pub struct Point {
    /// Varied paths, each with its value at this point.
    pub settings: Vec<(String, String)>,
    /// One trial for each seed, in ascending order.
    pub trials: Vec<Trial>,
    /// The trial that was stopped halfway, if any; it is not among `trials`.
    pub partial: Option<Trial>,
}

impl Point {
    /// Returns statistics over this point's trials (median, mean, extremes) for the times that each
    /// job and collective took.
    pub fn rows(&self) -> Vec<SeedRow> {
        let summaries: Vec<_> = self
            .trials
            .iter()
            .map(|trial| trial.summary.clone())
            .collect();
        seed_rows(&summaries)
    }
}

/// Results of an [`Experiment`](crate::Experiment).
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Points that were run; the last axis runs fastest.
    pub points: Vec<Point>,
    /// True if the experiment was stopped: the last point may lack trials, and later points are
    /// missing.
    pub was_cancelled: bool,
    /// Folder with all trials, if one was asked for.
    pub folder: Option<PathBuf>,
}
