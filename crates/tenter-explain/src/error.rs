//! Why a plan cannot be explained.

use tenter_topology::RoutingError;
use tenter_workload::WorkloadError;

/// Why a plan cannot be explained: it could not be run either.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// Some hosts cannot reach each other.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// A collective cannot be run by its ranks.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}
