//! What can be wrong with a study.

/// Why a study cannot be used: the file at fault and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StudyError {
    /// Its description does not hold.
    #[error("{folder}/study.yaml: {message}")]
    Description {
        /// Its folder.
        folder: String,
        /// What is wrong, and the remedy.
        message: String,
    },
    /// A table of published values or of expectations does not hold.
    #[error("{}{}: {message}", crate::registry::file_of(table), line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Published {
        /// Name of the table.
        table: String,
        /// The line, counted from 1, where one is at fault.
        line: Option<u64>,
        /// What is wrong, and the remedy.
        message: String,
    },
}
