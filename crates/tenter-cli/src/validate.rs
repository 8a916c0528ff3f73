//! `tenter validate`.

use std::fmt::Write as _;
use std::process::ExitCode;

use tenter_explain::idle_settings;

use crate::arguments::Validate;
use crate::failure::{Failure, print};
use crate::run::{counted, parts, unrunnable};
use crate::source;

pub(crate) fn validate(arguments: &Validate) -> Result<ExitCode, Failure> {
    let loaded = source::read(&arguments.scenario)?;
    let plan = &loaded.plan;
    let collectives: usize = plan.jobs.iter().map(|job| job.sequence.len()).sum();
    let mut text = format!(
        "{} is valid: {}, {}, {}\n",
        arguments.scenario.file.display(),
        parts(plan),
        counted(plan.jobs.len(), "job", "jobs"),
        counted(collectives, "collective", "collectives"),
    );
    let notes =
        idle_settings(plan, &loaded.given).map_err(|error| Failure::input(error.to_string()))?;
    // What cannot be built is no valid scenario.
    tenter_sim::check(plan).map_err(|error| unrunnable(&error))?;
    for idle in notes {
        let _ = writeln!(text, "note: {}", idle.note);
    }
    print(&text);
    Ok(ExitCode::SUCCESS)
}
