//! Reads trials back from their folders.

use std::path::Path;
use std::sync::Arc;

use crate::explain::UnloadedTimes;
use crate::report::{TrialData, read_counts, read_rows, read_summary};
use tenter_language::units::Budget;

use crate::trial::Watched;
use crate::{Error, Scenario, Trial};

/// Reads the trial in `folder` as reports show it, with the flows' unloaded times. A trial whose
/// scenario no longer resolves, because an earlier version wrote it, comes without unloaded times.
///
/// # Errors
/// When `folder` is no trial folder, the trial was killed before it finished, a file is damaged, or
/// resolving the scenario would take more than `budget` has.
pub fn read_for_report(folder: impl AsRef<Path>, budget: &Budget) -> Result<TrialData, Error> {
    let folder = folder.as_ref();
    let mut trial = TrialData::read(folder)?.with_operations()?;
    let unloaded = || -> Result<UnloadedTimes, Error> {
        let plan = Scenario::of_trial(folder)?.resolve_within(budget)?;
        Ok(UnloadedTimes::new(plan.resolved().clone(), budget)?)
    };
    trial.unloaded = match unloaded() {
        Ok(unloaded) => Some(Arc::new(unloaded)),
        // A budget is for the caller to raise; every other error costs the unloaded times alone.
        Err(error) if budget.refused().is_some() => return Err(error),
        Err(_) => None,
    };
    Ok(trial)
}

impl Trial {
    /// Reads the trial in `folder` with all its tables; the scenario is resolved within `budget`.
    ///
    /// # Errors
    /// When a file is missing, damaged or from another version, or resolving the scenario would
    /// take more than `budget` has.
    pub fn open(folder: impl AsRef<Path>, budget: &Budget) -> Result<Trial, Error> {
        let folder = folder.as_ref();
        Ok(Trial {
            flows: read_rows(folder)?,
            samples: read_rows(folder)?,
            ..Trial::open_without_rows(folder, budget)?
        })
    }

    /// Reads the trial in `folder` without its flows and samples, which take most of the memory.
    ///
    /// # Errors
    /// As [`Trial::open`].
    pub fn open_without_rows(folder: impl AsRef<Path>, budget: &Budget) -> Result<Trial, Error> {
        let folder = folder.as_ref();
        let plan = Scenario::of_trial(folder)?.resolve_within(budget)?;
        Ok(Trial {
            plan,
            summary: read_summary(folder)?,
            counts: read_counts(folder)?,
            folder: Some(folder.to_owned()),
            flows: Vec::new(),
            samples: Vec::new(),
            watched: Watched::default(),
        })
    }
}
