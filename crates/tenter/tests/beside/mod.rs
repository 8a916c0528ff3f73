//! Scenarios with the files that they name.

use tenter::resolve::{Diagnostics, Files, Format, Loaded, load_beside};
use tenter_language::units::Budget;

/// Loads a scenario in YAML, whose files `files` opens.
pub(crate) fn load_with(text: &str, files: &Files<'_>) -> Result<Loaded, Diagnostics> {
    let budget = Budget::unlimited();
    load_beside(text, "x.yaml", Format::Yaml, &[], None, files, &budget)
}
