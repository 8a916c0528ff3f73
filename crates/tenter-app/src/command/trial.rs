//! A trial on the terminal: its progress, its failures and its exit code.

use std::path::Path;

use serde_json::{Value, json};
use tenter::report::NamedSummary;
use tenter::{Error, Run, Summary, Trial};
use tenter_results::StopKind;

use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, say};
use crate::command::progress::Terminal;

/// Runs a trial with its progress on the terminal. The failure, if any, says why files or further
/// runs are incomplete although the trial itself has run.
pub(crate) fn carry_out(
    run: Run,
    terminal: &mut Terminal,
) -> Result<(Trial, Option<Failure>), Failure> {
    match run.observe(terminal).run() {
        Ok(trial) => Ok((trial, None)),
        // The trial has run, so its results are shown even though files are missing.
        Err(Error::NotWritten { trial, source }) => {
            Ok((*trial, Some(Failure::other(source.to_string()))))
        }
        Err(Error::NotMeasured { trial, source }) => Ok((*trial, Some(Failure::of_run(*source)))),
        Err(error) => Err(Failure::of_run(error)),
    }
}

/// Returns a trial's identity and notes as JSON.
pub(crate) fn described(trial: &NamedSummary, folder: &Path) -> Value {
    json!({
        "trial": trial.name,
        "path": folder.display().to_string(),
        "scenario": trial.summary.scenario,
        "seed": trial.summary.seed,
        "complete": trial.summary.complete,
        "digest": trial.summary.engine.digest,
        "notes": *trial.summary.notes,
    })
}

/// Returns a warning for an incomplete trial, since its numbers do not show it.
pub(crate) fn incomplete(trial: &NamedSummary) -> Option<String> {
    let reason = trial.summary.stopped.as_deref();
    (!trial.summary.complete).then(|| {
        format!(
            "warning: {} is not complete: {}",
            trial.name,
            reason.unwrap_or("a job was not completed")
        )
    })
}

/// Returns the exit code for a command that ran only this trial.
pub(crate) fn exit_code(summary: &Summary) -> ExitCode {
    if summary.complete {
        ExitCode::SUCCESS
    } else if summary.stopped_by == Some(StopKind::User) {
        ExitCode::INTERRUPTED
    } else {
        ExitCode::NOT_COMPLETE
    }
}

/// Prints why jobs did not finish.
pub(crate) fn say_failures(summary: &Summary, with_reason: bool) {
    if let Some(stopped) = &summary.stopped
        && summary.stopped_by == Some(StopKind::User)
    {
        say(&format!("{stopped}: the trial is partial\n"));
        return;
    }
    for job in &summary.jobs {
        if let Some(failure) = &job.job.failure {
            let reason = if with_reason {
                format!(": {failure}")
            } else {
                String::new()
            };
            say(&format!(
                "error: job `{}` was not completed{reason}\n",
                job.job.name
            ));
        }
    }
}
