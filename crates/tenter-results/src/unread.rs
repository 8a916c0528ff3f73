//! Counters that were not read.
//!
//! A simulated node counts everything. A real one lacks some counters or may be out of reach; then
//! a counter is unknown, which is not 0.

/// A row's counters that were not read, by column name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread(Vec<&'static str>);

impl Unread {
    /// Marks all `columns` as not read.
    pub fn all(columns: impl IntoIterator<Item = &'static str>) -> Unread {
        Unread(columns.into_iter().collect())
    }

    /// Returns true if `column`'s counter was not read.
    pub fn lacks(&self, column: &str) -> bool {
        self.0.contains(&column)
    }

    /// Marks `column`'s counter as not read.
    pub fn add(&mut self, column: &'static str) {
        if !self.lacks(column) {
            self.0.push(column);
        }
    }

    /// Marks `column`'s counter as read after all.
    pub fn remove(&mut self, column: &str) {
        self.0.retain(|other| *other != column);
    }

    /// Returns true if all counters were read.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
