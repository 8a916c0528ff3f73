//! Places where trials are written.

use std::path::{Path, PathBuf};

use crate::report::claim_free_folder;

use crate::Error;

/// Folder of a trial, or of an experiment's trials.
#[derive(Clone, Debug)]
pub(crate) enum Folder {
    /// No folder: the trial stays in memory.
    None,
    /// This folder; older trials in it are replaced.
    At(PathBuf),
    /// A new folder `name` below `parent`, or `name-2`, `name-3`, … if that is taken.
    Free { parent: PathBuf, name: String },
}

impl Folder {
    pub(crate) fn free(parent: impl Into<PathBuf>, name: impl Into<String>) -> Folder {
        Folder::Free {
            parent: parent.into(),
            name: name.into(),
        }
    }

    /// Returns the path. A new folder is made at once, so that no other process takes its name.
    pub(crate) fn take(&self) -> Result<Option<PathBuf>, Error> {
        Ok(match self {
            Folder::None => None,
            Folder::At(path) => Some(path.clone()),
            Folder::Free { parent, name } => Some(claim_free_folder(parent, name)?),
        })
    }
}

/// Removes a folder that was just made, and its parent if that is empty then.
pub(crate) fn discard(path: &Path) {
    let _ = std::fs::remove_dir_all(path);
    // `remove_dir` refuses a folder with entries: those of other trials stay.
    if let Some(parent) = path.parent() {
        let _ = std::fs::remove_dir(parent);
    }
}
