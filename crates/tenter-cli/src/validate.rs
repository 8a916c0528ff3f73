//! `tenter validate`.

use std::process::ExitCode;

use crate::arguments::Validate;
use crate::failure::{Failure, print};
use crate::run::{counted, parts};
use crate::source;

pub(crate) fn validate(arguments: &Validate) -> Result<ExitCode, Failure> {
    let plan = source::read(&arguments.scenario)?.plan;
    let collectives: usize = plan.jobs.iter().map(|job| job.sequence.len()).sum();
    print(&format!(
        "{} is valid: {}, {}, {}\n",
        arguments.scenario.file.display(),
        parts(&plan),
        counted(plan.jobs.len(), "job", "jobs"),
        counted(collectives, "collective", "collectives"),
    ));
    Ok(ExitCode::SUCCESS)
}
