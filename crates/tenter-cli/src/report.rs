//! `tenter report`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use tenter_report::{TrialData, binary_size, html_report};

use crate::arguments::Report;
use crate::failure::{Failure, say};

pub(crate) fn report(arguments: &Report) -> Result<ExitCode, Failure> {
    let trials = read(&arguments.trials)?;
    let page = html_report(&trials);
    write(&arguments.output, &page)?;
    say(&format!(
        "report   {} ({})\n",
        arguments.output.display(),
        binary_size(page.len() as u64)
    ));
    Ok(ExitCode::SUCCESS)
}

/// The trials in these folders.
pub(crate) fn read(folders: &[impl AsRef<Path>]) -> Result<Vec<TrialData>, Failure> {
    let read =
        |folder: &Path| TrialData::read(folder).map_err(|error| Failure::input(error.to_string()));
    folders.iter().map(|folder| read(folder.as_ref())).collect()
}

/// Writes a file, in folders that are made where they are missing.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let made = parent.map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, text)).map_err(|error| {
        Failure::input(format!(
            "cannot write {}: {error}; name another file with -o",
            path.display()
        ))
    })
}
