//! Values of published rows and of trials.

use serde::{Deserialize, Serialize};

/// A published or measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number in the unit that the metric's name ends with.
    Number(f64),
    /// Several numbers as the source writes them, for instance `4+5+3+4`.
    Text(String),
}

impl Value {
    /// A value as a field of a table has it; nothing where the field is empty.
    pub fn read(text: &str) -> Option<Value> {
        match text.parse() {
            Ok(number) => Some(Value::Number(number)),
            Err(_) => (!text.is_empty()).then(|| Value::Text(text.to_owned())),
        }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(_) => None,
        }
    }
}

/// What was read of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TrialValue {
    /// A value.
    One(Value),
    /// A number for each row that a pooled query asks.
    Several(Vec<f64>),
}

impl TrialValue {
    /// The number, if it is one.
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
