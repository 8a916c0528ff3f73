//! Checksums of a trial's files, by which later damage is found.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use crate::own_file::open_own;
use crate::read::read_manifest;
use crate::trial_files::{MANIFEST_FILE, TRACE_FILE, own_files};

/// Length and checksum of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSum {
    /// Length in bytes.
    pub bytes: u64,
    /// CRC-32 of the bytes, as of gzip and PNG.
    pub crc32: u32,
}

impl FileSum {
    fn of(path: &Path) -> io::Result<FileSum> {
        let mut file = open_own(path)?;
        let (mut sum, mut bytes) = (Hasher::new(), 0);
        let mut piece = vec![0; 1 << 16];
        loop {
            let count = file.read(&mut piece)?;
            if count == 0 {
                let crc32 = sum.finalize();
                return Ok(FileSum { bytes, crc32 });
            }
            sum.update(&piece[..count]);
            bytes += count as u64;
        }
    }
}

/// Returns the sums of a trial's files, by name, without those that may be written later: the
/// manifest and the trace.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn sums(folder: &Path) -> io::Result<BTreeMap<String, FileSum>> {
    let mut sums = BTreeMap::new();
    for path in own_files(folder) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == MANIFEST_FILE || name == TRACE_FILE || !path.is_file() {
            continue;
        }
        sums.insert(name.into_owned(), FileSum::of(&path)?);
    }
    Ok(sums)
}

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
