//! An agent as a process.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use tenter_units::Rate;

use super::privileges::drop_privileges;
use super::receivers::Receivers;
use super::server::{AgentLimits, serve};
use crate::control::Secret;
use crate::error::LabError;
use crate::lab_file::LabFile;

/// How an agent is started.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// Where it listens for coordinators.
    pub listen: SocketAddr,
    /// The file with the secret of the lab.
    pub secret_file: PathBuf,
    /// The lab file: the agent sends to its addresses and to no others.
    pub lab: PathBuf,
    /// The user that it becomes if it is started by root.
    pub user: String,
    /// The rate at which it sends at most.
    pub max_rate: Rate,
    /// How long a trial may take.
    pub max_time: Duration,
}

/// Starts an agent, which runs until its process is ended; `ready` hears where it listens.
///
/// Files are read and the port is taken before it gives up its privileges.
///
/// # Errors
/// When a file cannot be read, or the port is taken.
pub fn start(options: &AgentOptions, ready: impl FnOnce(SocketAddr)) -> Result<(), LabError> {
    let secret = Secret::read(&options.secret_file)?;
    let lab = LabFile::read(&options.lab)?;
    let listener = TcpListener::bind(options.listen).map_err(LabError::system(format!(
        "cannot listen at {}",
        options.listen
    )))?;
    let receivers = Receivers::open(&lab.addresses());
    drop_privileges(&options.user)?;
    ready(listener.local_addr().unwrap_or(options.listen));
    let limits = AgentLimits {
        addresses: lab.addresses(),
        rate: options.max_rate,
        time: options.max_time,
    };
    serve(&listener, secret, limits, receivers)
}
