//! What the readings of a sweep find in a trial.

use tenter_report::Tiers;
use tenter_study::{ReadingKeys, Sweep};

use crate::Trial;

/// The values of the readings of a trial, by what they read.
pub(super) fn read(sweep: &Sweep, trial: &Trial) -> Vec<(String, Option<f64>)> {
    let readings = sweep.keys.readings.iter();
    let identities = readings.map(ReadingKeys::identity);
    identities
        .zip(read_trial(&sweep.keys.readings, trial))
        .collect()
}

/// The values of readings of a trial; nothing where no row has one, or was kept.
pub fn read_trial(readings: &[ReadingKeys], trial: &Trial) -> Vec<Option<f64>> {
    let names = trial.names();
    let counts = trial.counts();
    let tiers = Tiers::of(&counts.ports, &counts.switches).rows(&counts.ports);
    let tables = tenter_study::Tables {
        summary: trial.summary(),
        counts,
        flows: trial.flows(),
        samples: trial.samples(),
        tiers: &tiers,
        names: &names,
    };
    let values = readings.iter().map(|reading| reading.read(tables));
    values.collect()
}
