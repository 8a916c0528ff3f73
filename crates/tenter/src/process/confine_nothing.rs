//! Systems other than Linux confine nothing.

use std::io;
use std::path::Path;

#[expect(clippy::unnecessary_wraps, reason = "Linux can fail")]
pub(super) fn process() -> io::Result<()> {
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "Linux can fail")]
pub(super) fn trial(_: Option<&Path>, _: Option<u64>) -> io::Result<()> {
    Ok(())
}

/// Lists the limits that this system does not enforce on trials in processes of their own, for
/// people; empty if it enforces all.
pub fn confinement_gaps() -> Vec<String> {
    vec!["trials are not confined: Landlock and seccomp are parts of Linux".to_owned()]
}
