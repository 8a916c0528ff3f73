//! Trial folders, claimed by one run.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tenter_language::units::{LEDGER_FILE, NAME_REMEDY, folder_name, is_reserved};

use crate::report::own_file::read_own_text;
use crate::report::trial_files::MANIFEST_FILE;
use crate::report::{Manifest, TrialError};

/// Claims `folder` for one run: creates it if it is missing, and locks it. Where the system cannot
/// lock folders, nothing is locked and `None` is returned.
///
/// The system releases the lock when the file is dropped or the process ends, however it ends.
///
/// # Errors
/// If the folder cannot be created, another run has locked it, or its name is reserved for a
/// ledger.
pub fn take_folder(folder: &Path) -> Result<Option<File>, TrialError> {
    // On a file system that ignores case, such a folder would stand in the ledger's way.
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    if name.to_lowercase().starts_with(LEDGER_FILE) {
        return Err(reserved(folder));
    }
    fs::create_dir_all(folder).map_err(TrialError::io("create", folder))?;
    let Ok(file) = File::open(folder) else {
        return Ok(None);
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(TrialError::InUse {
            path: folder.to_owned(),
            holder: holder(folder),
        }),
        // Ok(None), => Some network file systems have no locks; the trial runs all the same.
        Err(TryLockError::Error(_)) => Ok(None),
        Ok(()) => Ok(Some(file)),
    }
}

/// Describes the run that writes to a folder, by its manifest.
fn holder(folder: &Path) -> String {
    let text = read_own_text(&folder.join(MANIFEST_FILE)).unwrap_or_default();
    match serde_json::from_str::<Manifest>(&text) {
        Ok(manifest) => format!(
            "`{}`, started at {}",
            manifest.run.command.join(" "),
            manifest.started_utc
        ),
        Err(_) => "it holds several trials, or has only just started".to_owned(),
    }
}

fn reserved(path: &Path) -> TrialError {
    TrialError::Unusable {
        path: path.to_owned(),
        reason: format!("the ledger of a folder of trials has files of this name; {NAME_REMEDY}"),
    }
}

/// Creates an empty folder `<parent>/<name>`, or `<name>-2`, `<name>-3`, … if that exists, and
/// returns its path.
///
/// Two programs that ask at the same time get two folders. Characters in `name` that have a meaning
/// in paths become hyphens.
///
/// # Errors
/// If the name is reserved, or the folder cannot be created.
pub fn claim_free_folder(parent: &Path, name: &str) -> Result<PathBuf, TrialError> {
    if is_reserved(name) {
        return Err(reserved(&parent.join(folder_name(name))));
    }
    fs::create_dir_all(parent).map_err(TrialError::io("create", parent))?;
    let name = folder_name(name);
    let mut path = parent.join(&name);
    for number in 2_u64.. {
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                path = parent.join(format!("{name}-{number}"));
            }
            Err(error) => return Err(TrialError::io("create", &path)(error)),
            Ok(()) => break,
        }
    }
    Ok(path)
}
