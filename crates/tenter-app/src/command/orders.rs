//! `tenter run-orders`: the process that runs the trials of sweeps, studies and the page.

use std::ffi::OsString;
use std::io;
use std::sync::OnceLock;

use tenter::{TrialProgram, carry_out_orders};

use crate::command::exit::ExitCode;
use crate::command::failure::Failure;

/// Name of the subcommand, which `tenter` calls itself.
const COMMAND: &str = "run-orders";

/// This program, if it is `tenter`; a program that has this library runs trials itself.
static PROGRAM: OnceLock<TrialProgram> = OnceLock::new();

/// Notes that this program is `tenter`.
pub(crate) fn is_own_program() {
    if let Ok(own) = TrialProgram::own(vec![OsString::from(COMMAND)]) {
        // A second call would note the same.
        let _ = PROGRAM.set(own);
    }
}

/// Returns the program whose processes run trials.
pub(crate) fn program() -> Option<TrialProgram> {
    PROGRAM.get().cloned()
}

/// Runs the trials that standard input orders.
pub(crate) fn run_orders() -> Result<ExitCode, Failure> {
    // Ctrl-C in a terminal reaches all processes, and the program above decides what it means.
    let _ = ctrlc::set_handler(|| ());
    match carry_out_orders() {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Failure::input(format!(
            "standard input has no order: {error}; `tenter sweep` and `tenter ui` call this command"
        ))),
        Err(error) => Err(Failure::other(format!(
            "the process cannot run trials: {error}"
        ))),
    }
}
