//! Tells when trial folders changed.

use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::report::MANIFEST_FILE;

/// Returns the time at which a trial's manifest changed, in ns since 1970; 1 if it cannot be read.
pub(super) fn stamp(folder: &Path) -> i64 {
    let changed =
        std::fs::symlink_metadata(folder.join(MANIFEST_FILE)).and_then(|of| of.modified());
    let since = changed
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    // Not 0, which marks trials that the workspace runs itself.
    since.map_or(1, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}
