//! What the readings of a sweep find in a trial.

use tenter_record::{Held, Names};
use tenter_study::NumberQuery;

use crate::Trial;

/// The numbers of a trial that are asked for; nothing where no row has one, or was kept.
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
