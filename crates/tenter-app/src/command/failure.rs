//! Failures that end commands, and the only place that writes to the terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tenter::report::TrialError;
use tenter::{Diagnostics, Error, Problem};
use tenter_language::units::turns_text;

use crate::command::exit::ExitCode;
use crate::command::paint;

/// Exit code for failures that are not the input's fault.
pub(crate) const DEFECT: u8 = 3;

/// A command's failure: text for people, and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: u8,
    /// Problems in a scenario, one by one.
    problems: Vec<Problem>,
}

impl Failure {
    /// Creates a failure due to the input: scenario, flag or file.
    pub(crate) fn input(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            code: 2,
            problems: Vec::new(),
        }
    }

    /// Creates a failure due to anything else: a full disk, a defect.
    pub(crate) fn other(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            code: DEFECT,
            problems: Vec::new(),
        }
    }

    /// Creates a failure for a file that could not be read or written: due to the input, or to the
    /// disk.
    pub(crate) fn of_trial(error: &TrialError) -> Failure {
        if error.is_of_disk() {
            Failure::other(error.to_string())
        } else {
            Failure::input(error.to_string())
        }
    }

    /// Converts an error in a command that takes `--force`, and suggests it if memory is short.
    pub(crate) fn of_run(error: Error) -> Failure {
        match error {
            Error::Memory { .. } => {
                Failure::input(format!("{error}, and `--force` runs it anyway"))
            }
            error => error.into(),
        }
    }

    /// Creates a failure for an invalid scenario.
    pub(crate) fn of_scenario(problems: &Diagnostics) -> Failure {
        Failure {
            problems: problems.problems().to_vec(),
            ..Failure::input(problems.render())
        }
    }

    /// Adds another remedy to the message, if there is one.
    pub(crate) fn or(mut self, remedy: Option<&str>) -> Failure {
        if let Some(remedy) = remedy {
            self.message = format!("{}; {remedy}\n", self.message.trim_end());
        }
        self
    }

    /// Returns the failure as JSON.
    fn json(&self) -> Value {
        let message = match self.problems.len() {
            0 => self.message.trim_end().to_owned(),
            1 => "the scenario has a problem".to_owned(),
            many => format!("the scenario has {many} problems"),
        };
        json!({
            "error": {
                "message": message,
                "exit_code": self.code,
                "problems": self.problems.iter().map(problem).collect::<Vec<_>>(),
            }
        })
    }

    /// Prints the failure to standard error, and with `as_json` also to standard output, so that a
    /// program always reads one document. Returns the exit code.
    pub(crate) fn report(self, as_json: bool) -> ExitCode {
        if as_json {
            print(&format!("{:#}\n", self.json()));
        }
        let message = self.message.trim_end();
        // Problems of a scenario are rendered with their own "error:".
        let prefix = if message.starts_with("error") {
            ""
        } else {
            "error: "
        };
        say(&format!("{prefix}{message}\n"));
        ExitCode::from(self.code)
    }
}

/// Returns a scenario's problem as editors read it. Lines and columns count from 1; the end is
/// behind the last character.
pub(crate) fn problem(problem: &Problem) -> Value {
    let at = problem.position.as_ref();
    json!({
        "message": problem.message,
        "help": problem.help,
        "source": at.map(|at| &at.source),
        "line": at.map(|at| at.start.0),
        "column": at.map(|at| at.start.1),
        "end_line": at.map(|at| at.end.0),
        "end_column": at.map(|at| at.end.1),
    })
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        if let Error::Scenario(problems) = &error {
            Failure::of_scenario(problems)
        } else if error.is_of_input() {
            Failure::input(error.to_string())
        } else {
            Failure::other(error.to_string())
        }
    }
}

/// Prints notes to standard error, one per line.
pub(crate) fn say_notes(notes: &[String]) {
    for note in notes {
        say(&format!("note: {note}\n"));
    }
}

/// Makes a text safe for terminals: characters that would move the cursor, rename the window or
/// reverse the text direction are escaped. The escapes are those that JSON has, so JSON keeps its
/// meaning.
fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_harmful(character) {
            let _ = write!(out, "\\u{:04x}", u32::from(character));
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// Returns true if a terminal would obey a character instead of showing it: control characters, and
/// marks and overrides of direction.
fn is_harmful(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        other => other.is_control() || turns_text(other),
    }
}

/// First error while writing to standard output.
static LOST: Mutex<Option<String>> = Mutex::new(None);

/// Prints a text with tables to standard output, coloured on a terminal.
pub(crate) fn print_tables(text: &str) {
    out(&paint::tables(&harmless(text)));
}

/// Prints to standard output. A reader that has gone away (`tenter … | head`) is no error. A full
/// disk is one, which [`lost_output`] reports at the end.
pub(crate) fn print(text: &str) {
    out(&harmless(text));
}

fn out(text: &str) {
    let mut out = anstream::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            // A lock that a panic has poisoned still holds a valid text.
            let mut lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
            // The first error is the cause; those that follow repeat it.
            lost.get_or_insert_with(|| error.to_string());
        }
        _ => {}
    }
}

/// Returns a failure if standard output did not take everything.
pub(crate) fn lost_output() -> Option<Failure> {
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    Some(Failure::other(format!(
        "cannot write to standard output: {lost}; free some space, or send the output elsewhere"
    )))
}

/// Prints to standard error. Errors are ignored: nobody could be told.
pub(crate) fn say(text: &str) {
    let text = paint::messages(&harmless(text));
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn a_terminal_is_told_nothing() {
        let text = "a\u{1b}]0;pwn\u{7}b\u{202e}c\u{9b}2J\r\u{7f}";
        let shown = "a\\u001b]0;pwn\\u0007b\\u202ec\\u009b2J\\u000d\\u007f";
        assert_eq!(harmless(text), shown);
    }

    #[test]
    fn what_people_write_stays() {
        let text = "Größe ≤ 4 µs\n\t日本語 \u{1f600}";
        assert_eq!(harmless(text), text);
    }

    #[test]
    fn json_stays_what_it_was() {
        let value = serde_json::json!({"name": "a\u{202e}b"});
        let printed = harmless(&value.to_string()).into_owned();
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&printed).ok(),
            Some(value)
        );
    }
}
