//! Locations in source texts, for problems.

/// A byte range in one source: the scenario file (source 0) or an override's text (1, 2, …).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Number of the source text.
    pub source: usize,
    /// First byte of the range.
    pub start: usize,
    /// Byte behind the last one.
    pub end: usize,
}

/// A text that was read, with its name for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name in messages, such as the file's.
    pub name: String,
    /// The whole text as it was read.
    pub text: String,
}
