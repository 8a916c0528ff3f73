//! Arguments of `tenter sweep` and its commands.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::{Allowance, Fidelity, OutputFormat};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Sweep {
    #[command(subcommand)]
    pub(crate) command: Option<SweepCommand>,
    #[command(flatten)]
    pub(crate) run: SweepOf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SweepCommand {
    /// Run trials of a sweep that was queued with `--queue`, on any machine that has its folder
    Worker(SweepWorker),
}

#[derive(Debug, Args)]
pub(crate) struct SweepWorker {
    /// Folder of the sweep, on a file system that the machines share
    #[arg(long, value_name = "DIR")]
    pub(crate) ledger: PathBuf,
    /// Trials that run side by side, by default one for each core that the process may use
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct SweepOf {
    /// Description of the sweep: YAML, TOML or JSON
    #[arg(value_name = "FILE", required = true)]
    pub(crate) file: Option<PathBuf>,
    /// Folder for ledger and results, by default `sweeps/NAME`; finished trials in it are not
    /// run again
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Units that move through the fabric, instead of `engine.fidelity` of the scenario
    #[arg(long, value_enum)]
    pub(crate) fidelity: Option<Fidelity>,
    /// Only this variant, or only this value of an axis; may be given several times
    #[arg(long, value_name = "VARIANT|AXIS=VALUE")]
    pub(crate) only: Vec<String>,
    /// Resume the sweep in the folder; begin none if there is none
    #[arg(long)]
    pub(crate) resume: bool,
    /// Run failed trials again
    #[arg(long)]
    pub(crate) retry_failed: bool,
    #[command(flatten)]
    pub(crate) allowance: Allowance,
    /// Run even trials that take more memory than is available
    #[arg(long)]
    pub(crate) force: bool,
    /// Trials that run side by side, by default one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Run nothing, and queue all trials for `tenter sweep worker` on other machines; the command
    /// without this takes their answers
    #[arg(long)]
    pub(crate) queue: bool,
    /// A worker that has written nothing for so long is taken for lost, in seconds; at least 120,
    /// since NFS shows what other machines write with a delay of up to a minute
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "queue",
        default_value_t = 300
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) patience: u32,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
}
