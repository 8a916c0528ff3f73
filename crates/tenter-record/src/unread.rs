//! Counters that nobody has read.
//!
//! A simulated node counts everything. A real one lacks some counters, and may be out of reach: what
//! it would have counted is unknown, and not 0.

use crate::column::{Cell, Value};

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

/// Whether a column has the mark of those that may lack a value.
pub(crate) const fn is_marked(marks: &[&str]) -> bool {
    !marks.is_empty()
}

/// The value of a column, if it was read.
#[inline]
pub(crate) fn cell<'a, T: Value>(unread: &[&Unread], column: &str, value: &'a T) -> Cell<'a> {
    if unread.iter().any(|unread| unread.lacks(column)) {
        return Cell::Missing;
    }
    value.cell()
}

#[cfg(test)]
mod tests {
    use crate::column::{Cell, Names, Row};
    use crate::rows::PortRow;

    #[test]
    fn a_counter_that_was_not_read_is_missing() {
        let mut row = PortRow::default();
        row.unread.add("dropped_frames");
        row.unread.add("dropped_frames");
        let value = |row: &PortRow, name: &str| {
            let mut columns = PortRow::COLUMNS.iter();
            let column = columns.find(|column| column.name == name);
            let column = column.expect("it is one");
            assert!(column.optional && column.may_be_unread);
            (column.cell)(row, &Names::default()).integer()
        };
        assert_eq!(value(&row, "dropped_frames"), None);
        assert_eq!(value(&row, "tx_frames"), Some(0));
        let text = serde_json::to_string(&row).expect("a row");
        assert!(text.contains("\"dropped_frames\":null"), "{text}");
        let mut missing = 0;
        row.cells(|cell| missing += usize::from(cell == Cell::Missing));
        let never = PortRow::default();
        never.cells(|cell| missing -= usize::from(cell == Cell::Missing));
        assert_eq!(missing, 1);
        row.unread.remove("dropped_frames");
        assert_eq!(row, never);
    }
}
