//! Scenarios of requests.

use tenter::{Error, Plan, Scenario};

/// The plan of a scenario that a request has sent: it can name no files.
pub(crate) fn resolve(text: &str) -> Result<Plan, Error> {
    Scenario::from_yaml(text).resolve()
}
