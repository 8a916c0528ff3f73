//! A column of many rows as one array, wherever the rows are: in memory, or in a file.

use std::borrow::Cow;

use crate::column::{Cell, Column, Kind, Names};

/// The values of a column, one for each row; where a row has none, any.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValues {
    /// For [`Kind::Integer`].
    Integer(Vec<i64>),
    /// For [`Kind::Unsigned`].
    Unsigned(Vec<u64>),
    /// For [`Kind::Float`].
    Float(Vec<f64>),
    /// For [`Kind::Text`].
    Text(Vec<String>),
    /// For [`Kind::Flag`].
    Flag(Vec<bool>),
}

/// A column of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnArray {
    /// The values.
    pub values: ColumnValues,
    /// Which rows have one; all of them where this is missing.
    pub valid: Option<Vec<bool>>,
}

impl ColumnArray {
    /// The column of rows in memory.
    pub fn of<R>(column: &Column<R>, rows: &[R], names: &Names) -> ColumnArray {
        let cells = rows.iter().map(|row| (column.cell)(row, names));
        ColumnArray::of_cells(column.kind, cells)
    }

    /// The column of these values; one of another kind counts as missing.
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
            valid: (!is_full).then_some(valid),
        }
    }

    /// The number of its rows.
    pub fn len(&self) -> usize {
        match &self.values {
            ColumnValues::Integer(values) => values.len(),
            ColumnValues::Unsigned(values) => values.len(),
            ColumnValues::Float(values) => values.len(),
            ColumnValues::Text(values) => values.len(),
            ColumnValues::Flag(values) => values.len(),
        }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the rows of another array of the same column.
    pub fn append(&mut self, other: &ColumnArray) {
        let before = self.len();
        if self.valid.is_some() || other.valid.is_some() {
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

    /// The value of a row.
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
    /// The value as files of text have it; empty where there is none.
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
