//! Folders with several seeds' trials, and their reuse.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::report::TrialError;
use crate::report::seeds::SEEDS_FILE;
use crate::report::trial_files::{has_manifest, is_just_made, own_files};
use crate::report::whole_file::remove;

/// Returns the folder for one seed's trial within `folder`.
pub(crate) fn seed_folder(folder: &Path, seed: u64) -> PathBuf {
    folder.join(format!("seed-{seed}"))
}

/// True if several seeds' trials may be put into `folder`: it does not exist, is empty, or holds
/// the table or a trial from such a run, even from a killed one.
///
/// # Errors
/// If the folder exists and cannot be read.
pub fn takes_seeds(folder: &Path) -> Result<bool, TrialError> {
    let names = names(folder)?;
    let is_ours =
        |name: &String| name == SEEDS_FILE || seed_of(name).is_some() && is_own(&folder.join(name));
    Ok(names.is_empty() || names.iter().any(is_ours))
}

/// Removes an older run's table, and the trials whose seeds `keep` rejects, so that none is
/// mistaken for one from the new run. Other programs' files stay, and so do folders that contain
/// any.
///
/// # Errors
/// If a file cannot be removed.
pub(crate) fn clear_seeds(folder: &Path, keep: impl Fn(u64) -> bool) -> Result<(), TrialError> {
    remove(&folder.join(SEEDS_FILE))?;
    for name in names(folder)? {
        let trial = folder.join(&name);
        let is_old = seed_of(&name).is_some_and(|seed| !keep(seed));
        if !is_old || !is_own(&trial) {
            continue;
        }
        for file in own_files(&trial) {
            remove(&file)?;
        }
        // This fails, as it should, if the folder is not empty.
        let _ = fs::remove_dir(&trial);
    }
    Ok(())
}

/// Returns the seed folders within `folder`, by seed; none if there is no such folder.
///
/// # Errors
/// If the folder exists and cannot be read.
pub fn seed_folders(folder: &Path) -> Result<Vec<PathBuf>, TrialError> {
    let names = names(folder)?;
    let mut seeds: Vec<u64> = names.iter().filter_map(|name| seed_of(name)).collect();
    seeds.sort_unstable();
    let folders = seeds.into_iter().map(|seed| seed_folder(folder, seed));
    Ok(folders.collect())
}

/// True if a folder holds a trial, or was only just made by a run that was killed.
fn is_own(trial: &Path) -> bool {
    has_manifest(trial) || is_just_made(trial)
}

/// Returns the seed that a folder name stands for. Names are canonical: `seed-01` is not one.
fn seed_of(name: &str) -> Option<u64> {
    let seed: u64 = name.strip_prefix("seed-")?.parse().ok()?;
    (name == format!("seed-{seed}")).then_some(seed)
}

/// Returns the names in a folder, sorted; none if there is no folder.
fn names(folder: &Path) -> Result<Vec<String>, TrialError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(TrialError::io("read", folder))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(TrialError::io("read", folder))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    // The system lists a folder in any order.
    names.sort();
    Ok(names)
}
