//! Counters from files, put into a trial that has been measured.

use std::path::Path;

use tenter::Scenario;
use tenter_record::EngineKind;
use tenter_report::{CONFIG_FILE, read_counts, read_summary, replace_counts};
use tenter_sim::real_time::RealBooks;

use super::difference::measured;
use super::files;
use super::keys::SwitchKeys;
use crate::error::LabError;

/// Puts the counters of two folders, of before and after a trial, into its tables; what a reader
/// must know, which its summary says from now on, too.
///
/// # Errors
/// When a folder cannot be read or is not understood, or the trial cannot be written.
pub fn add_counters(
    switches: &[SwitchKeys],
    trial: &Path,
    before: &Path,
    after: &Path,
) -> Result<Vec<String>, LabError> {
    if switches.is_empty() {
        return Err(LabError::Input(
            "the lab file has no `switches`: list them with their `ports`".to_owned(),
        ));
    }
    let before = files::read(switches, before)?;
    let after = files::read(switches, after)?;
    let mut counts = read_counts(trial).map_err(tenter::Error::from)?;
    let node = |name: &str| {
        let own = counts.ports.iter().filter(|port| port.node_name == name);
        let node = own.clone().next()?.node;
        Some((node, own.count() as u16))
    };
    let found = measured(switches, &before, &after, node);
    let plan = Scenario::read(trial.join(CONFIG_FILE))?.resolve()?;
    let books = RealBooks::new(plan.resolved())?;
    let mut summary = read_summary(trial).map_err(tenter::Error::from)?;
    if summary.engine.engine != EngineKind::Lab {
        return Err(LabError::Input(format!(
            "`{}` was simulated; name a trial that `tenter lab run` has measured",
            trial.display()
        )));
    }
    books.replace(&mut counts, &mut summary.totals, &found.ports);
    let is_of_switch = |warning: &String| {
        let mut names = switches
            .iter()
            .map(|keys| format!("switch `{}`", keys.name));
        names.any(|name| warning.contains(&name))
    };
    summary.warnings.retain(|warning| !is_of_switch(warning));
    summary.warnings.extend(found.warnings.iter().cloned());
    replace_counts(trial, &counts, &summary).map_err(tenter::Error::from)?;
    Ok(found.warnings)
}
