//! Snapshots that a user has saved: in a folder, one folder per switch, with texts under any names.

use std::fs;
use std::path::Path;

use super::collect::SwitchShown;
use super::keys::SwitchKeys;
use super::snapshot::Snapshot;
use super::text;
use crate::error::LabError;

/// Longest file in bytes that is read; no counters take as much.
const BYTES_MAX: u64 = 64 << 20;

/// Reads the snapshots of all switches in `folder`. A switch without a folder there has none.
///
/// # Errors
/// Returns an error if a folder or file cannot be read, or the switch, file and line of a text that
/// is not understood.
pub(super) fn read(switches: &[SwitchKeys], folder: &Path) -> Result<Vec<SwitchShown>, LabError> {
    fs::read_dir(folder).map_err(LabError::file("read", folder))?;
    let shown = switches.iter().map(|keys| {
        let own = folder.join(&keys.name);
        let snapshot = own
            .is_dir()
            .then(|| of_switch(&keys.name, &own))
            .transpose()?;
        Ok(SwitchShown {
            name: keys.name.clone(),
            shown: snapshot.map(Ok),
            refused: Vec::new(),
        })
    });
    shown.collect()
}

fn of_switch(name: &str, folder: &Path) -> Result<Snapshot, LabError> {
    let failed = LabError::file("read", folder);
    let entries: Result<Vec<_>, _> = fs::read_dir(folder).and_then(Iterator::collect);
    let mut paths: Vec<_> = entries
        .map_err(failed)?
        .iter()
        .map(fs::DirEntry::path)
        .collect();
    // Sorted, so that the same file wins on every machine if two have the same counter.
    paths.sort();
    let mut snapshot = Snapshot::default();
    for path in paths.iter().filter(|path| path.is_file()) {
        let length = fs::metadata(path)
            .map_err(LabError::file("read", path))?
            .len();
        if length > BYTES_MAX {
            return Err(LabError::Input(format!(
                "`{}` is longer than any file of counters; give one of at most 64 MiB",
                path.display()
            )));
        }
        let bytes = fs::read(path).map_err(LabError::file("read", path))?;
        let read = text::read(&String::from_utf8_lossy(&bytes));
        let shown = path.display().to_string();
        snapshot.merge(read.map_err(|fault| LabError::Input(fault.of(name, &shown)))?);
    }
    if snapshot.0.is_empty() {
        return Err(LabError::Input(format!(
            "switch `{name}`: there are no counters in `{}`; put output of `show interfaces counters` there, or of gnmic",
            folder.display()
        )));
    }
    Ok(snapshot)
}
