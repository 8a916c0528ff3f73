//! Arguments of `tenter lab` and `tenter agent`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use tenter_language::units::{Rate, Time};

use super::common::OutputFormat;

#[derive(Debug, Args)]
pub(crate) struct Agent {
    /// Address and port to listen on for a coordinator
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// File with the secret of the lab, which nobody else may read
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: PathBuf,
    /// Lab file: the agent sends to the addresses in it and to no others
    #[arg(long, value_name = "FILE")]
    pub(crate) lab: PathBuf,
    /// User to become where it is started by root
    #[arg(long, value_name = "USER", default_value = "nobody")]
    pub(crate) user: String,
    /// Greatest rate of a trial's host
    #[arg(long, value_name = "RATE", default_value = "800Gbps", value_parser = rate)]
    pub(crate) max_rate: Rate,
    /// Longest time of a trial
    #[arg(long, value_name = "TIME", default_value = "3600s", value_parser = duration)]
    pub(crate) max_time: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct Lab {
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Set up the fabric of a lab file out of network namespaces, with an agent in each host
    Up {
        /// Lab file
        lab: PathBuf,
    },
    /// Take that fabric down, and end all that runs in it
    Down {
        /// Lab file
        lab: PathBuf,
    },
    /// Run a scenario on the hosts of a lab, and write a trial folder with what was measured
    Run(LabRun),
    /// Run a scenario on the hosts of a lab and in the simulation, and show the difference
    Twin(LabTwin),
    /// Fit the stated constants of hosts to part of the sizes, and judge them on the others
    Calibrate(LabRun),
    /// Print the steps of a study for people with hardware: commands, settings, what to collect
    Plan {
        /// Study, or one of its cases
        study: String,
    },
    /// Show what the switches of a lab count, or put counters from files into a trial
    Counters(LabCounters),
    /// Put what was collected beside the simulated and published values of a study
    Collect(LabCollect),
}

/// A scenario on the hosts of a lab.
#[derive(Debug, Args)]
pub(crate) struct LabRun {
    /// Scenario file; the fabric of a lab of namespaces takes the place of its own
    #[arg(value_name = "FILE")]
    pub(crate) scenario: PathBuf,
    /// Lab file
    #[arg(long, value_name = "FILE")]
    pub(crate) lab: PathBuf,
    /// Change a value of the scenario; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Folder to write; by default a new one below `trials`
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Form of the answer
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
pub(crate) struct LabTwin {
    #[command(flatten)]
    pub(crate) run: LabRun,
    /// Constants of hosts that `tenter lab calibrate` has written
    #[arg(long, value_name = "FILE")]
    pub(crate) calibration: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LabCollect {
    /// Study, as `tenter lab plan` was given it
    pub(crate) study: String,
    /// Logs of nccl-tests or perftest that the plan asks for
    #[arg(value_name = "LOG", required = true)]
    pub(crate) logs: Vec<PathBuf>,
    /// Page to write
    #[arg(short, long, value_name = "FILE", default_value = "lab.html")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct LabCounters {
    /// Lab file with `switches`
    pub(crate) lab: PathBuf,
    /// Trial that `lab run` has measured, whose tables are to have the counters of two folders
    #[arg(long, value_name = "DIR", requires = "before", requires = "after")]
    pub(crate) trial: Option<PathBuf>,
    /// Folder with what switches showed before it, in a folder for each switch
    #[arg(long, value_name = "DIR", requires = "trial")]
    pub(crate) before: Option<PathBuf>,
    /// Folder with what switches showed after it, in the same form
    #[arg(long, value_name = "DIR", requires = "trial")]
    pub(crate) after: Option<PathBuf>,
}

fn rate(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|error| format!("{error}"))
}

fn duration(text: &str) -> Result<Duration, String> {
    let time: Time = text.parse().map_err(|error| format!("{error}"))?;
    Ok(Duration::from_nanos(time.ps() / 1_000))
}
