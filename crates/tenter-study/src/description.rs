//! `study.toml`: what a study compares with what.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::drawing::{Chart, Drawing};
use crate::grid::Grid;
use crate::matrix::Matrix;
use crate::reading_of_row::ReadingOfRow;
use crate::seeds::Seeds;
use crate::variant::Variant;

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    /// One line for the list of studies.
    pub(crate) title: String,
    /// Public title of the source, and where in it.
    pub(crate) source: String,
    pub(crate) published: PublishedRows,
    /// Of a study by sizes: how its scenario gets them.
    pub(crate) scenario: Option<ScenarioUse>,
    /// Keys of switches, NICs and hosts that the test varies, in place of the equipment, with the
    /// reasons.
    #[serde(default)]
    pub(crate) varies: BTreeMap<String, String>,
    /// Of a study by sizes: what is judged.
    pub(crate) judged: Option<Judged>,
    /// Of a study by sizes: columns of the published table, the judged one among them.
    #[serde(default)]
    pub(crate) metrics: Vec<String>,
    /// Of a study by sizes: columns of a trial's collectives that the source does not have, shown
    /// for information.
    #[serde(default)]
    pub(crate) unpublished: Vec<String>,
    /// Of a study by readings: what each published row is compared with.
    #[serde(default)]
    pub(crate) readings: Vec<ReadingOfRow>,
    /// Where the luck of the hash decides: which seeds are run.
    pub(crate) seeds: Option<Seeds>,
    /// What a quick run has otherwise, as `--set` has it.
    #[serde(default)]
    pub(crate) quick_set: Vec<String>,
    /// Of a study by readings: whether there is a quick run.
    #[serde(default = "yes")]
    pub(crate) quick: bool,
    #[serde(default)]
    pub(crate) variants: Vec<Variant>,
    /// Variants and readings of each of several fabrics in each of several cases.
    pub(crate) matrix: Option<Matrix>,
    /// A variant for all rows of the table that were run alike, and a reading of each row.
    pub(crate) grid: Option<Grid>,
    /// What a report draws of it.
    #[serde(default)]
    pub(crate) charts: Vec<Chart>,
    /// What it draws of single trials.
    #[serde(default)]
    pub(crate) drawings: Vec<Drawing>,
}

/// Which rows of which table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedRows {
    /// Stem of the file under `studies/published/` or `studies/expectations/`.
    pub(crate) table: String,
    /// Column and value that a row must have.
    pub(crate) rows: BTreeMap<String, String>,
    /// The column with the size of a case in bytes, which tells the cases apart.
    pub(crate) cases: Option<String>,
    /// The size of the one case, where the table has no column for it.
    pub(crate) size: Option<String>,
    /// Of a study by readings: the column with the published values, after which the metric is
    /// called; otherwise the columns are `published` and `metric`.
    pub(crate) value: Option<String>,
}

/// How the scenario gets its cases.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioUse {
    /// Path of the key that lists the sizes, as `--set` has it.
    pub(crate) sizes: String,
    /// The largest size of a quick run; without it, there is none.
    pub(crate) quick_size_max: Option<String>,
    /// Sizes that are run beside the published ones, for information.
    #[serde(default)]
    pub(crate) further: Vec<String>,
}

/// What the gate of a published row judges.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// The metric; all others are shown for information.
    pub metric: String,
    /// The variant; all others are shown for information.
    pub variant: String,
    /// The columns with the lower and the upper end of the band.
    pub band: [String; 2],
}

fn yes() -> bool {
    true
}
