//! Snapshots that a user has saved: a folder with a folder for each switch, and any texts in these.

use std::fs;
use std::path::Path;

use super::collect::SwitchShown;
use super::keys::SwitchKeys;
use super::snapshot::Snapshot;
use super::text;
use crate::error::LabError;

/// No file of counters is longer.
const BYTES_MAX: u64 = 64 << 20;

/// The snapshots of all switches in a folder; of one without a folder of its own there is none.
///
/// # Errors
/// When a folder or file cannot be read, or is not understood: the switch, the file and the line.
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
