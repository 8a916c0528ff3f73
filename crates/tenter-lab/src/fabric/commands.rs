//! Calls to system programs, with what they say when they fail.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::error::LabError;

/// Runs a program, and returns its standard output.
///
/// # Errors
/// Returns [`LabError::Command`] if it cannot be started or fails.
pub(super) fn run(program: &str, arguments: &[&str]) -> Result<String, LabError> {
    run_with(program, arguments, "")
}

/// Does as [`run`], with `input` on the program's standard input.
pub(super) fn run_with(program: &str, arguments: &[&str], input: &str) -> Result<String, LabError> {
    let command = || format!("{program} {}", arguments.join(" "));
    let failed = |answer: String| LabError::Command {
        command: command(),
        answer,
    };
    let started = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = started.map_err(|error| failed(error.to_string()))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends before it has read everything reports the reason itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child
        .wait_with_output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(failed(if said.is_empty() {
            output.status.to_string()
        } else {
            said
        }));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
