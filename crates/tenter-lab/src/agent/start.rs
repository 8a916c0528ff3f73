//! Start of an agent process.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use tenter_language::units::Rate;

use super::privileges::drop_privileges;
use super::receivers::Receivers;
use super::server::{AgentLimits, serve};
use crate::control::Secret;
use crate::error::LabError;
use crate::lab_file::LabFile;

/// Options of the command `tenter agent`.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// Address and TCP port where the agent listens for coordinators.
    pub listen: SocketAddr,
    /// File with the lab's secret.
    pub secret_file: PathBuf,
    /// The lab file; the agent sends to no other addresses.
    pub lab: PathBuf,
    /// User that the agent becomes if root starts it.
    pub user: String,
    /// Highest rate at which the agent agrees to send.
    pub max_rate: Rate,
    /// Longest trial that the agent accepts.
    pub max_time: Duration,
}

/// Starts an agent, which serves until its process is ended; `ready` receives the listening
/// address.
///
/// Files are read and ports are opened before privileges are given up.
///
/// # Errors
/// Returns an error if a file cannot be read, a port is taken, or privileges cannot be given up.
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
