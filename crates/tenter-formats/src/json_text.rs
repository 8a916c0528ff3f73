//! Files that are JSON as a whole.

use serde_json::Value;

use crate::error::{ImportError, Place};

/// What a file holds.
///
/// # Errors
/// A file that is no JSON, with its line.
pub(crate) fn parsed(bytes: &[u8], remedy: &str) -> Result<Value, ImportError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let what = format!("this is no JSON ({error})");
        ImportError::new(Place::Line(error.line().max(1)), what, remedy)
    })
}
