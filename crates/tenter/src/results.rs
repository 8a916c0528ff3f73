//! What an experiment leaves.

use std::path::PathBuf;

use tenter_record::SeedRow;
use tenter_report::seed_rows;

use crate::Trial;

/// One point of the grid: a combination of settings, with a trial for each seed.
#[derive(Clone, Debug)]
pub struct Point {
    /// The paths that are varied, and the values that they have here.
    pub settings: Vec<(String, String)>,
    /// A trial for each seed.
    pub trials: Vec<Trial>,
    /// The trial that was stopped halfway, if one was; it is not among the others.
    pub partial: Option<Trial>,
}

impl Point {
    /// What the times of its trials come to: median, mean, extremes, of each job and collective.
    pub fn rows(&self) -> Vec<SeedRow> {
        let summaries: Vec<_> = self
            .trials
            .iter()
            .map(|trial| trial.summary.clone())
            .collect();
        seed_rows(&summaries)
    }
}

/// What an experiment has left.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// The points that were run, the last axis running fastest.
    pub points: Vec<Point>,
    /// Whether it was stopped: the last point then lacks trials, or those after it are missing.
    pub was_cancelled: bool,
    /// The folder of all trials, where one was asked for.
    pub folder: Option<PathBuf>,
}
