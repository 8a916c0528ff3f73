//! The command `tenter`. Everything it does is in the library beside this file.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tenter_app::command::run_program(std::env::args_os()))
}
