//! Single values of tables.

use serde_json::{Number, Value};
use tenter_report::{ColumnValues, GroupColumn};

/// Whether a row has a value.
pub(crate) fn has(column: &GroupColumn, row: usize) -> bool {
    column.valid.as_ref().is_none_or(|valid| valid[row])
}

/// The number in a row; of a flag 0 or 1.
pub(crate) fn number(column: &GroupColumn, row: usize) -> Option<f64> {
    if !has(column, row) {
        return None;
    }
    match &column.values {
        ColumnValues::Integer(values) => Some(values[row] as f64),
        ColumnValues::Unsigned(values) => Some(values[row] as f64),
        ColumnValues::Float(values) => Some(values[row]),
        ColumnValues::Flag(values) => Some(f64::from(u8::from(values[row]))),
        ColumnValues::Text(_) => None,
    }
}

/// The value in a row as JSON. Whole numbers of 64 bits are texts, as a browser would round them.
pub(crate) fn value(column: &GroupColumn, row: usize) -> Value {
    if !has(column, row) {
        return Value::Null;
    }
    match &column.values {
        ColumnValues::Integer(values) => values[row].into(),
        ColumnValues::Unsigned(values) => values[row].to_string().into(),
        ColumnValues::Float(values) => {
            Number::from_f64(values[row]).map_or(Value::Null, Value::Number)
        }
        ColumnValues::Flag(values) => values[row].into(),
        ColumnValues::Text(values) => values[row].clone().into(),
    }
}

/// The value in a row as comma-separated values have it.
pub(crate) fn text(column: &GroupColumn, row: usize) -> String {
    if !has(column, row) {
        return String::new();
    }
    match &column.values {
        ColumnValues::Integer(values) => values[row].to_string(),
        ColumnValues::Unsigned(values) => values[row].to_string(),
        ColumnValues::Float(values) => values[row].to_string(),
        ColumnValues::Flag(values) => values[row].to_string(),
        ColumnValues::Text(values) => tenter_report::csv_field(&values[row]).into_owned(),
    }
}
