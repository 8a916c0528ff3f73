//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Simulator and test bench for AI and HPC network fabrics.
#[derive(Debug, Parser)]
#[command(name = "tenter", version, disable_help_subcommand = false)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one trial of a scenario: print its summary, write its trial folder
    Run(Run),
    /// Check a scenario and print all of its errors at once
    Validate(Validate),
    /// Print what a scenario means, what running it costs and what it takes to build it
    Explain(Explain),
    /// Reproduce published results, side by side with what was published
    Study(Study),
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// Folder for the trial, in place of an older trial there; by default a new one under `trials/`
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
    /// Threads to simulate on, at most one per switch; the results are the same for any number
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,
    /// Print the life of the packets between two hosts (`flow=host0-host9`) or at a port
    /// (`port=leaf0:8`)
    #[arg(long, value_name = "flow=A-B|port=NODE:PORT")]
    pub(crate) watch: Option<String>,
    /// How many events `--watch` prints at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) watch_limit: usize,
    /// Run even when the estimate of the memory exceeds what this machine has left
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
}

/// A scenario file and what is changed in it.
#[derive(Debug, Args)]
pub(crate) struct Scenario {
    /// Scenario file (YAML or JSON; TOML if it ends in .toml)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Change a value of the scenario, for instance `--set fabric.spines=8`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Seed of every random stream, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = seed)]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Study {
    #[command(subcommand)]
    pub(crate) command: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// List the studies
    List,
    /// Print what a study reproduces, its assumptions and its published values
    Show {
        /// Name of the study, for instance `methodology/jct-2`
        name: String,
    },
    /// Run studies; exit 1 when a required value is outside its band
    Run(StudyRun),
}

#[derive(Debug, Args)]
pub(crate) struct StudyRun {
    /// Names of the studies
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Only the smaller cases of each study
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write the answer there as well (`DIR/studies.json`)
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
    /// Threads to simulate on, at most one per switch; the results are the same for any number
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// A table for people
    Table,
    /// JSON
    Json,
    /// Comma-separated values
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// Tables for people
    Text,
    /// JSON
    Json,
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}
