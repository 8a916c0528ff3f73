//! Arguments of `tenter study` and its commands.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::{OutputFormat, TextFormat, Threads};

#[derive(Debug, Args)]
pub(crate) struct Study {
    #[command(subcommand)]
    pub(crate) command: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// List the studies
    List {
        /// Format of standard output
        #[arg(long, value_enum, default_value_t = TextFormat::Text)]
        format: TextFormat,
    },
    /// Print what a study reproduces, its assumptions and its published values
    Show {
        /// Name of the study, for instance `methodology/jct-2`
        name: String,
        /// Format of standard output
        #[arg(long, value_enum, default_value_t = TextFormat::Text)]
        format: TextFormat,
    },
    /// Copy a study into a folder, to change it or to put measurements of your own in its tables
    Copy {
        /// Name of the study, for instance `methodology/jct-2`
        name: String,
        /// The folder, which must not exist; the last part of the name without this
        folder: Option<PathBuf>,
        /// Format of standard output
        #[arg(long, value_enum, default_value_t = TextFormat::Text)]
        format: TextFormat,
    },
    /// Run studies; exit 1 when a required value is outside its band
    Run(StudyRun),
}

#[derive(Debug, Args)]
pub(crate) struct StudyRun {
    /// Names of studies, of groups of them such as `methodology`, or `all`; or folders with a
    /// `study.yaml`
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Only the smaller cases of each study
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only these variants, by their names; may be given several times
    #[arg(long = "variant", value_name = "NAME")]
    pub(crate) variants: Vec<String>,
    /// Change a value of the scenario; published values are not judged then, and what variants set
    /// counts before it
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Run only the first N seeds of a study
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seeds: Option<u32>,
    /// Also write the answer to this folder (`DIR/studies.json`)
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Trials that run side by side, each on one thread; without this they run one after the other
    #[arg(long, value_name = "N", conflicts_with = "threads")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
}
