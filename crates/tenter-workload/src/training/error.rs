//! Why a training cannot be.

/// Why a training cannot be: the key that is wrong, what is, and what would fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` {what}; {remedy}")]
pub struct TrainingError {
    /// The key.
    pub key: &'static str,
    /// What is wrong with it.
    pub what: String,
    /// What would fit.
    pub remedy: String,
}
