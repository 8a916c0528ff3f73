//! Arguments that several commands share.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tenter::{
    Budget, Bytes, CHECK_TIME, Limits, Time, check_budget, machine_limits, usual_threads,
    way_to_more,
};

use crate::command::failure::Failure;

/// A scenario file and what is changed in it.
#[derive(Clone, Debug, Args)]
pub(crate) struct Scenario {
    /// Scenario file (YAML or JSON; TOML if it ends in .toml), `-` for standard input, or a preset
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Change a value of the scenario, for instance `--set fabric.spines=8`, or remove its key
    /// with `default` for the value; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Units that move through the fabric, instead of `engine.fidelity` of the scenario
    #[arg(long, value_enum)]
    pub(crate) fidelity: Option<Fidelity>,
    /// Seed of every random stream, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = seed)]
    pub(crate) seed: Option<u64>,
}

/// How to allow more of what a check was refused for.
pub(crate) const MORE_TIME: &str = "`--max-time 60s` allows more";
pub(crate) const MORE_MEMORY: &str = "`--max-memory 64GiB` allows more";

/// Memory and time that a check of a scenario may take before it is refused.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Allowance {
    /// Processor time that the check may take before it is refused
    #[arg(long, value_name = "TIME", default_value_t = CHECK_TIME)]
    max_time: Time,
    /// Memory that it may take, by default what the machine has free
    #[arg(long, value_name = "SIZE")]
    max_memory: Option<Bytes>,
}

/// Memory and time that a query may take; without a query they mean nothing and are refused.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct QueryAllowance {
    /// Processor time that the query may take before it is refused
    #[arg(long, value_name = "TIME", default_value_t = CHECK_TIME, requires = "query")]
    max_time: Time,
    /// Memory that it may take, by default what the machine has free
    #[arg(long, value_name = "SIZE", requires = "query")]
    max_memory: Option<Bytes>,
}

impl From<QueryAllowance> for Allowance {
    fn from(own: QueryAllowance) -> Allowance {
        Allowance {
            max_time: own.max_time,
            max_memory: own.max_memory,
        }
    }
}

impl Allowance {
    /// Returns the limits of a check.
    pub(crate) fn limits(self) -> Limits {
        let machine = machine_limits();
        Limits {
            time: self.max_time,
            memory: self.max_memory.unwrap_or(machine.memory),
            ..machine
        }
    }

    /// Runs a check within the budget. If the budget is exceeded, the error says how to allow more.
    pub(crate) fn within<T>(
        self,
        check: impl FnOnce(&Budget) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let budget = check_budget(self.limits(), Arc::default());
        check(&budget).map_err(|failure| failure.or(way_to_more(&budget, MORE_TIME, MORE_MEMORY)))
    }
}

/// Number of threads that a trial has.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Threads {
    /// Threads to simulate on, at most one per switch, by default one per core up to 4; the results
    /// are the same for any number
    #[arg(id = "threads", long = "threads", value_name = "N")]
    #[arg(default_value_t = usual_threads(), hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) count: u16,
}

/// How closely a trial is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fidelity {
    /// Packets, one by one
    Packet,
    /// Flows at max–min fair rates: less exact, and less time
    Flow,
    /// Packets where `engine.packets_time` and `engine.packets_memory` allow, else flows
    Auto,
    /// Both, side by side; goes with `tenter run`
    Both,
}

impl Fidelity {
    /// Returns the scenario's setting for this level; `None` for both.
    pub(crate) fn setting(self) -> Option<&'static str> {
        match self {
            Fidelity::Packet => Some("engine.fidelity=packet"),
            Fidelity::Flow => Some("engine.fidelity=flow"),
            Fidelity::Auto => Some("engine.fidelity=auto"),
            Fidelity::Both => None,
        }
    }
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
pub(crate) enum TextFormat {
    /// Text for people
    Text,
    /// JSON
    Json,
}

pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}
