//! Options for the workspace server.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use tenter::{Bytes, CHECK_TIME, Limits, TrialProgram, usual_threads};

/// Options for the workspace server, as `tenter ui` sets them.
#[derive(Clone, Debug)]
pub struct Options {
    /// The workspace: the folder with the trials and their ledger.
    pub folder: PathBuf,
    /// IP address on which to listen.
    pub address: IpAddr,
    /// TCP port; 0 takes any free one.
    pub port: u16,
    /// True if requests need no token. It is allowed on loopback addresses alone, and admits every
    /// user on this machine.
    pub no_token: bool,
    /// Number of trials that run at the same time.
    pub jobs: usize,
    /// Maximum number of threads per trial.
    pub threads: u16,
    /// Program whose processes run the trials; without one they run in the server's.
    pub program: Option<TrialProgram>,
    /// Memory and time limits for a request that resolves a scenario or reads a trial.
    pub check: Limits,
}

/// Default memory limit for such a request: 1 GiB.
pub(crate) const CHECK_MEMORY: Bytes = Bytes::new(1 << 30);

impl Default for Options {
    fn default() -> Options {
        Options {
            folder: PathBuf::from("trials"),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 8_427,
            no_token: false,
            jobs: 1,
            threads: usual_threads(),
            program: None,
            check: Limits {
                memory: CHECK_MEMORY,
                time: CHECK_TIME,
                ..Limits::NONE
            },
        }
    }
}
