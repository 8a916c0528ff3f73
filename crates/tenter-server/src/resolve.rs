//! Scenarios of requests.

use tenter::{Budget, Error, Plan, Scenario};

/// The plan of a scenario that a request has sent: it can name no files.
pub(crate) fn resolve(text: &str, budget: &Budget) -> Result<Plan, Error> {
    Scenario::from_yaml(text).resolve_within(budget)
}
