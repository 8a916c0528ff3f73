//! Answers that queries return, row by row.

use std::cmp::Ordering;

use crate::column::{Cell, Kind};

/// Answer to a query: a row for each group, ordered by the columns in `by`; a single row without
/// `by`.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Columns in `by`, in their order.
    pub keys: Vec<AnswerColumn>,
    /// Requested values, in their order.
    pub values: Vec<AnswerColumn>,
    /// Groups, ascending by their keys.
    pub rows: Vec<AnswerRow>,
}

/// Name, type and unit in an answer's column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerColumn {
    /// A table column's name, or a value as the query writes it.
    pub name: String,
    /// Type that the column's cells have.
    pub kind: Kind,
    /// Unit in which values are; empty if they have none.
    pub unit: String,
}

/// A group with equal keys.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    /// The group's value in each `by` column.
    pub key: Vec<KeyCell>,
    /// The group's values; `None` if no row has one.
    pub values: Vec<Option<f64>>,
}

/// Value in a `by` column, ordered and comparable.
#[derive(Clone, Debug)]
pub enum KeyCell {
    /// No value; comes first in the order.
    Missing,
    /// Value in a column with [`Kind::Flag`].
    Flag(bool),
    /// Value in a column with [`Kind::Integer`].
    Integer(i64),
    /// Value in a column with [`Kind::Unsigned`].
    Unsigned(u64),
    /// Value in a column with [`Kind::Float`].
    Float(f64),
    /// Value in a column with [`Kind::Text`].
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
