//! Import errors: the mistake, its place in the file, and a remedy.

use std::fmt;

use tenter_language::notation::decode::split_remedy;

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line in a text, from 1.
    Line(usize),
    /// Byte in a binary file, from 0.
    Byte(usize),
    /// Row in a binary table, from 1.
    Row(usize),
    /// A value in a JSON, which the message names by its path from the top: a parsed JSON no longer
    /// knows its lines.
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

/// An error in a file: its place, the mistake, and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{place}: {what}; {remedy}", in_front(file.as_deref()))]
pub struct ImportError {
    /// The file's name, if a reader has several.
    pub file: Option<String>,
    /// Line, byte, row or value at which reading stopped.
    pub place: Place,
    /// The mistake, without full stop.
    pub what: String,
    /// The remedy, as an imperative clause.
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

    /// Names the file, unless the error names one already.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> ImportError {
        // The innermost reader knows best which file it was.
        self.file.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Makes the error for a file that cannot be read; `why` has the reason and the remedy.
    pub fn unreadable(why: String) -> Self {
        ImportError {
            file: None,
            place: Place::Byte(0),
            what: "the file cannot be read".to_owned(),
            remedy: why,
        }
    }

    /// Makes the error for an empty file.
    pub(crate) fn nothing(remedy: &str) -> Self {
        ImportError::new(Place::Line(1), "there is nothing in it", remedy)
    }

    /// Makes an error from one of another crate, whose text may have a remedy after a semicolon.
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

/// A mistake and its remedy, before its place is known.
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

    /// Puts the faulty item's name, such as `node 3`, in front.
    #[must_use]
    pub(crate) fn of(mut self, name: &str) -> Wrong {
        self.what = format!("{name}: {}", self.what);
        self
    }

    pub(crate) fn at(self, place: Place) -> ImportError {
        ImportError::new(place, self.what, self.remedy)
    }
}

/// Returns the text before the place: the file name and a colon, if there is one.
fn in_front(file: Option<&str>) -> String {
    file.map_or_else(String::new, |file| format!("{file}: "))
}
