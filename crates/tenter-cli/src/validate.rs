//! `tenter validate`.

use std::fmt::Write as _;
use std::process::ExitCode;

use crate::arguments::Validate;
use crate::failure::{Failure, print};
use crate::run::{counted, parts};
use crate::source;

pub(crate) fn validate(arguments: &Validate) -> Result<ExitCode, Failure> {
    let valid = source::read(&arguments.scenario)?;
    let plan = valid.resolved();
    let collectives: usize = plan.jobs.iter().map(|job| job.sequence.len()).sum();
    let mut text = format!(
        "{} is valid: {}, {}, {}\n",
        arguments.scenario.file.display(),
        parts(plan),
        counted(plan.jobs.len(), "job", "jobs"),
        counted(collectives, "collective", "collectives"),
    );
    let notes = valid.idle_settings()?;
    // What cannot be built is no valid scenario.
    valid.check()?;
    for idle in notes {
        let _ = writeln!(text, "note: {}", idle.note);
    }
    print(&text);
    Ok(ExitCode::SUCCESS)
}
