//! Why a plan cannot be run, or a run not be finished.

use tenter_net::PullTarget;
use tenter_record::SinkError;
use tenter_topology::RoutingError;
use tenter_workload::WorkloadError;

use crate::flow_level::FlowLevelRefusal;

/// Why a plan could not be run, or a run not be finished.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// Some hosts cannot reach each other.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// A collective cannot be run by its ranks.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// More connections than a NIC with receiver credit has.
    #[error(
        "a NIC would receive by {0} connections, and with receiver credit {max} fit; use fewer queue pairs or ranks, or `congestion_control: nscc`",
        max = 1_u32 << PullTarget::SLOT_BITS
    )]
    TooManyConnections(u32),
    /// Nothing takes any time.
    #[error(
        "{0} takes no time at all: give the cable a delay, or the switch a pipeline latency or `forwarding: store-and-forward`"
    )]
    NoLookahead(String),
    /// Flow level can say nothing about it.
    #[error(transparent)]
    FlowLevel(#[from] FlowLevelRefusal),
    /// Real hosts cannot do what it asks for.
    #[error("{0}")]
    NotForRealHosts(String),
    /// The records could not be kept.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// Frames did not add up: a defect of the simulator.
    #[error("frames are not conserved: {0}; please report this scenario with its seed as a defect")]
    Conservation(String),
}
