//! The remedy for a file that another import reads.

use std::io::Read as _;
use std::path::Path;

use tenter_formats::{LIKELY_HEAD, likely_format};

/// Returns the remedy for a file that was read as `kind` and begins as another format does.
pub fn other_format(file: &Path, kind: &str) -> Option<String> {
    let mut head = Vec::new();
    let opened = std::fs::File::open(file).ok()?;
    let mut opened = opened.take(LIKELY_HEAD as u64);
    opened.read_to_end(&mut head).ok()?;
    let likely = likely_format(&head).filter(|&likely| likely != kind)?;
    Some(format!(
        "it begins as a file of `{likely}` does: import it as `{likely}`"
    ))
}
