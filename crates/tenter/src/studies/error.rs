//! Errors in a study's files.

/// Error in a study, with the file at fault and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StudyError {
    /// The description `study.yaml`, or the scenario that it names, is invalid.
    #[error("{folder}/study.yaml: {message}")]
    Description {
        /// Study folder, as messages show it.
        folder: String,
        /// The problem, and what remedies it.
        message: String,
    },
    /// A table with published values or expectations is invalid, or lacks what the study asks for.
    #[error("{}{}: {message}", super::registry::file_of(table), line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Published {
        /// Table name: the file without `.csv`.
        table: String,
        /// Line at fault, counted from 1; `None` if the whole table is.
        line: Option<u64>,
        /// The problem, and what remedies it.
        message: String,
    },
}
