//! The answers of studies on disk.

use std::fs;
use std::path::Path;

use tenter_study::Answers;

use crate::TrialError;

/// The file that the output folder of studies has beside the trial folders.
pub const ANSWERS_FILE: &str = "studies.json";

/// The answers in the output folder of studies; `None` where the folder has none.
///
/// # Errors
/// When the file cannot be read, or is damaged or of another version.
pub fn read_answers(folder: &Path) -> Result<Option<Answers>, TrialError> {
    let path = folder.join(ANSWERS_FILE);
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(TrialError::io("read", &path))?;
    let answers = serde_json::from_str(&text);
    answers
        .map(Some)
        .map_err(|source| TrialError::Content { path, source })
}
