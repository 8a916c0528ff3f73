//! A question that holds.

use super::condition::Condition;
use super::expression::Expression;
use crate::column::ColumnInfo;
use crate::statistic::Statistic;

/// A question that holds: its table and its columns are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub(super) table: &'static str,
    /// The columns that are read, each once.
    pub(super) columns: Vec<Asked>,
    pub(super) values: Vec<NamedValue>,
    pub(super) aggregates: Vec<Aggregate>,
    pub(super) condition: Option<Condition>,
    /// Places in `columns`.
    pub(super) by: Vec<usize>,
}

/// A column that is read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) from: From,
    /// Its place in the row of its table.
    pub(super) place: usize,
    pub(super) info: ColumnInfo,
}

/// Whose column it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// That of the row itself.
    Row,
    /// That of something that the row belongs to: the place among `looked_up::OWNERS`.
    Owner(usize),
}

/// A value that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedValue {
    /// As it was written.
    pub(super) text: String,
    pub(super) unit: String,
    /// Its leaves are places in `aggregates`.
    pub(super) value: Expression,
}

/// A statistic of rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Aggregate {
    pub(super) statistic: Statistic,
    /// Its leaves are places in `columns`; where there is none, rows are counted.
    pub(super) of: Option<Expression>,
    pub(super) condition: Option<Condition>,
}

impl Query {
    /// The table that it asks.
    pub fn table(&self) -> &'static str {
        self.table
    }

    /// The unit of its first value; empty where it has none.
    pub fn unit(&self) -> &str {
        self.values.first().map_or("", |value| &value.unit)
    }

    /// Whether it asks for one number of a trial.
    ///
    /// # Errors
    /// What else it asks for, and what to do.
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

/// How names of columns may end with their unit.
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

/// The place of a column of that name, which may lack the unit at its end; nothing where there is
/// none.
///
/// # Errors
/// The columns that it may be, where they are several.
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
