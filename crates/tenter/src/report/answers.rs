//! Answers of studies and sweeps on disk.

use std::path::Path;

use crate::studies::Answers;

use crate::report::TrialError;
use crate::report::own_file::{has_own, read_own_text};

/// Answer file in the output folder of studies, beside the trial folders.
pub const ANSWERS_FILE: &str = "studies.json";

/// Answer file in a sweep's folder.
pub(crate) const SWEEP_FILE: &str = "sweep.json";

/// Reads the answers in the output folder of studies or of a sweep; `None` if it has none.
///
/// # Errors
/// If the file cannot be read, is damaged, or is from another version.
pub fn read_answers(folder: &Path) -> Result<Option<Answers>, TrialError> {
    let files = [ANSWERS_FILE, SWEEP_FILE].map(|file| folder.join(file));
    let Some(path) = files.into_iter().find(|path| has_own(path)) else {
        return Ok(None);
    };
    let text = read_own_text(&path).map_err(TrialError::io("read", &path))?;
    let answers = serde_json::from_str(&text);
    answers
        .map(Some)
        .map_err(|source| TrialError::Content { path, source })
}
