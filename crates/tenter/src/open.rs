//! Trials out of their folders.

use std::path::Path;
use std::sync::Arc;

use tenter_explain::UnloadedTimes;
use tenter_report::{TrialData, read_counts, read_rows, read_summary};
use tenter_units::Budget;

use crate::trial::Watched;
use crate::{Error, Scenario, Trial};

/// A trial of a folder as reports show it, with what its chunks take without other traffic. A trial
/// of an earlier version, whose scenario cannot be resolved any more, is shown without that.
///
/// # Errors
/// When it is not a trial folder, the trial was killed before it could finish, a file is damaged,
/// or its scenario would take more than the budget has.
pub fn read_for_report(folder: impl AsRef<Path>, budget: &Budget) -> Result<TrialData, Error> {
    let folder = folder.as_ref();
    let mut trial = TrialData::read(folder)?.with_operations()?;
    let unloaded = || -> Result<UnloadedTimes, Error> {
        let plan = Scenario::of_trial(folder)?.resolve_within(budget)?;
        Ok(UnloadedTimes::new(plan.resolved().clone(), budget)?)
    };
    trial.unloaded = match unloaded() {
        Ok(unloaded) => Some(Arc::new(unloaded)),
        Err(error) if budget.refused().is_some() => return Err(error),
        Err(_) => None,
    };
    Ok(trial)
}

impl Trial {
    /// Reads a trial from its folder, with all of its tables.
    ///
    /// # Errors
    /// When a file is missing or damaged, or is of another version, or its scenario would take more
    /// than the budget has.
    pub fn open(folder: impl AsRef<Path>, budget: &Budget) -> Result<Trial, Error> {
        let folder = folder.as_ref();
        Ok(Trial {
            flows: read_rows(folder)?,
            samples: read_rows(folder)?,
            ..Trial::open_without_rows(folder, budget)?
        })
    }

    /// The same without its flows and samples, which take most of the memory.
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
