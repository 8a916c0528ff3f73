//! `tenter validate`: checks a scenario and prints its cost.

use std::fmt::Write as _;

use serde_json::json;
use tenter::report::cost_text;
use tenter_results::NoteCode;

use crate::command::arguments::{TextFormat, Validate};
use crate::command::exit::ExitCode;
use crate::command::fabric_line::{counted, parts};
use crate::command::failure::{Failure, print, print_tables, problem};
use crate::command::source;

pub(crate) fn validate(arguments: &Validate) -> Result<ExitCode, Failure> {
    let (valid, mut notes, cost) = arguments.allowance.within(|budget| {
        let valid = source::read(&arguments.scenario, budget)?;
        // A scenario is valid only if it can be built, so that is tried as well.
        let checked = valid.checked(budget)?;
        let (notes, cost) = (checked.notes(budget)?, checked.cost(budget)?);
        Ok((valid, notes, cost))
    })?;
    let plan = valid.resolved();
    let collectives: usize = plan.jobs.iter().map(|job| job.sequence.len()).sum();
    let parts = parts(plan);
    // Notes of the scenario's own were printed when it was read.
    notes.retain(|note| note.code != NoteCode::Scenario);
    if arguments.format == TextFormat::Json {
        let warnings = valid.warnings().problems().iter();
        let document = json!({
            "valid": true,
            "fabric": parts,
            "jobs": plan.jobs.len(),
            "collectives": collectives,
            "warnings": warnings.map(problem).collect::<Vec<_>>(),
            "cost": cost,
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
    print_tables(&cost_text(&cost));
    Ok(ExitCode::SUCCESS)
}
