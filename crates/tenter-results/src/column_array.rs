//! A column over many rows as one array, in memory or read from a file.

use std::borrow::Cow;

use crate::column::{Cell, Column, Kind, Names};

/// A column's values, one per row; rows without a value have an arbitrary one.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValues {
    /// Values in a column with [`Kind::Integer`].
    Integer(Vec<i64>),
    /// Values in a column with [`Kind::Unsigned`].
    Unsigned(Vec<u64>),
    /// Values in a column with [`Kind::Float`].
    Float(Vec<f64>),
    /// Values in a column with [`Kind::Text`].
    Text(Vec<String>),
    /// Values in a column with [`Kind::Flag`].
    Flag(Vec<bool>),
}

/// One column over several rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnArray {
    /// Values by row, also for rows without one.
    pub values: ColumnValues,
    /// For each row, true if it has a value; `None` if all have one.
    pub valid: Option<Vec<bool>>,
}

impl ColumnArray {
    /// Collects a column from rows in memory.
    pub fn of<R>(column: &Column<R>, rows: &[R], names: &Names) -> ColumnArray {
        let cells = rows.iter().map(|row| (column.cell)(row, names));
        ColumnArray::of_cells(column.kind, cells)
    }

    /// Collects cells into a `kind` column; cells with another kind count as missing.
    pub fn of_cells<'a>(kind: Kind, cells: impl Iterator<Item = Cell<'a>>) -> ColumnArray {
        macro_rules! values {
            ($values:ident, $take:expr) => {{
                let (values, valid) = cells.map($take).map(or_any).unzip();
                (ColumnValues::$values(values), valid)
            }};
        }
        let (values, valid): (_, Vec<bool>) = match kind {
            Kind::Integer => values!(Integer, Cell::integer),
            Kind::Unsigned => values!(Unsigned, Cell::unsigned),
            Kind::Float => values!(Float, Cell::float),
            Kind::Text => values!(Text, |cell| cell.text().map(str::to_owned)),
            Kind::Flag => values!(Flag, Cell::flag),
        };
        let is_full = valid.iter().all(|there| *there);
        ColumnArray {
            values,
            // Most columns are full; without a list they need less memory and no test per cell.
            valid: (!is_full).then_some(valid),
        }
    }

    /// Returns how many rows there are.
    pub fn len(&self) -> usize {
        match &self.values {
            ColumnValues::Integer(values) => values.len(),
            ColumnValues::Unsigned(values) => values.len(),
            ColumnValues::Float(values) => values.len(),
            ColumnValues::Text(values) => values.len(),
            ColumnValues::Flag(values) => values.len(),
        }
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends another array's rows to this one; both are the same column.
    pub fn append(&mut self, other: &ColumnArray) {
        let before = self.len();
        if self.valid.is_some() || other.valid.is_some() {
            // Without a list all rows so far have values.
            let valid = self.valid.get_or_insert_with(|| vec![true; before]);
            match &other.valid {
                Some(more) => valid.extend(more),
                None => valid.resize(before + other.len(), true),
            }
        }
        match (&mut self.values, &other.values) {
            (ColumnValues::Integer(values), ColumnValues::Integer(more)) => values.extend(more),
            (ColumnValues::Unsigned(values), ColumnValues::Unsigned(more)) => values.extend(more),
            (ColumnValues::Float(values), ColumnValues::Float(more)) => values.extend(more),
            (ColumnValues::Text(values), ColumnValues::Text(more)) => {
                values.extend_from_slice(more);
            }
            (ColumnValues::Flag(values), ColumnValues::Flag(more)) => values.extend(more),
            _ => debug_assert!(false, "arrays of one column hold the same kind"),
        }
    }

    /// Returns one row's value; panics beyond the last row.
    pub fn cell(&self, row: usize) -> Cell<'_> {
        if self.valid.as_ref().is_some_and(|valid| !valid[row]) {
            return Cell::Missing;
        }
        match &self.values {
            ColumnValues::Integer(values) => Cell::Integer(values[row]),
            ColumnValues::Unsigned(values) => Cell::Unsigned(values[row]),
            ColumnValues::Float(values) => Cell::Float(values[row]),
            ColumnValues::Text(values) => Cell::Text(&values[row]),
            ColumnValues::Flag(values) => Cell::Flag(values[row]),
        }
    }
}

fn or_any<T: Default>(value: Option<T>) -> (T, bool) {
    let is_there = value.is_some();
    (value.unwrap_or_default(), is_there)
}

impl<'a> Cell<'a> {
    /// Returns the value as text files write it; empty if it is missing.
    pub fn to_text(self) -> Cow<'a, str> {
        match self {
            Cell::Text(text) => text.into(),
            Cell::Flag(flag) => flag.to_string().into(),
            Cell::Integer(value) => value.to_string().into(),
            Cell::Unsigned(value) => value.to_string().into(),
            Cell::Float(value) => value.to_string().into(),
            Cell::Missing => "".into(),
        }
    }
}
