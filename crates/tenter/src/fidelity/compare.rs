//! Runs one scenario at packet level and at flow level.

use crate::explain::{FidelityClass, LevelErrors};
use tenter_language::units::Time;
use tenter_results::CollectiveRow;

use crate::{Error, Run, Scenario, Trial};

/// One scenario's trial at packet level and its trial at flow level.
#[derive(Debug)]
pub struct BothLevels {
    /// The trial at packet level.
    pub packets: Trial,
    /// The trial at flow level.
    pub flows: Trial,
}

/// Runs a scenario at both levels, in memory, each on at most `threads` threads.
///
/// # Errors
/// When the scenario is invalid, flow level cannot simulate it, or a run fails.
pub fn compare_levels(scenario: &Scenario, threads: u16) -> Result<BothLevels, Error> {
    let at = |level: &str| -> Result<Trial, Error> {
        let setting = format!("engine.fidelity={level}");
        let plan = scenario.clone().with_setting(setting).resolve()?;
        Run::new(&plan).threads(threads).run()
    };
    // Flow level first: it refuses at once what it cannot simulate, before the long run with
    // packets.
    let flows = at("flow")?;
    Ok(BothLevels {
        packets: at("packet")?,
        flows,
    })
}

impl BothLevels {
    /// Class to which the scenario belongs in the table of flow level's errors.
    pub fn class(&self) -> FidelityClass {
        FidelityClass::of(self.packets.plan().resolved())
    }

    /// Returns the errors that flow level makes against packet level, in percent, for measured jobs
    /// and their measured collectives. Jobs and collectives that did not end at both levels are
    /// left out.
    pub fn errors(&self) -> LevelErrors {
        let [packets, flows] = [&self.packets, &self.flows].map(|trial| &trial.summary().jobs);
        let mut errors = LevelErrors::default();
        let under_test = packets
            .iter()
            .zip(flows)
            .filter(|(job, _)| !job.job.background);
        for (packets, flows) in under_test {
            // To extend by an option skips what did not end at both levels.
            errors.jct.extend(error(packets.job.jct, flows.job.jct));
            let rows = packets.collectives.iter().zip(&flows.collectives);
            for (packets, flows) in rows.filter(|(row, _)| !row.warm_up) {
                let of =
                    |time: fn(&CollectiveRow) -> Option<Time>| error(time(packets), time(flows));
                errors.fct_p50.extend(of(|row| row.fct_p50));
                errors.fct_p99.extend(of(|row| row.fct_p99));
            }
        }
        errors
    }
}

/// Returns the relative error of `flows` against `packets`, in percent; `None` without two times,
/// or if `packets` is 0.
fn error(packets: Option<Time>, flows: Option<Time>) -> Option<f64> {
    let (packets, flows) = (packets.filter(|time| !time.is_zero())?, flows?);
    Some(100.0 * (flows.as_ns() / packets.as_ns() - 1.0))
}
