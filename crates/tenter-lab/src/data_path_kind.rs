//! The ways of data between the hosts of a lab.

use serde::{Deserialize, Serialize};
use tenter_config::choice;

/// How data gets from host to host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataPathKind {
    /// Packets of `RoCEv2` by UDP, made by agents.
    Udp,
    /// Writes by RDMA hardware.
    Rdma,
}
choice!(DataPathKind { "udp" => Udp, "rdma" => Rdma });
