//! Folders that hold several trials: of sweeps, and of seeds.

use std::path::{Path, PathBuf};

use tenter_record::PairedRow;
use tenter_report::{
    NamedRecord, SeedsFolder, TrialError, paired_rows, read_seeds, read_sweep, seeds_record,
};

use crate::failure::Failure;

/// Records, and the rows that compare them.
pub(crate) type Shown = (Vec<NamedRecord>, Vec<PairedRow>);

/// What folders hold.
pub(crate) enum Several {
    /// A sweep each.
    Sweeps(Vec<NamedRecord>),
    /// The trials of several seeds each.
    Seeds(Vec<SeedsFolder>),
}

impl Several {
    /// Reads folders; `None` where all hold something else.
    ///
    /// # Errors
    /// When only some of them hold sweeps, or trials of seeds, or one is damaged.
    pub(crate) fn read(folders: &[PathBuf]) -> Result<Option<Several>, Failure> {
        let names = || folders.iter().map(|folder| short_name(folder, folders));
        let sweeps = of_each(folders, read_sweep)?;
        let seeds = of_each(folders, read_seeds)?;
        if let Some(sweeps) = all(&sweeps) {
            let named = names().zip(sweeps);
            let named = named.map(|(name, record)| NamedRecord { name, record });
            return Ok(Some(Several::Sweeps(named.collect())));
        }
        if let Some(seeds) = all(&seeds) {
            let named = names().zip(seeds);
            let named = named.map(|(name, trials)| SeedsFolder { name, trials });
            return Ok(Some(Several::Seeds(named.collect())));
        }
        let kind = |at: usize| match (&sweeps[at], &seeds[at]) {
            (Some(_), _) => "a sweep",
            (_, Some(_)) => "trials of several seeds",
            _ => "something else",
        };
        if sweeps.iter().all(Option::is_none) && seeds.iter().all(Option::is_none) {
            return Ok(None);
        }
        let other = (1..folders.len()).find(|&at| kind(at) != kind(0));
        let other = other.unwrap_or_default();
        Err(Failure::input(format!(
            "{} holds {}, and {} holds {}: nothing can be paired; name folders of one kind",
            folders[0].display(),
            kind(0),
            folders[other].display(),
            kind(other)
        )))
    }

    /// What a report shows: a record for each sweep and what they have in common, or one record of
    /// all folders of seeds.
    ///
    /// # Errors
    /// As [`Several::read`].
    pub(crate) fn read_for_report(folders: &[PathBuf]) -> Result<Option<Shown>, Failure> {
        let Some(several) = Several::read(folders)? else {
            return Ok(None);
        };
        if let Several::Seeds(folders) = &several {
            let record = seeds_record(folders);
            let name = record.name.clone();
            return Ok(Some((vec![NamedRecord { name, record }], Vec::new())));
        }
        let records = several.records();
        // Sweeps without anything in common are shown all the same.
        let paired = match records.as_slice() {
            [_] => Vec::new(),
            records => paired_rows(records).unwrap_or_default(),
        };
        Ok(Some((records, paired)))
    }

    /// A record for each folder.
    pub(crate) fn records(self) -> Vec<NamedRecord> {
        match self {
            Several::Sweeps(records) => records,
            Several::Seeds(folders) => {
                let record = |folder: SeedsFolder| NamedRecord {
                    name: folder.name.clone(),
                    record: seeds_record(&[folder]),
                };
                folders.into_iter().map(record).collect()
            }
        }
    }
}

fn of_each<T>(
    folders: &[PathBuf],
    read: fn(&Path) -> Result<Option<T>, TrialError>,
) -> Result<Vec<Option<T>>, Failure> {
    let read = |folder: &PathBuf| read(folder).map_err(|error| Failure::input(error.to_string()));
    folders.iter().map(read).collect()
}

fn all<T: Clone>(found: &[Option<T>]) -> Option<Vec<T>> {
    found.iter().cloned().collect()
}

/// The last part of a folder's path, or all of it where another folder has the same.
pub(crate) fn short_name(folder: &Path, all: &[impl AsRef<Path>]) -> String {
    let last = |path: &Path| path.file_name().map(ToOwned::to_owned);
    let alike = all
        .iter()
        .filter(|other| last(other.as_ref()) == last(folder));
    match last(folder) {
        Some(name) if alike.count() == 1 => name.to_string_lossy().into_owned(),
        _ => folder.display().to_string(),
    }
}
