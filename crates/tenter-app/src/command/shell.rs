//! Shell completions and manual pages, both generated from the arguments.

use std::fs;
use std::path::Path;

use clap::CommandFactory as _;

use crate::command::arguments::Arguments;
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print};

/// Prints the completions for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "tenter", &mut script);
    print(&String::from_utf8_lossy(&script));
    ExitCode::SUCCESS
}

/// Writes a manual page for each command: `tenter.1`, `tenter-run.1` and so on.
pub(crate) fn manual(folder: &Path) -> Result<ExitCode, Failure> {
    let written = fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
    written.map_err(|error| {
        let folder = folder.display();
        Failure::input(format!(
            "cannot write manual pages into {folder}: {error}; name another folder"
        ))
    })?;
    print(&format!("{}\n", folder.join("tenter.1").display()));
    Ok(ExitCode::SUCCESS)
}
