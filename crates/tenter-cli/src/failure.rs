//! How a command ends that could not do what it was asked, and the one place that writes to the
//! terminal.

use std::io::Write;
use std::process::ExitCode;

/// The exit code where something other than the input is at fault.
pub(crate) const DEFECT: u8 = 3;

/// Why a command failed: text for a person, and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// The input is at fault: scenario, flag, file.
    pub(crate) fn input(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            code: 2,
        }
    }

    /// Something else is: a full disk, a defect.
    pub(crate) fn other(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            code: DEFECT,
        }
    }

    pub(crate) fn report(self) -> ExitCode {
        let message = self.message.trim_end();
        let prefix = if message.starts_with("error") {
            ""
        } else {
            "error: "
        };
        say(&format!("{prefix}{message}\n"));
        ExitCode::from(self.code)
    }
}

/// Writes to standard output. A reader that has gone away (`tenter … | head`) is no error.
pub(crate) fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Writes to standard error.
pub(crate) fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
