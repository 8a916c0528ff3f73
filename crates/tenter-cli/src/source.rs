//! Reading a scenario from a file.

use tenter::{Plan, Scenario};

use crate::arguments;
use crate::failure::{Failure, say};

/// The scenario that a command was given, with its overrides and its seed.
pub(crate) fn scenario(asked: &arguments::Scenario) -> Result<Scenario, Failure> {
    let mut scenario = Scenario::read(&asked.file)?;
    for setting in &asked.overrides {
        scenario = scenario.with_setting(setting);
    }
    Ok(match asked.seed {
        Some(seed) => scenario.seed(seed),
        None => scenario,
    })
}

/// Reads, overrides and resolves a scenario; prints its warnings.
pub(crate) fn read(asked: &arguments::Scenario) -> Result<Plan, Failure> {
    let plan = scenario(asked)?.resolve()?;
    say(&plan.warnings().render_as("warning"));
    Ok(plan)
}
