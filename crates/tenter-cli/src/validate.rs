//! `tenter validate`.

use std::process::ExitCode;

use crate::arguments::Validate;
use crate::failure::{Failure, print};
use crate::source;

pub(crate) fn validate(arguments: &Validate) -> Result<ExitCode, Failure> {
    let plan = source::read(&arguments.scenario)?.plan;
    let switches = plan.topology.nodes.len() - plan.topology.hosts;
    let collectives: usize = plan.jobs.iter().map(|job| job.sequence.len()).sum();
    print(&format!(
        "{} is valid: {} NICs, {switches} switches, {} cables, {} jobs, {collectives} collectives\n",
        arguments.scenario.file.display(),
        plan.topology.hosts,
        plan.topology.cables.len(),
        plan.jobs.len(),
    ));
    Ok(ExitCode::SUCCESS)
}
