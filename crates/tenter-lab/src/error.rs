//! Errors that lab commands end with.

use std::path::PathBuf;

use tenter::resolve::Diagnostics;
use tenter_sim::SimulationError;

use crate::control::{ChannelError, SecretError};

/// Reason why a lab command failed: a sentence that names the place and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A lab file or scenario has mistakes; all of them are listed.
    #[error("{}", .0.render())]
    Text(Box<Diagnostics>),
    /// A file cannot be read, written or found.
    #[error("cannot {what} `{}`: {source}", path.display())]
    File {
        /// Verb of the failed step: `read`, `write`, `find`, …; `read` alone counts as the user's
        /// mistake.
        what: &'static str,
        /// The path as the lab resolved it.
        path: PathBuf,
        /// Reason given by the operating system.
        source: std::io::Error,
    },
    /// The lab's secret is missing, unusable or readable by others.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// An agent could not be reached, or was lost.
    #[error("agent `{agent}`: {source}")]
    Agent {
        /// Name of the agent's host, with the agent's control address.
        agent: String,
        /// Failure of the channel to it.
        source: ChannelError,
    },
    /// The process could not give up root's privileges.
    #[error(transparent)]
    Privileges(#[from] crate::agent::PrivilegeError),
    /// Real hosts cannot run the scenario.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A trial could not be written or simulated.
    #[error(transparent)]
    Trial(#[from] tenter::Error),
    /// A program such as `ip` or `tc` failed.
    #[error("`{command}` failed: {answer}")]
    Command {
        /// Command line as it was run.
        command: String,
        /// Standard error of the program, or why it did not start.
        answer: String,
    },
    /// A system call of this process failed.
    #[error("{what}: {source}")]
    System {
        /// Sentence that says what was attempted.
        what: String,
        /// Reason given by the operating system.
        source: std::io::Error,
    },
    /// Any other mistake that the user can correct, as a sentence.
    #[error("{0}")]
    Input(String),
}

impl LabError {
    /// Returns true if the user's input is at fault rather than a machine, which decides the exit
    /// code.
    pub fn is_input(&self) -> bool {
        matches!(
            self,
            // The user names the files that are read; failures to write are the machine's.
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
