//! `tenter validate`.

use std::fmt::Write as _;

use serde_json::json;
use tenter_record::NoteCode;

use crate::arguments::{TextFormat, Validate};
use crate::exit::ExitCode;
use crate::fabric_line::{counted, parts};
use crate::failure::{Failure, print, problem};
use crate::source;

pub(crate) fn validate(arguments: &Validate) -> Result<ExitCode, Failure> {
    let (valid, mut notes) = arguments.allowance.within(|budget| {
        let valid = source::read(&arguments.scenario, budget)?;
        let notes = valid.notes_within(budget)?;
        // What cannot be built is no valid scenario.
        valid.check_within(budget)?;
        Ok((valid, notes))
    })?;
    let plan = valid.resolved();
    let collectives: usize = plan.jobs.iter().map(|job| job.sequence.len()).sum();
    let parts = parts(plan);
    // They are said where the scenario is read.
    notes.retain(|note| note.code != NoteCode::Scenario);
    if arguments.format == TextFormat::Json {
        let warnings = valid.warnings().problems().iter();
        let document = json!({
            "valid": true,
            "fabric": parts,
            "jobs": plan.jobs.len(),
            "collectives": collectives,
            "warnings": warnings.map(problem).collect::<Vec<_>>(),
            "notes": notes.iter().map(|note| &note.text).collect::<Vec<_>>(),
        });
        print(&format!("{document:#}\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{} is valid: {}, {}, {}\n",
        source::shown(&arguments.scenario.file),
        parts,
        counted(plan.jobs.len(), "job", "jobs"),
        counted(collectives, "collective", "collectives"),
    );
    for note in notes.iter() {
        let _ = writeln!(text, "{}", note.line());
    }
    print(&text);
    Ok(ExitCode::SUCCESS)
}
