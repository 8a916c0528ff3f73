//! How a workspace is served.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use tenter::{Bytes, CHECK_TIME, Limits, usual_threads};

/// How a workspace is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of trials.
    pub folder: PathBuf,
    /// The address to listen on.
    pub address: IpAddr,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// Whether every request is answered, without a token. Only a loopback address may do so: it
    /// lets in every user of this machine.
    pub no_token: bool,
    /// Trials that run side by side.
    pub jobs: usize,
    /// Threads of each trial at most.
    pub threads: u16,
    /// What a request may take that resolves a scenario or reads a trial.
    pub check: Limits,
}

/// Memory that such a request may take unless told otherwise.
pub const CHECK_MEMORY: Bytes = Bytes::new(1 << 30);

impl Default for Options {
    fn default() -> Options {
        Options {
            folder: PathBuf::from("trials"),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 8_427,
            no_token: false,
            jobs: 1,
            threads: usual_threads(),
            check: Limits {
                memory: CHECK_MEMORY,
                time: CHECK_TIME,
                ..Limits::NONE
            },
        }
    }
}
