//! Arguments of `tenter ui`.

use std::net::IpAddr;
use std::path::PathBuf;

use crate::server::CHECK_MEMORY;
use clap::Args;
use tenter::{Bytes, CHECK_TIME, Time};

use super::common::Threads;

#[derive(Debug, Args)]
pub(crate) struct Ui {
    /// Folder of the workspace: its ledger, and a folder for each trial; made if it is missing
    #[arg(value_name = "FOLDER", default_value = "trials")]
    pub(crate) folder: PathBuf,
    /// Port to listen on, 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 8427)]
    pub(crate) port: u16,
    /// Address to listen on; the token in the printed address lets other machines in, too
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) listen: IpAddr,
    /// Let in every user of this machine, without the token that the printed address has
    #[arg(long)]
    pub(crate) no_token: bool,
    /// Trials that run side by side
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) jobs: u16,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Processor time that the answer to a request about a scenario or a trial may take
    #[arg(long, value_name = "TIME", default_value_t = CHECK_TIME)]
    pub(crate) max_time: Time,
    /// Memory that such an answer may take; two are made at once
    #[arg(long, value_name = "SIZE", default_value_t = CHECK_MEMORY)]
    pub(crate) max_memory: Bytes,
    /// Do not open the page in the browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Print the description of the interface (`OpenAPI` 3.1), and end
    #[arg(long)]
    pub(crate) openapi: bool,
}
