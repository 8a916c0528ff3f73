//! Measurement files that are compared with trials.

use std::fs;
use std::path::{Path, PathBuf};

use tenter::report::{Measured, collective_of_program};

use crate::command::failure::Failure;
use crate::command::folders::short_names;

/// Longest file that is read, in bytes.
const BYTES_MAX: u64 = 64 << 20;

/// Reads measurement files. A table with several operations gives one result for each.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Vec<Measured>, Failure> {
    let mut all = Vec::new();
    for (path, name) in paths.iter().zip(short_names(paths)) {
        all.extend(read_one(path, &name)?);
    }
    Ok(all)
}

/// Reads one file, called `name` in tables.
fn read_one(path: &Path, name: &str) -> Result<Vec<Measured>, Failure> {
    let place = path.display();
    let unreadable = |error: std::io::Error| {
        Failure::input(format!(
            "cannot read {place}: {error}; name a log of nccl-tests, JSON of perftest, or a table of your own"
        ))
    };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    // The length is checked before the file is read into memory.
    if metadata.len() > BYTES_MAX {
        return Err(Failure::input(format!(
            "{place} is longer than any file of measurements; name one of at most 64 MiB"
        )));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    Measured::parse(name, &String::from_utf8_lossy(&bytes))
        .map_err(|error| Failure::input(format!("{place}: {error}")))
}

/// Translates a user's collective name from nccl-tests' words to those in scenarios.
pub(crate) fn collective(named: Option<&str>) -> Option<String> {
    named.map(|name| collective_of_program(name).unwrap_or(name).to_owned())
}
