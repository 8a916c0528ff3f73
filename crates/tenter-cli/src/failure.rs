//! How a command ends that could not do what it was asked, and the one place that writes to the
//! terminal.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

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

/// Why standard output did not take what was printed.
static LOST: Mutex<Option<String>> = Mutex::new(None);

/// Writes to standard output. A reader that has gone away (`tenter … | head`) is no error; a full
/// disk is one, which [`lost_output`] tells of at the end.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let mut lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
            lost.get_or_insert_with(|| error.to_string());
        }
        _ => {}
    }
}

/// The failure of standard output, if it has not taken everything.
pub(crate) fn lost_output() -> Option<Failure> {
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    Some(Failure::input(format!(
        "cannot write to standard output: {lost}; free some space, or send the output elsewhere"
    )))
}

/// Writes to standard error.
pub(crate) fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
