//! What is wrong with a file, and where.

use std::fmt;

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a text, from 1.
    Line(usize),
    /// A byte of a binary file, from 0.
    Byte(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(formatter, "line {line}"),
            Place::Byte(byte) => write!(formatter, "byte {byte}"),
        }
    }
}

/// What is wrong where in a file, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}; {remedy}")]
pub struct ImportError {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

impl ImportError {
    pub(crate) fn new(place: Place, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        ImportError {
            place,
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// Of a message whose remedy stands behind its last semicolon.
    pub(crate) fn of(place: Place, error: impl fmt::Display) -> Self {
        let text = error.to_string();
        let (what, remedy) = text
            .rsplit_once("; ")
            .unwrap_or((&text, "correct the file"));
        ImportError::new(place, what, remedy)
    }
}
