//! What can go wrong in a lab.

use std::path::PathBuf;

use tenter_scenario::Diagnostics;
use tenter_sim::SimulationError;

use crate::control::{ChannelError, SecretError};

/// Why something of a lab could not be done: a sentence with the place and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A file of a lab or a scenario is at fault.
    #[error("{}", .0.render())]
    Text(Box<Diagnostics>),
    /// A file cannot be read or written.
    #[error("cannot {what} `{}`: {source}", path.display())]
    File {
        /// What was to be done.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// There is no secret.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// An agent could not be reached, or was lost.
    #[error("agent `{agent}`: {source}")]
    Agent {
        /// Which.
        agent: String,
        /// Why.
        source: ChannelError,
    },
    /// Privileges could not be given up.
    #[error(transparent)]
    Privileges(#[from] crate::agent::PrivilegeError),
    /// The scenario cannot be run on real hosts.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A trial could not be written or simulated.
    #[error(transparent)]
    Trial(#[from] tenter::Error),
    /// A program of the system failed.
    #[error("`{command}` failed: {answer}")]
    Command {
        /// The command line.
        command: String,
        /// What it said.
        answer: String,
    },
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// What was to be done.
        what: String,
        /// Why not.
        source: std::io::Error,
    },
    /// Anything else that a user can mend.
    #[error("{0}")]
    Input(String),
}

impl LabError {
    /// Whether the input is at fault rather than a machine.
    pub fn is_input(&self) -> bool {
        matches!(
            self,
            LabError::File { what: "read", .. }
                | LabError::Text(_)
                | LabError::Input(_)
                | LabError::Secret(_)
                | LabError::Simulation(_)
        )
    }

    pub(crate) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> LabError {
        let path = path.into();
        move |source| LabError::File { what, path, source }
    }

    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> LabError {
        let what = what.into();
        move |source| LabError::System { what, source }
    }
}

impl From<Diagnostics> for LabError {
    fn from(found: Diagnostics) -> LabError {
        LabError::Text(Box::new(found))
    }
}
