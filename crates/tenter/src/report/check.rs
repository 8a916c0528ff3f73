//! Checks the files of a trial against the sums in its manifest.

use std::path::Path;

use crate::report::checksum::FileSum;
use crate::report::read::read_manifest;

/// Result of checking a trial's files against their sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Soundness {
    /// Files that are as they were written.
    pub sound: usize,
    /// Each damaged or missing file, with what is wrong; or the manifest, if it cannot be read.
    pub damaged: Vec<String>,
    /// True if there is nothing to check against: the trial has not ended, or an earlier version
    /// ran it.
    pub is_unknown: bool,
}

/// Checks a trial's files against the sums in its manifest.
pub fn check_files(folder: &Path) -> Soundness {
    let mut found = Soundness::default();
    let manifest = match read_manifest(folder) {
        Ok(manifest) => manifest,
        Err(error) => {
            found.damaged.push(error.to_string());
            return found;
        }
    };
    found.is_unknown = manifest.files.is_empty();
    for (name, written) in &manifest.files {
        match FileSum::of(&folder.join(name)) {
            Ok(now) if now == *written => found.sound += 1,
            Ok(now) if now.bytes != written.bytes => found.damaged.push(format!(
                "{name} has {} bytes, and had {}",
                now.bytes, written.bytes
            )),
            Ok(_) => found
                .damaged
                .push(format!("{name} has other bytes than were written")),
            Err(error) => found.damaged.push(format!("{name}: {error}")),
        }
    }
    found
}
