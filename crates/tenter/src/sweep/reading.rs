//! Reads numbers from trials.

use crate::studies::NumberQuery;
use tenter_results::{Held, Names};

use crate::Trial;

/// Evaluates each query on `trial`; `None` if no row has a value, or the run did not keep the rows.
pub fn read_trial(queries: &[NumberQuery], trial: &Trial) -> Vec<Option<f64>> {
    let names = trial.names();
    let held = held(trial, &names);
    queries.iter().map(|query| query.of(held)).collect()
}

pub(super) fn held<'t>(trial: &'t Trial, names: &'t Names) -> Held<'t> {
    Held {
        results: trial.results(),
        names,
    }
}
