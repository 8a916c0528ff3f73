//! Files that are JSON as a whole.

use serde_json::Value;

use crate::error::{ImportError, Place};

/// A file has so many values,
const VALUES: usize = 1 << 22;
/// and so many more for each byte that it has as it is stored: compressed traces unpack to some
/// fifty bytes for each.
const VALUES_PER_BYTE: usize = 4;

/// What a file holds, which has so many bytes as it is stored.
///
/// # Errors
/// A file that is no JSON, with its line and column, and one with more values than files of its
/// length have.
pub(crate) fn parsed(bytes: &[u8], stored: usize, remedy: &str) -> Result<Value, ImportError> {
    let most = VALUES.saturating_add(stored.saturating_mul(VALUES_PER_BYTE));
    if let Some(byte) = beyond(bytes, most) {
        let what = format!("{most} values are in front of this, and more follow");
        return Err(ImportError::new(
            Place::Byte(byte),
            what,
            "give a part of it",
        ));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let what = format!("this is no JSON ({error})");
        ImportError::new(place(&error), what, remedy)
    })
}

/// Where JSON is damaged: its line, or its byte in the first line, which may be all of it.
pub(crate) fn place(error: &serde_json::Error) -> Place {
    match error.line() {
        0 | 1 => Place::Byte(error.column().saturating_sub(1)),
        line => Place::Line(line),
    }
}

/// The byte behind so many values: each of them has a comma, a colon or a bracket in front of it,
/// and texts may have some, too.
fn beyond(bytes: &[u8], most: usize) -> Option<usize> {
    let is_mark = |(_, byte): &(usize, &u8)| matches!(byte, b',' | b':' | b'[' | b'{');
    let mut marks = bytes.iter().enumerate().filter(is_mark);
    marks.nth(most).map(|(place, _)| place)
}
