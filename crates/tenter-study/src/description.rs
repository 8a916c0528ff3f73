//! `study.toml`: what a study compares with what.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    /// One line for the list of studies.
    pub(crate) title: String,
    /// Public title of the source, and where in it.
    pub(crate) source: String,
    pub(crate) published: PublishedRows,
    pub(crate) scenario: ScenarioUse,
    pub(crate) judged: Judged,
    /// Columns of the published table, the judged one among them.
    pub(crate) metrics: Vec<String>,
    pub(crate) variants: Vec<Variant>,
}

/// Which rows of which table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedRows {
    /// Stem of the file under `studies/published/`.
    pub(crate) table: String,
    /// Column and value that a row must have.
    pub(crate) rows: BTreeMap<String, String>,
    /// The column with the size of a case in bytes, which tells the cases apart.
    pub(crate) cases: Option<String>,
    /// The size of the one case, where the table has no column for it.
    pub(crate) size: Option<String>,
}

/// How the scenario gets its cases.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioUse {
    /// Path of the key that lists the sizes, as `--set` has it.
    pub(crate) sizes: String,
    /// The largest size of a quick run; one below all sizes leaves no case for it.
    pub(crate) quick_size_max: String,
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

/// One way to run the scenario of a study.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// What it stands for, in a line.
    pub about: String,
    /// The constants that were fitted to published values; none in a pure model.
    #[serde(default)]
    pub calibrations: Vec<Calibration>,
}

/// A constant that was not known but fitted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The change of the scenario, `PATH=VALUE`.
    pub set: String,
    /// The published rows it is fitted to.
    pub fitted_to: String,
}
