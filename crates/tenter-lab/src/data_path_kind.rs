//! Kinds of data paths between the hosts of a lab.

use serde::{Deserialize, Serialize};
use tenter_language::config::choice;

/// Means by which data gets from host to host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataPathKind {
    /// Agents send `RoCEv2` packets by UDP.
    Udp,
    /// RDMA hardware carries whole messages as RDMA writes.
    Rdma,
}
choice!(DataPathKind { "udp" => Udp, "rdma" => Rdma });
