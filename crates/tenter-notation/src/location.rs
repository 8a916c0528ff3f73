//! Places in texts.

/// A stretch of one source: the scenario file (source 0) or the text of an override (1, 2, …).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Which text.
    pub source: usize,
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
}

/// One text that was read, and what to call it in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What messages call it.
    pub name: String,
    /// The whole text.
    pub text: String,
}
