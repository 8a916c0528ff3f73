//! Folders that one run takes for itself.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::trial_files::MANIFEST_FILE;
use crate::{Manifest, TrialError};

/// Takes a folder for one run: makes it if it is missing, and locks it; nothing is locked if the
/// system cannot lock folders.
///
/// The system releases it when the file is dropped or the process ends, however it ends.
///
/// # Errors
/// When it cannot be made, or another run has locked it.
pub fn take_folder(folder: &Path) -> Result<Option<File>, TrialError> {
    fs::create_dir_all(folder).map_err(TrialError::io("create", folder))?;
    let Ok(file) = File::open(folder) else {
        return Ok(None);
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(TrialError::InUse {
            path: folder.to_owned(),
            holder: holder(folder),
        }),
        Err(TryLockError::Error(_)) => Ok(None),
        Ok(()) => Ok(Some(file)),
    }
}

/// The run that writes to a folder, by its manifest.
fn holder(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join(MANIFEST_FILE)).unwrap_or_default();
    match serde_json::from_str::<Manifest>(&text) {
        Ok(manifest) => format!(
            "`{}`, started at {}",
            manifest.run.command.join(" "),
            manifest.started_utc
        ),
        Err(_) => "it holds several trials, or has only just started".to_owned(),
    }
}

/// Creates an empty folder `<parent>/<name>`, or `<name>-2`, `<name>-3`, … where that exists, and
/// returns its path.
///
/// Two programs that ask at the same time get two folders. Characters of `name` that mean something
/// in a path become hyphens.
///
/// # Errors
/// When the folder cannot be created.
pub fn claim_free_folder(parent: &Path, name: &str) -> Result<PathBuf, TrialError> {
    fs::create_dir_all(parent).map_err(TrialError::io("create", parent))?;
    let name = file_name(name);
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

/// `name` as a single portable path component.
fn file_name(name: &str) -> String {
    let portable = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = name
        .chars()
        .map(|c| if portable(c) { c } else { '-' })
        .collect();
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() {
        "trial".to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_one_path_component() {
        let cases = [
            ("quickstart-1", "quickstart-1"),
            ("methodology/jct 2", "methodology-jct-2"),
            ("../../etc", "etc"),
            ("größe", "größe"),
            ("..", "trial"),
            ("", "trial"),
        ];
        for (name, expected) in cases {
            assert_eq!(file_name(name), expected, "{name:?}");
        }
    }
}
