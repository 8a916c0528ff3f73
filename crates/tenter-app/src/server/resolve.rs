//! Resolves scenarios that requests send.

use tenter::{Budget, Error, Plan, Scenario};

/// Resolves a scenario from a request. It is read as text alone, so it cannot refer to files on
/// this machine.
pub(crate) fn resolve(text: &str, budget: &Budget) -> Result<Plan, Error> {
    Scenario::from_yaml(text).resolve_within(budget)
}
