//! Single table values as JSON and CSV.

use serde_json::{Number, Value};
use tenter_results::Cell;

/// Converts a cell to JSON. Unsigned 64-bit values become strings, because a browser would round
/// numbers beyond 2⁵³.
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

/// Formats a cell as a CSV field, quoted where needed.
pub(crate) fn text(cell: Cell<'_>) -> String {
    tenter::report::csv_field(&cell.to_text()).into_owned()
}
