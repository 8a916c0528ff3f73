//! `tenter import`: what other systems are configured with, as part of a scenario.

use std::fmt::Write as _;

use tenter_formats::import_sonic;

use crate::arguments::{Import, ImportCommand, ImportFormat, ImportSonic};
use crate::exit::ExitCode;
use crate::failure::{Failure, print, say};

pub(crate) fn import(arguments: &Import) -> Result<ExitCode, Failure> {
    match &arguments.command {
        ImportCommand::Sonic(arguments) => sonic(arguments),
    }
}

fn sonic(arguments: &ImportSonic) -> Result<ExitCode, Failure> {
    let text = tenter::read_text(&arguments.file)?;
    let name = arguments.file.display().to_string();
    let fragment = import_sonic(&text, &name, arguments.port.as_deref())
        .map_err(|problems| Failure::input(problems.render()))?;
    let mut warnings = String::new();
    for warning in &fragment.warnings {
        let _ = writeln!(warnings, "warning: {warning}");
    }
    say(&warnings);
    print(&match arguments.format {
        ImportFormat::Yaml => fragment.yaml(),
        ImportFormat::Json => fragment.json(),
        ImportFormat::Override => fragment.as_override(),
    });
    Ok(ExitCode::SUCCESS)
}
