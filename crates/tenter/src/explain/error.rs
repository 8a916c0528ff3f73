//! Errors while a plan is explained.

use tenter_fabric::topology::RoutingError;
use tenter_language::units::OverBudget;
use tenter_workload::WorkloadError;

/// Reason why a plan can be neither explained nor run.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// Some hosts cannot reach each other.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// The explanation would exceed the request's budget.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// A job's ranks cannot run its collective.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}
