//! The answer to a query.

use std::cmp::Ordering;

use crate::column::{Cell, Kind};

/// An answer: a row for each group, in the order of the columns of `by`; a single row without
/// them.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The columns of `by`.
    pub keys: Vec<AnswerColumn>,
    /// The values that were asked for.
    pub values: Vec<AnswerColumn>,
    /// The groups.
    pub rows: Vec<AnswerRow>,
}

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerColumn {
    /// The name of a column, or a value as it was asked for.
    pub name: String,
    /// The kind of its cells.
    pub kind: Kind,
    /// Its unit; empty where it has none.
    pub unit: String,
}

/// A group of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    /// Its value in each column of `by`.
    pub key: Vec<KeyCell>,
    /// Its values; nothing where no row has one.
    pub values: Vec<Option<f64>>,
}

/// A value of a column of `by`.
#[derive(Clone, Debug)]
pub enum KeyCell {
    /// No value.
    Missing,
    /// For [`Kind::Flag`].
    Flag(bool),
    /// For [`Kind::Integer`].
    Integer(i64),
    /// For [`Kind::Unsigned`].
    Unsigned(u64),
    /// For [`Kind::Float`].
    Float(f64),
    /// For [`Kind::Text`].
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

    /// As a cell of a table.
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
