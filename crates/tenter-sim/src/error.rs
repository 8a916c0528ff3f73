//! Errors: why a plan cannot be run, or a run cannot be finished.

use tenter_fabric::net::PullTarget;
use tenter_fabric::topology::RoutingError;
use tenter_results::SinkError;
use tenter_workload::WorkloadError;

use crate::flow_level::FlowLevelRefusal;

/// Why a plan cannot be run, or a run cannot be finished.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// Some hosts cannot reach each other.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// The ranks cannot run a collective.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A NIC would have more connections than receiver credit can number; the variant holds their
    /// count.
    #[error(
        "a NIC would receive by {0} connections, and with receiver credit {max} fit; use fewer queue pairs or ranks, or `congestion_control: nscc`",
        max = 1_u32 << PullTarget::SLOT_BITS
    )]
    TooManyConnections(u32),
    /// A link has no delay at all, so there is no lookahead; the variant names the link.
    #[error(
        "{0} takes no time at all: give the cable a delay, or the switch a pipeline latency or `forwarding: store-and-forward`"
    )]
    NoLookahead(String),
    /// Flow level has no model for something in the plan.
    #[error(transparent)]
    FlowLevel(#[from] FlowLevelRefusal),
    /// Real hosts cannot do something that the plan needs; the message says what.
    #[error("{0}")]
    NotForRealHosts(String),
    /// The caller's sink could not take the records.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// Frames do not add up at the run's end, which is a defect in the simulator.
    #[error("frames are not conserved: {0}; please report this scenario with its seed as a defect")]
    Conservation(String),
}
