//! The folder of the trials of several seeds, when it is reused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::TrialError;
use crate::seeds::SEEDS_FILE;
use crate::trial_files::{has_manifest, is_just_made, own_files};
use crate::whole_file::remove;

/// The folder of one seed's trial in the folder of all.
pub fn seed_folder(folder: &Path, seed: u64) -> PathBuf {
    folder.join(format!("seed-{seed}"))
}

/// Whether trials of several seeds may be put into a folder: it is not there, is empty, or holds
/// the table or a trial of such a run, also of one that was killed.
///
/// # Errors
/// When the folder is there and cannot be read.
pub fn takes_seeds(folder: &Path) -> Result<bool, TrialError> {
    let names = names(folder)?;
    let is_ours =
        |name: &String| name == SEEDS_FILE || seed_of(name).is_some() && is_own(&folder.join(name));
    Ok(names.is_empty() || names.iter().any(is_ours))
}

/// Removes the table of an older run, and its trials with seeds outside `keep`, so that none of
/// them is mistaken for one of the new run. Files of other programs stay, and so does a folder with
/// some of them.
///
/// # Errors
/// When a file cannot be removed.
pub fn clear_seeds(folder: &Path, keep: impl Fn(u64) -> bool) -> Result<(), TrialError> {
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
        // It stays if it is not empty.
        let _ = fs::remove_dir(&trial);
    }
    Ok(())
}

/// The folders of seeds in the folder of all, by their seeds; none where there is no folder.
///
/// # Errors
/// When the folder is there and cannot be read.
pub fn seed_folders(folder: &Path) -> Result<Vec<PathBuf>, TrialError> {
    let names = names(folder)?;
    let mut seeds: Vec<u64> = names.iter().filter_map(|name| seed_of(name)).collect();
    seeds.sort_unstable();
    let folders = seeds.into_iter().map(|seed| seed_folder(folder, seed));
    Ok(folders.collect())
}

/// Whether a folder holds a trial, or is one that a killed run had only just made.
fn is_own(trial: &Path) -> bool {
    has_manifest(trial) || is_just_made(trial)
}

/// The seed of the trial in a folder of this name; `seed-01` is not such a name.
fn seed_of(name: &str) -> Option<u64> {
    let seed: u64 = name.strip_prefix("seed-")?.parse().ok()?;
    (name == format!("seed-{seed}")).then_some(seed)
}

/// The names in a folder, in order; none without a folder.
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
    names.sort();
    Ok(names)
}
