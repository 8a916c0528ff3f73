//! Where trials are written.

use std::path::{Path, PathBuf};

use tenter_report::claim_free_folder;

use crate::Error;

/// Where a trial, or the trials of an experiment, are written.
#[derive(Clone, Debug)]
pub(crate) enum Folder {
    /// Nowhere.
    None,
    /// There; older trials in it are replaced.
    At(PathBuf),
    /// In a new folder of that name, or the next that is free, below another.
    Free { parent: PathBuf, name: String },
}

impl Folder {
    pub(crate) fn free(parent: impl Into<PathBuf>, name: impl Into<String>) -> Folder {
        Folder::Free {
            parent: parent.into(),
            name: name.into(),
        }
    }

    /// Its path; a new folder is made.
    pub(crate) fn take(&self) -> Result<Option<PathBuf>, Error> {
        Ok(match self {
            Folder::None => None,
            Folder::At(path) => Some(path.clone()),
            Folder::Free { parent, name } => Some(claim_free_folder(parent, name)?),
        })
    }
}

/// Removes a folder that was made a moment ago, and the one above it unless it holds others.
pub(crate) fn discard(path: &Path) {
    let _ = std::fs::remove_dir_all(path);
    if let Some(parent) = path.parent() {
        let _ = std::fs::remove_dir(parent);
    }
}
