//! How a workspace is served.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use tenter::usual_threads;

/// How a workspace is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of trials.
    pub folder: PathBuf,
    /// The address to listen on. Any but this machine's own makes a token.
    pub address: IpAddr,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// Trials that run side by side.
    pub jobs: usize,
    /// Threads of each trial at most.
    pub threads: u16,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            folder: PathBuf::from("trials"),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 8_427,
            jobs: 1,
            threads: usual_threads(),
        }
    }
}
