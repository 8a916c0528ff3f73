//! Single values of tables.

use serde_json::{Number, Value};
use tenter_record::Cell;

/// A value as JSON. Whole numbers of 64 bits are texts, as a browser would round them.
pub(crate) fn value(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Integer(value) => value.into(),
        Cell::Unsigned(value) => value.to_string().into(),
        Cell::Float(value) => Number::from_f64(value).map_or(Value::Null, Value::Number),
        Cell::Flag(value) => value.into(),
        Cell::Text(text) => text.into(),
        Cell::Missing => Value::Null,
    }
}

/// A value as comma-separated values have it.
pub(crate) fn text(cell: Cell<'_>) -> String {
    tenter_report::csv_field(&cell.to_text()).into_owned()
}
