//! The reason why a plan cannot be explained.

use tenter_topology::RoutingError;
use tenter_units::OverBudget;
use tenter_workload::WorkloadError;

/// The reason why a plan cannot be explained, nor run.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// Some hosts cannot reach each other.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// It would take more than the request may.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// A collective cannot be run by its ranks.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}
