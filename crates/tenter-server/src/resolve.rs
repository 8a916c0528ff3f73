//! Scenarios of requests.

use tenter::{Error, Plan, Scenario};

use crate::turns::Limits;

/// The plan of a scenario that a request has sent: it can name no files.
pub(crate) fn resolve(text: &str, limits: &Limits) -> Result<Plan, Error> {
    limits.check()?;
    let plan = Scenario::from_yaml(text).resolve()?;
    limits.check()?;
    Ok(plan)
}
