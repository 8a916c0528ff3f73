//! Values that rows publish and trials measure.

use serde::{Deserialize, Serialize};

/// A published or measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number, in the unit with which the metric's name ends.
    Number(f64),
    /// Several numbers in the source's notation, for instance `4+5+3+4`.
    Text(String),
}

impl Value {
    /// Reads a table field: a number, or else a text; `None` if the field is empty.
    pub fn read(text: &str) -> Option<Value> {
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Some(Value::Number(number)),
            _ => (!text.is_empty()).then(|| Value::Text(text.to_owned())),
        }
    }

    /// Returns the number; `None` for a text.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(_) => None,
        }
    }
}

/// The value that a reading read from one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TrialValue {
    /// A single value: a number or a text.
    One(Value),
    /// A number for each row that a pooled query selects; a statistic over all seeds follows later.
    Several(Vec<f64>),
}

impl TrialValue {
    /// Returns the number; `None` for a text and for pooled values.
    pub fn number(&self) -> Option<f64> {
        match self {
            TrialValue::One(value) => value.number(),
            TrialValue::Several(_) => None,
        }
    }
}

impl From<f64> for TrialValue {
    fn from(number: f64) -> TrialValue {
        TrialValue::One(Value::Number(number))
    }
}
