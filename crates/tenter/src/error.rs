//! Errors between a scenario and a finished trial.

use std::fmt;
use std::path::PathBuf;

use crate::explain::ExplainError;
use crate::report::{TrialError, binary_size};
use crate::resolve::Diagnostics;
use crate::studies::{StudyError, SweepError};
use tenter_language::units::OverBudget;
use tenter_results::SinkError;
use tenter_sim::SimulationError;

use crate::{Results, Trial};

/// Reason why a call failed; each message names the place and the remedy.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The scenario's file, or the stream in its place, cannot be read.
    #[error("cannot read {}: {remedy}", path.display())]
    Unreadable {
        /// Path to the file, or the stream's name.
        path: PathBuf,
        /// Cause, and what to do.
        remedy: String,
    },
    /// The scenario is invalid: all its problems at once, with their places.
    #[error("{}", .0.render())]
    Scenario(Diagnostics),
    /// The plan cannot be explained: hosts do not reach each other, a collective cannot be run, or
    /// numbers leave every range.
    #[error(transparent)]
    Explain(#[from] ExplainError),
    /// The run would take more memory than there is.
    #[error(
        "the run would take about {} of memory, and {} are available: use fewer ranks, sizes or iterations, or a machine with more memory; `tenter explain` says what the memory is for",
        binary_size(*needed), binary_size(*available)
    )]
    Memory {
        /// Memory that the run is expected to take, in bytes.
        needed: u64,
        /// Memory that the system and its limits have left, in bytes.
        available: u64,
    },
    /// The plan cannot be built: hosts that cannot reach each other, a link without delay.
    #[error(transparent)]
    Unbuildable(SimulationError),
    /// The simulation failed: rows could not be kept, or frames were not conserved.
    #[error(transparent)]
    Simulation(SimulationError),
    /// A trial folder cannot be made, read or written.
    #[error(transparent)]
    Folder(#[from] TrialError),
    /// The trial has run, and its last files could not be written.
    #[error("{source}")]
    NotWritten {
        /// The whole trial, in memory.
        trial: Box<Trial>,
        /// Error from writing the file.
        source: TrialError,
    },
    /// The trial has run, and a further run that measures what jobs cost each other failed.
    #[error("the trial has run, and what its jobs cost each other could not be measured: {source}")]
    NotMeasured {
        /// The trial, marked as incomplete.
        trial: Box<Trial>,
        /// Error from the further run.
        source: Box<Error>,
    },
    /// An experiment has run some trials, and the next one failed.
    #[error("{source}")]
    Experiment {
        /// Trials that have run, point by point.
        results: Box<Results>,
        /// Error from the trial that failed.
        source: Box<Error>,
    },
    /// A study's description, scenario or tables are invalid.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A sweep's description is invalid.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// A sweep's trial is invalid or failed.
    #[error("{}", of_trial(name, source))]
    Trial {
        /// The trial's variant and point.
        name: String,
        /// Error from that trial.
        source: Box<Error>,
    },
    /// A request would take more than its budget has, or its caller has left.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// A request does not fit the scenario or a folder's state; the text says why.
    #[error("{0}")]
    Asked(String),
    /// The run's thread ended without a trial: a defect in the simulator.
    #[error(
        "internal error: {0}; unless an observer of yours failed, please report the scenario with its seed as a defect"
    )]
    Internal(String),
}

impl Error {
    /// True if flow level cannot simulate the plan, while packet level can.
    pub fn is_of_flow_level(&self) -> bool {
        matches!(self, Error::Unbuildable(SimulationError::FlowLevel(_)))
    }

    /// True if the input is at fault: a scenario, a request, a run that is too large for the
    /// machine's memory, a folder that is in use. Otherwise the disk or a defect is.
    pub fn is_of_input(&self) -> bool {
        match self {
            Error::Unreadable { .. }
            | Error::Scenario(_)
            | Error::Explain(_)
            | Error::Memory { .. }
            | Error::Unbuildable(_)
            | Error::Study(_)
            | Error::Sweep(_)
            | Error::OverBudget(_)
            | Error::Asked(_) => true,
            Error::Folder(error) => !error.is_of_disk(),
            Error::NotMeasured { source, .. }
            | Error::Experiment { source, .. }
            | Error::Trial { source, .. } => source.is_of_input(),
            Error::NotWritten { .. } | Error::Simulation(_) | Error::Internal(_) => false,
        }
    }
}

/// Shows the message: a program whose `main` returns an error prints it with `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Diagnostics> for Error {
    fn from(problems: Diagnostics) -> Error {
        Error::Scenario(problems)
    }
}

/// Renders a trial's error with the trial's name, repeated in each problem.
fn of_trial(name: &str, source: &Error) -> String {
    match source {
        Error::Scenario(problems) => problems.render_as(&format!("error: {name}")),
        other => format!("{name}: {other}"),
    }
}

impl From<SinkError> for Error {
    fn from(error: SinkError) -> Error {
        Error::Simulation(SimulationError::Sink(error))
    }
}
