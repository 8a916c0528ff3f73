//! Answers to queries.

use std::cmp::Ordering;

use crate::column::{Cell, Kind};

/// Answer to a query: a row for each group, in the order of the columns in `by`; a single row
/// without `by`.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Columns of `by`, in their order.
    pub keys: Vec<AnswerColumn>,
    /// Requested values, in their order.
    pub values: Vec<AnswerColumn>,
    /// Groups, ascending by their keys.
    pub rows: Vec<AnswerRow>,
}

/// Name, type and unit of an answer's column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerColumn {
    /// Name of a table's column, or a value as the query writes it.
    pub name: String,
    /// Type of the column's cells.
    pub kind: Kind,
    /// Unit of the values; empty if they have none.
    pub unit: String,
}

/// One group of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    /// The group's value in each column of `by`.
    pub key: Vec<KeyCell>,
    /// The group's values; `None` if no row has one.
    pub values: Vec<Option<f64>>,
}

/// Value of a column of `by`, ordered and comparable.
#[derive(Clone, Debug)]
pub enum KeyCell {
    /// No value; comes first in the order.
    Missing,
    /// Value of a column of [`Kind::Flag`].
    Flag(bool),
    /// Value of a column of [`Kind::Integer`].
    Integer(i64),
    /// Value of a column of [`Kind::Unsigned`].
    Unsigned(u64),
    /// Value of a column of [`Kind::Float`].
    Float(f64),
    /// Value of a column of [`Kind::Text`].
    Text(String),
}

impl KeyCell {
    pub(super) fn of(cell: Cell<'_>) -> KeyCell {
        match cell {
            Cell::Missing => KeyCell::Missing,
            Cell::Flag(value) => KeyCell::Flag(value),
            Cell::Integer(value) => KeyCell::Integer(value),
            Cell::Unsigned(value) => KeyCell::Unsigned(value),
            Cell::Float(value) => KeyCell::Float(value),
            Cell::Text(text) => KeyCell::Text(text.to_owned()),
        }
    }

    /// Returns the value as a table's cell.
    pub fn cell(&self) -> Cell<'_> {
        match self {
            KeyCell::Missing => Cell::Missing,
            KeyCell::Flag(value) => Cell::Flag(*value),
            KeyCell::Integer(value) => Cell::Integer(*value),
            KeyCell::Unsigned(value) => Cell::Unsigned(*value),
            KeyCell::Float(value) => Cell::Float(*value),
            KeyCell::Text(text) => Cell::Text(text),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            KeyCell::Missing => 0,
            KeyCell::Flag(_) => 1,
            KeyCell::Integer(_) => 2,
            KeyCell::Unsigned(_) => 3,
            KeyCell::Float(_) => 4,
            KeyCell::Text(_) => 5,
        }
    }
}

impl Ord for KeyCell {
    fn cmp(&self, other: &KeyCell) -> Ordering {
        match (self, other) {
            (KeyCell::Flag(a), KeyCell::Flag(b)) => a.cmp(b),
            (KeyCell::Integer(a), KeyCell::Integer(b)) => a.cmp(b),
            (KeyCell::Unsigned(a), KeyCell::Unsigned(b)) => a.cmp(b),
            (KeyCell::Float(a), KeyCell::Float(b)) => a.total_cmp(b),
            (KeyCell::Text(a), KeyCell::Text(b)) => a.cmp(b),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }
}

impl PartialOrd for KeyCell {
    fn partial_cmp(&self, other: &KeyCell) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for KeyCell {
    fn eq(&self, other: &KeyCell) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for KeyCell {}
