//! What can go wrong between a scenario and a finished trial.

use std::fmt;
use std::path::PathBuf;

use tenter_explain::ExplainError;
use tenter_record::SinkError;
use tenter_report::{TrialError, binary_size};
use tenter_scenario::Diagnostics;
use tenter_sim::SimulationError;
use tenter_study::{StudyError, SweepError};
use tenter_units::OverBudget;

use crate::{Results, Trial};

/// Why a call failed; each message names the place and the remedy.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file of a scenario cannot be read.
    #[error("cannot read {}: {remedy}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause, and what to do.
        remedy: String,
    },
    /// The scenario does not hold: all of its problems at once, with their places.
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
        /// What the run is expected to take, in bytes.
        needed: u64,
        /// What the system and its limits have left, in bytes.
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
        /// The trial, whole in memory.
        trial: Box<Trial>,
        /// The file that could not be written.
        source: TrialError,
    },
    /// The trial has run, and a further run that measures what jobs cost each other failed.
    #[error("the trial has run, and what its jobs cost each other could not be measured: {source}")]
    NotMeasured {
        /// The trial, which says that it is not complete.
        trial: Box<Trial>,
        /// Why the further run failed.
        source: Box<Error>,
    },
    /// Some trials of an experiment have run, and the next one failed.
    #[error("{source}")]
    Experiment {
        /// The trials that have run.
        results: Box<Results>,
        /// Why the next one failed.
        source: Box<Error>,
    },
    /// A study does not hold.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The description of a sweep does not hold.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// A trial of a sweep does not hold.
    #[error("{}", of_trial(name, source))]
    Trial {
        /// Its variant and its point.
        name: String,
        /// Why.
        source: Box<Error>,
    },
    /// A request would take more than it may, or nobody waits for its answer any more.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// What was asked for does not fit the scenario.
    #[error("{0}")]
    Asked(String),
    /// The thread of a run ended without a trial: a defect of the simulator.
    #[error(
        "internal error: {0}; unless an observer of yours failed, please report the scenario with its seed as a defect"
    )]
    Internal(String),
}

impl Error {
    /// Whether flow level can say nothing about the plan, which packet level can run.
    pub fn is_of_flow_level(&self) -> bool {
        matches!(self, Error::Unbuildable(SimulationError::FlowLevel(_)))
    }

    /// Whether the input is at fault: a scenario, a request, a run that is too large for the memory
    /// of the machine, a folder that is in use. Otherwise it is the disk or a defect.
    pub fn is_of_input(&self) -> bool {
        match self {
            Error::Unreadable { .. }
            | Error::Scenario(_)
            | Error::Explain(_)
            | Error::Memory { .. }
            | Error::Unbuildable(_)
            | Error::Sweep(_)
            | Error::OverBudget(_)
            | Error::Asked(_) => true,
            Error::Folder(error) => !error.is_of_disk(),
            Error::NotMeasured { source, .. }
            | Error::Experiment { source, .. }
            | Error::Trial { source, .. } => source.is_of_input(),
            Error::NotWritten { .. }
            | Error::Simulation(_)
            | Error::Study(_)
            | Error::Internal(_) => false,
        }
    }
}

/// The message again: a program whose `main` returns an error shows this.
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

/// An error of a trial with the name of the trial, once in each of its problems.
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
