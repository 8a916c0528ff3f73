//! One scenario at both levels.

use tenter_explain::{FidelityClass, LevelErrors};
use tenter_record::CollectiveRow;
use tenter_units::Time;

use crate::{Error, Run, Scenario, Trial};

/// A trial at packet level and the same at flow level.
#[derive(Debug)]
pub struct BothLevels {
    /// With packets.
    pub packets: Trial,
    /// With flows.
    pub flows: Trial,
}

/// Runs a scenario at both levels, in memory.
///
/// # Errors
/// When the scenario does not hold, cannot be simulated at flow level, or a run fails.
pub fn compare_levels(scenario: &Scenario, threads: u16) -> Result<BothLevels, Error> {
    let at = |level: &str| -> Result<Trial, Error> {
        let setting = format!("engine.fidelity={level}");
        let plan = scenario.clone().with_setting(setting).resolve()?;
        Run::new(&plan).threads(threads).run()
    };
    // Flow level refuses in no time what it cannot say.
    let flows = at("flow")?;
    Ok(BothLevels {
        packets: at("packet")?,
        flows,
    })
}

impl BothLevels {
    /// The class of the scenario.
    pub fn class(&self) -> FidelityClass {
        FidelityClass::of(self.packets.plan().resolved())
    }

    /// By how much flow level is off; of what has ended at both levels.
    pub fn errors(&self) -> LevelErrors {
        let [packets, flows] = [&self.packets, &self.flows].map(|trial| &trial.summary().jobs);
        let mut errors = LevelErrors::default();
        let under_test = packets
            .iter()
            .zip(flows)
            .filter(|(job, _)| !job.job.background);
        for (packets, flows) in under_test {
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

/// By how many percent the second is off.
fn error(packets: Option<Time>, flows: Option<Time>) -> Option<f64> {
    let (packets, flows) = (packets.filter(|time| !time.is_zero())?, flows?);
    Some(100.0 * (flows.as_ns() / packets.as_ns() - 1.0))
}
