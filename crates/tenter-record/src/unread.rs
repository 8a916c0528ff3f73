//! Counters that nobody has read.
//!
//! A simulated node counts everything. A real one lacks some counters, and may be out of reach:
//! what it would have counted is unknown, and not 0.

/// Which counters of a row were not read, by the names of their columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread(Vec<&'static str>);

impl Unread {
    /// None of these counters was read.
    pub fn all(columns: impl IntoIterator<Item = &'static str>) -> Unread {
        Unread(columns.into_iter().collect())
    }

    /// Whether the counter of a column was read.
    pub fn lacks(&self, column: &str) -> bool {
        self.0.contains(&column)
    }

    /// The counter of a column was not read.
    pub fn add(&mut self, column: &'static str) {
        if !self.lacks(column) {
            self.0.push(column);
        }
    }

    /// The counter of a column was read after all.
    pub fn remove(&mut self, column: &str) {
        self.0.retain(|other| *other != column);
    }

    /// Whether all counters were read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
