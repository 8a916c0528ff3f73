//! The answers of studies on disk.

use std::fs;
use std::path::Path;

use tenter_study::Answers;

use crate::TrialError;

/// The file in the output folder of studies, beside the trial folders.
pub const ANSWERS_FILE: &str = "studies.json";

/// The file of the same kind in the folder of a sweep.
pub const SWEEP_FILE: &str = "sweep.json";

/// The file in which a sweep notes its trials while they run.
pub const LEDGER_FILE: &str = "ledger.sqlite";

/// The answers in the output folder of studies or of a sweep; `None` if the folder has none.
///
/// # Errors
/// When the file cannot be read, or is damaged or of another version.
pub fn read_answers(folder: &Path) -> Result<Option<Answers>, TrialError> {
    let files = [ANSWERS_FILE, SWEEP_FILE].map(|file| folder.join(file));
    let Some(path) = files.into_iter().find(|path| path.is_file()) else {
        return Ok(None);
    };
    let text = fs::read_to_string(&path).map_err(TrialError::io("read", &path))?;
    let answers = serde_json::from_str(&text);
    answers
        .map(Some)
        .map_err(|source| TrialError::Content { path, source })
}
