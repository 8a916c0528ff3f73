//! The ways in which the scenario of a study is run.

use serde::Deserialize;

/// How much of a study is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every published case.
    Full,
    /// The smaller cases, up to the size that the study states, or fewer seeds.
    Quick,
}

/// One way to run the scenario of a study.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// What it stands for, in a line.
    pub about: String,
    /// Changes of the scenario that make the variant, `PATH=VALUE`, and that nothing was fitted to.
    #[serde(default)]
    pub set: Vec<String>,
    /// Whether a quick run has it.
    #[serde(default = "yes")]
    pub quick: bool,
    /// Whether it is not among the variants that [`Study::keep_variants`] was given.
    ///
    /// [`Study::keep_variants`]: crate::Study::keep_variants
    #[serde(skip)]
    pub left_out: bool,
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

fn yes() -> bool {
    true
}

impl Variant {
    /// Whether that much of a study has it.
    pub fn is_run(&self, extent: Extent) -> bool {
        !self.left_out && (self.quick || extent == Extent::Full)
    }
}
