//! Workspaces: folders with trials that people name, tag and annotate, and a queue with trials and
//! sweeps to be run.
//!
//! The folder's ledger is the one that [sweeps](crate::SweepRun) use. Several processes may use it
//! at once: a server that runs what is queued, and commands that list, tag and remove.

mod edit;
mod find;
mod headline;
mod list;
mod queue;
mod repair;
mod stamp;
mod sweeps;
mod swept;
mod trial;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::report::below;
use tenter_language::units::Limits;

use crate::Error;
use crate::sweep::ledger::Ledger;

pub use list::{TrialList, TrialOrderKey, TrialQuery};
pub use queue::QueuedTrial;
pub use repair::Repaired;
pub use sweeps::{WorkspaceSweep, sweep_of};
pub use trial::{Headline, SweptPlace, TrialState, WorkspaceTrial};

/// A folder with trials and their ledger.
#[derive(Debug)]
pub struct Workspace {
    ledger: Mutex<Ledger>,
    folder: PathBuf,
    /// True if trials lie in arbitrary folders that this process has named: no stranger's ledger is
    /// involved.
    is_given: bool,
    /// True if a name, note or tag has changed since the ledger was copied.
    is_edited: AtomicBool,
}

impl Workspace {
    /// Opens the workspace in `folder`, which is made if it is missing. Running trials whose
    /// process is gone become interrupted.
    ///
    /// # Errors
    /// When the folder or its ledger cannot be made or read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Workspace, Error> {
        let folder = folder.as_ref();
        let ledger = Ledger::open(folder)?;
        let workspace = Workspace {
            ledger: Mutex::new(ledger),
            // A link in this path that is changed later must not move the workspace.
            folder: folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
            is_given: false,
            is_edited: AtomicBool::new(false),
        };
        workspace.interrupt_lost()?;
        workspace.renew_headlines()?;
        Ok(workspace)
    }

    /// Makes a workspace over given trials, each a name and a folder anywhere; their numbers count
    /// from 1 in this order. It answers like a workspace on disk, for instance for a report, and
    /// leaves nothing behind. Resolving each scenario may take up to `limits`.
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
            is_edited: AtomicBool::new(false),
        };
        for (name, folder) in trials {
            workspace.add_given(name, folder, limits)?;
        }
        Ok(workspace)
    }

    /// The workspace's folder, absolute; empty for a workspace over [given
    /// trials](Workspace::of_trials).
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Resolves a trial's or sweep's folder from its name in the ledger. The ledger may come from a
    /// stranger together with the folder, so a name that leads out of the workspace, or through a
    /// link, gives no folder but the reason.
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

/// Makes the error for a trial that does not exist.
fn unknown(id: i64) -> Error {
    Error::Asked(format!(
        "there is no trial {id}; `tenter trials list` names those that there are"
    ))
}
