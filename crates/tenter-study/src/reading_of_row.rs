//! What a published row is compared with: what is read of which trials.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::number_query::NumberQuery;
use crate::reading::{Against, Condition, PortName, Reading, Statistic};

/// What a published row is compared with.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadingOfRow {
    /// The tables in which the row may be, the first that has it counts; that of the study where
    /// none is named.
    #[serde(default)]
    pub(crate) tables: Vec<String>,
    /// Columns and values that the row must have beside those of the study.
    #[serde(default)]
    pub(crate) row: BTreeMap<String, String>,
    /// What is shown for information where no table has such a row; without it, one must have it.
    pub(crate) metric: Option<String>,
    /// What the row is called.
    pub(crate) case: String,
    /// Which of several things of that case it is, for instance a fabric.
    pub(crate) bar: Option<String>,
    pub(crate) reading: Reading,
    /// What is asked of the tables of a trial, where the reading is `query`.
    pub(crate) query: Option<NumberQuery>,
    /// What becomes of the value beside that of other variants, seed by seed.
    pub(crate) against: Option<Against>,
    /// The leaf that it is read at, where it is read at one.
    pub(crate) leaf: Option<String>,
    /// The job that it is read of, where it is read of one and that is not the first.
    pub(crate) job: Option<String>,
    /// The port that it is read at, where it is read at one.
    pub(crate) port: Option<PortName>,
    /// What is made of the values of several seeds.
    #[serde(default)]
    pub(crate) statistic: Statistic,
    /// Of a reading of power: constants of the profile, and what they are in place of their
    /// values. What a run has counted does not depend on them.
    #[serde(default)]
    pub(crate) constants: BTreeMap<String, u64>,
    /// Of a reading of what is accepted: from when until when it is counted, in µs of the trial,
    /// but no longer than messages are posted.
    pub(crate) window_us: Option<[u64; 2]>,
    /// The variant that is judged.
    pub(crate) variant: String,
    /// Variants that are shown beside it; all where it is missing.
    pub(crate) shown: Option<Vec<String>>,
    /// Which of the seeds count; all where it is missing.
    pub(crate) seeds: Option<Condition>,
    /// The column with the published value, after which the metric is called; that of the study
    /// where it is missing.
    pub(crate) value: Option<String>,
    /// Columns with the lower and the upper end of the band.
    #[serde(default = "band_columns")]
    pub(crate) band: [String; 2],
    /// Whether the quick form is judged: false where what it changes makes another experiment,
    /// which is taken for granted of published values where the study has a `quick_set`.
    pub(crate) quick_judged: Option<bool>,
}

fn band_columns() -> [String; 2] {
    ["band_low", "band_high"].map(str::to_owned)
}
