//! A trial on the terminal: its progress, its failures and its exit code.

use tenter::{Error, Run, Summary, Trial};
use tenter_record::StopKind;

use crate::exit::ExitCode;
use crate::failure::{Failure, say};
use crate::progress::Terminal;

/// Runs it with its progress on the terminal; the trial, and why its files or its further runs are
/// not whole.
pub(crate) fn carry_out(
    run: Run,
    terminal: &mut Terminal,
) -> Result<(Trial, Option<Failure>), Failure> {
    match run.observe(terminal).run() {
        Ok(trial) => Ok((trial, None)),
        Err(Error::NotWritten { trial, source }) => {
            Ok((*trial, Some(Failure::other(source.to_string()))))
        }
        Err(Error::NotMeasured { trial, source }) => Ok((*trial, Some(Failure::of_run(*source)))),
        Err(error) => Err(Failure::of_run(error)),
    }
}

/// What a command that ran this trial and nothing else ends with.
pub(crate) fn exit_code(summary: &Summary) -> ExitCode {
    if summary.complete {
        ExitCode::SUCCESS
    } else if summary.stopped_by == Some(StopKind::User) {
        ExitCode::INTERRUPTED
    } else {
        ExitCode::NOT_COMPLETE
    }
}

/// Prints why jobs did not come to their end.
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
