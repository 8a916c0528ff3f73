//! Queries that ask a trial for one number.

use std::str::FromStr;

use serde::Deserialize;
use tenter_results::{Held, Query, Statistic};

/// A [`Query`] that was checked to ask for one number, not for a table of groups.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct NumberQuery(Query);

impl NumberQuery {
    /// Returns the table that the query reads.
    pub fn table(&self) -> &'static str {
        self.0.table()
    }

    /// Returns the number's unit; empty if it has none.
    pub fn unit(&self) -> &str {
        self.0.unit()
    }

    /// Evaluates the query on a trial; `None` if no row has a value.
    pub fn of(&self, trial: Held<'_>) -> Option<f64> {
        self.0.number(&trial)
    }

    /// Returns the query's statistic if the query is one statistic over a column expression, such
    /// as `p99(flows.fct_ns)`: only then can several seeds' rows be pooled.
    pub(crate) fn pooled(&self) -> Option<Statistic> {
        self.0.pooled()
    }

    /// Returns the rows' values, to which the statistic would be applied.
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
