//! Arguments of `tenter calibrate-fidelity`.

use std::path::PathBuf;

use clap::Args;

use super::common::{OutputFormat, Threads};

#[derive(Debug, Args)]
pub(crate) struct CalibrateFidelity {
    /// Scenario files that are run at both levels; those that flow level refuses are left out
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Number of scenarios to draw by a seed and run, too: ordinary fabrics of 16 to 64 NICs under
    /// every way of sharing links
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) random: u64,
    /// Seed of the first of them; the others have those that follow
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
    #[command(flatten)]
    pub(crate) threads: Threads,
}
