//! A query that asks for one number of a trial.

use std::str::FromStr;

use serde::Deserialize;
use tenter_record::{Held, Query, Statistic};

/// A query that asks for one number of a trial.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct NumberQuery(Query);

impl NumberQuery {
    /// The table that it asks.
    pub fn table(&self) -> &'static str {
        self.0.table()
    }

    /// The unit of the number; empty where it has none.
    pub fn unit(&self) -> &str {
        self.0.unit()
    }

    /// The number; nothing where no row has a value.
    pub fn of(&self, trial: Held<'_>) -> Option<f64> {
        self.0.number(&trial)
    }

    /// The statistic that the query is, where it is a single one of an expression of columns.
    pub(crate) fn pooled(&self) -> Option<Statistic> {
        self.0.pooled()
    }

    /// The values of which that statistic makes the number.
    pub(crate) fn each(&self, trial: Held<'_>) -> Vec<f64> {
        self.0.each(&trial)
    }
}

impl FromStr for NumberQuery {
    type Err = String;

    fn from_str(text: &str) -> Result<NumberQuery, String> {
        let query: Query = text.parse().map_err(|problem| format!("{problem}"))?;
        let is_number = query.check_is_number();
        is_number.map_err(|what| format!("the query `{text}` {what}"))?;
        Ok(NumberQuery(query))
    }
}

impl TryFrom<String> for NumberQuery {
    type Error = String;

    fn try_from(text: String) -> Result<NumberQuery, String> {
        text.parse()
    }
}
