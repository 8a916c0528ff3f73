//! Checksums of a trial's files, by which later damage is found.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use crate::report::own_file::open_own;
use crate::report::trial_files::{MANIFEST_FILE, TRACE_FILE, own_files};

/// Length and checksum of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSum {
    /// Length in bytes.
    pub bytes: u64,
    /// CRC-32 of the bytes, as of gzip and PNG.
    pub crc32: u32,
}

impl FileSum {
    /// Reads a file, without following a link, and returns its sum.
    pub(crate) fn of(path: &Path) -> io::Result<FileSum> {
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
