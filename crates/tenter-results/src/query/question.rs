//! Questions: queries whose table and columns are known.

use super::condition::Condition;
use super::expression::Expression;
use crate::column::ColumnInfo;
use crate::statistic::Statistic;

/// A query whose table and columns are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub(super) table: &'static str,
    /// Columns that are read, each once.
    pub(super) columns: Vec<Asked>,
    pub(super) values: Vec<NamedValue>,
    pub(super) aggregates: Vec<Aggregate>,
    pub(super) condition: Option<Condition>,
    /// Indices into `columns`, in order.
    pub(super) by: Vec<usize>,
}

/// A column that the query reads.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) from: From,
    /// Index among its table's columns.
    pub(super) place: usize,
    pub(super) info: ColumnInfo,
}

/// Table in which a column is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// The table that the row itself is in.
    Row,
    /// A table that owns the row, as index into `looked_up::OWNERS`.
    Owner(usize),
}

/// A value that the query returns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedValue {
    /// The value as the query writes it.
    pub(super) text: String,
    pub(super) unit: String,
    /// Expression whose leaves are indices into `aggregates`.
    pub(super) value: Expression,
}

/// A statistic over a group's rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Aggregate {
    pub(super) statistic: Statistic,
    /// Expression whose leaves are indices into `columns`; `None` counts rows.
    pub(super) of: Option<Expression>,
    pub(super) condition: Option<Condition>,
}

impl Query {
    /// Returns the table that the query asks.
    pub fn table(&self) -> &'static str {
        self.table
    }

    /// Returns the first value's unit; empty if it has none.
    pub fn unit(&self) -> &str {
        self.values.first().map_or("", |value| &value.unit)
    }

    /// Checks that the query returns one number for a trial.
    ///
    /// # Errors
    /// The excess in the query, and a remedy.
    pub fn check_is_number(&self) -> Result<(), &'static str> {
        if self.values.len() > 1 {
            return Err("asks for several values; write a query of its own for each");
        }
        if !self.by.is_empty() {
            return Err("asks for groups; choose one with `where` in place of `by`");
        }
        Ok(())
    }
}

/// Units at the end of column names that a query may leave out.
const UNITS: [&str; 12] = [
    "_ns",
    "_ps",
    "_s",
    "_bytes",
    "_bits",
    "_frames",
    "_periods",
    "_percent",
    "_gbytes_per_s",
    "_gbps",
    "_w",
    "_j",
];

/// Finds a column by name, which may lack the unit at its end; `None` if there is none.
///
/// # Errors
/// All candidates, if a name without its unit fits several.
pub(super) fn place(columns: &[ColumnInfo], name: &str) -> Result<Option<usize>, String> {
    if let Some(place) = columns.iter().position(|column| column.name == name) {
        return Ok(Some(place));
    }
    let is_but_for_unit = |column: &ColumnInfo| {
        let unit = column.name.strip_prefix(name);
        unit.is_some_and(|unit| UNITS.contains(&unit))
    };
    let places = (0..columns.len()).filter(|place| is_but_for_unit(&columns[*place]));
    match places.collect::<Vec<_>>().as_slice() {
        [] => Ok(None),
        [place] => Ok(Some(*place)),
        several => {
            let names = several
                .iter()
                .map(|place| format!("`{}`", columns[*place].name));
            let names = names.collect::<Vec<_>>().join(" or ");
            Err(format!("`{name}` may be {names}; write which"))
        }
    }
}
