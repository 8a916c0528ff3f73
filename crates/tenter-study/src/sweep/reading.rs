//! What a sweep reads of a trial.

use tenter_record::{FlowRow, Held, Row as _, SampleRow};

use super::keys::ReadingKeys;
use crate::NumberQuery;

impl ReadingKeys {
    /// Whether its query holds.
    pub(super) fn check(&self) -> Result<(), String> {
        let query = self.query.parse::<NumberQuery>();
        let of_reading = |what| format!("the reading `{}`: {what}", self.name);
        query.map(drop).map_err(of_reading)
    }

    fn query(&self) -> Option<NumberQuery> {
        self.query.parse().ok()
    }

    /// Whether it looks at flows one by one.
    pub fn is_of_flows(&self) -> bool {
        self.query()
            .is_some_and(|query| query.table() == FlowRow::TABLE)
    }

    /// Whether it looks at samples.
    pub fn is_of_samples(&self) -> bool {
        self.query()
            .is_some_and(|query| query.table() == SampleRow::TABLE)
    }

    /// The unit of its value; empty where it has none.
    pub fn unit(&self) -> String {
        self.query()
            .map_or_else(String::new, |query| query.unit().to_owned())
    }

    /// The value of a trial; nothing where no row has one.
    pub fn read(&self, trial: Held<'_>) -> Option<f64> {
        self.query()?.of(trial)
    }
}
