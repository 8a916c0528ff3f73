//! What is wrong with a file, and where.

use std::fmt;

use tenter_notation::decode::split_remedy;

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a text, from 1.
    Line(usize),
    /// A byte of a binary file, from 0.
    Byte(usize),
    /// A row of a binary table, from 1.
    Row(usize),
    /// A value in a JSON, which the message names by its way from the top: once it is read, a JSON
    /// does not tell lines.
    Json,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(formatter, "line {line}"),
            Place::Byte(byte) => write!(formatter, "byte {byte}"),
            Place::Row(row) => write!(formatter, "row {row}"),
            Place::Json => write!(formatter, "in the JSON"),
        }
    }
}

/// What is wrong where in a file, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{place}: {what}; {remedy}", in_front(file.as_deref()))]
pub struct ImportError {
    /// The file, where a reader has several.
    pub file: Option<String>,
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
            file: None,
            place,
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// Says which of several files it is, unless that is known.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> ImportError {
        self.file.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Of a file that cannot be read, with why and what to do.
    pub fn unreadable(why: String) -> Self {
        ImportError {
            file: None,
            place: Place::Byte(0),
            what: "the file cannot be read".to_owned(),
            remedy: why,
        }
    }

    /// Of a file without content.
    pub(crate) fn nothing(remedy: &str) -> Self {
        ImportError::new(Place::Line(1), "there is nothing in it", remedy)
    }

    /// Of an error of another crate.
    pub(crate) fn of(place: Place, error: impl fmt::Display) -> Self {
        let text = error.to_string();
        let (what, remedy) = split_remedy(&text);
        ImportError::new(
            place,
            what,
            remedy.unwrap_or_else(|| "correct the file".to_owned()),
        )
    }
}

/// What is wrong and what to do, while the place is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) what: String,
    pub(crate) remedy: &'static str,
}

impl Wrong {
    pub(crate) fn new(what: impl Into<String>, remedy: &'static str) -> Wrong {
        let what = what.into();
        Wrong { what, remedy }
    }

    /// Says what it is of, such as `node 3`.
    #[must_use]
    pub(crate) fn of(mut self, name: &str) -> Wrong {
        self.what = format!("{name}: {}", self.what);
        self
    }

    pub(crate) fn at(self, place: Place) -> ImportError {
        ImportError::new(place, self.what, self.remedy)
    }
}

/// What stands in front of a place: the file, where it is told.
fn in_front(file: Option<&str>) -> String {
    file.map_or_else(String::new, |file| format!("{file}: "))
}
