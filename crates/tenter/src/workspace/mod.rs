//! A workspace: a folder of trials that people name, tag and annotate, with a queue of those that
//! wait to be run.
//!
//! The ledger of the folder is that of [sweeps](crate::SweepRun). Several processes may use it at
//! once: a server that runs what waits, and commands that list, tag and remove.

mod edit;
mod find;
mod headline;
mod list;
mod queue;
mod stamp;
mod sweeps;
mod swept;
mod trial;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tenter_report::below;
use tenter_units::Limits;

use crate::Error;
use crate::sweep::ledger::Ledger;

pub use list::{TrialList, TrialOrderKey, TrialQuery};
pub use queue::QueuedTrial;
pub use sweeps::{WorkspaceSweep, sweep_of};
pub use trial::{Headline, TrialState, WorkspaceTrial};

/// The folder of trials with its ledger.
#[derive(Debug)]
pub struct Workspace {
    ledger: Mutex<Ledger>,
    folder: PathBuf,
    /// Whether its trials lie anywhere, at the places that this process has given.
    is_given: bool,
}

impl Workspace {
    /// Opens the workspace of a folder, which is made if it is missing. Trials of processes that
    /// are gone are noted as interrupted.
    ///
    /// # Errors
    /// When the folder or its ledger cannot be made or read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Workspace, Error> {
        let folder = folder.as_ref();
        let ledger = Ledger::open(folder)?;
        let workspace = Workspace {
            ledger: Mutex::new(ledger),
            // Links in a request's way would lead elsewhere later.
            folder: folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
            is_given: false,
        };
        workspace.interrupt_lost()?;
        workspace.renew_headlines()?;
        Ok(workspace)
    }

    /// A workspace of these trials, wherever their folders are, that leaves nothing behind. Each
    /// has a name; their numbers count from 1 in this order. What is asked of a report is answered
    /// by it as by a workspace on disk. The scenario of each may take what `limits` say.
    ///
    /// # Errors
    /// When the ledger cannot be made in memory.
    pub fn of_trials<'t>(
        trials: impl IntoIterator<Item = (&'t str, &'t Path)>,
        limits: Limits,
    ) -> Result<Workspace, Error> {
        let workspace = Workspace {
            ledger: Mutex::new(Ledger::in_memory()?),
            folder: PathBuf::new(),
            is_given: true,
        };
        for (name, folder) in trials {
            workspace.add_given(name, folder, limits)?;
        }
        Ok(workspace)
    }

    /// Where trials are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of a trial or a sweep, by its name in the ledger. The ledger may come from a
    /// stranger with the folder: a name that leads out of the workspace, or by way of a link, has
    /// none, and the reason.
    fn folder_of(&self, relative: Option<&str>) -> (Option<PathBuf>, Option<String>) {
        if self.is_given {
            return (relative.map(PathBuf::from), None);
        }
        let found = relative.map(|name| (name, below(&self.folder, Path::new(name))));
        match found {
            None => (None, None),
            Some((_, Ok(path))) => (Some(path), None),
            Some((name, Err(why))) => (None, Some(format!("its folder {name}: {why}"))),
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That there is no such trial.
fn unknown(id: i64) -> Error {
    Error::Asked(format!(
        "there is no trial {id}; `tenter trials list` names those that there are"
    ))
}
