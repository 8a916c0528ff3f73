//! Folders with several trials: sweeps, and runs over several seeds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tenter::report::{
    CONFIG_FILE, NamedRecord, SeedsFolder, TrialError, check_is_trial, paired_rows, read_seeds,
    read_sweep, seed_folders, seeds_record,
};
use tenter::studies::{NumberQuery, SweepRecord, SweepValues};
use tenter::{Scenario, Trial, read_trial, run_budget};
use tenter_results::{Notes, PairedRow};

use crate::command::failure::{Failure, say};

/// Records read from folders, and the rows that compare them.
pub(crate) type Shown = (Vec<NamedRecord>, Vec<PairedRow>);

/// Content in the folders that the user named.
pub(crate) enum Several {
    /// One sweep in each folder.
    Sweeps(Vec<NamedRecord>),
    /// Trials with several seeds in each folder.
    Seeds(Vec<SeedsFolder>),
}

impl Several {
    /// Reads folders; `None` if all of them hold something else.
    ///
    /// # Errors
    /// If only some folders hold sweeps or trials of seeds, or if one is damaged.
    pub(crate) fn read(folders: &[PathBuf]) -> Result<Option<Several>, Failure> {
        let names = || short_names(folders).into_iter();
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
        // Sweeps mixed with folders of seeds: the latter are read as sweeps with one point.
        let is_either = |at: usize| sweeps[at].is_some() || seeds[at].is_some();
        if let Some(like) = sweeps.iter().flatten().next()
            && (0..folders.len()).all(is_either)
        {
            let like = like.clone();
            let record = |(folder, sweep): (&PathBuf, Option<SweepRecord>)| match sweep {
                Some(sweep) => Ok(sweep),
                None => seeds_beside(folder, &like),
            };
            let records = folders.iter().zip(sweeps).map(record);
            let records = records.collect::<Result<Vec<_>, Failure>>()?;
            let named = names().zip(records);
            let named = named.map(|(name, record)| NamedRecord { name, record });
            return Ok(Some(Several::Sweeps(named.collect())));
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

    /// Reads folders for a report: a record for each sweep and the rows that compare them, or one
    /// record over all folders of seeds.
    ///
    /// # Errors
    /// As [`Several::read`].
    pub(crate) fn read_for_report(folders: &[PathBuf]) -> Result<Option<Shown>, Failure> {
        let Some(several) = Several::read(folders)? else {
            return Ok(None);
        };
        several.say_scenarios();
        if let Several::Seeds(folders) = &several {
            let record = seeds_record(folders);
            let name = record.name.clone();
            return Ok(Some((vec![NamedRecord { name, record }], Vec::new())));
        }
        let records = several.records();
        // Sweeps with nothing in common are still shown, without a comparison.
        let paired = match records.as_slice() {
            [_] => Vec::new(),
            records => paired_rows(records).unwrap_or_default(),
        };
        Ok(Some((records, paired)))
    }

    /// Prints a note if seed folders belong to several scenarios: jobs and sizes with equal names
    /// may then differ in content.
    pub(crate) fn say_scenarios(&self) {
        let Several::Seeds(folders) = self else {
            return;
        };
        let mut names: Vec<&str> = Vec::new();
        for trial in folders.iter().flat_map(|folder| &folder.trials) {
            if !names.contains(&trial.scenario.as_str()) {
                names.push(&trial.scenario);
            }
        }
        if names.len() > 1 {
            say(&format!(
                "note: the folders are of {} scenarios: {}\n",
                names.len(),
                names.join(", ")
            ));
        }
    }

    /// Returns a record for each folder.
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

/// Reads a seed folder like the sweep `like`: with its readings, and as the point whose settings
/// the trials have.
fn seeds_beside(folder: &Path, like: &SweepRecord) -> Result<SweepRecord, Failure> {
    let readings = like.readings.iter();
    let queries: Result<Vec<NumberQuery>, _> = readings.map(|of| of.of.parse()).collect();
    let queries = queries.map_err(|_| {
        Failure::input(
            "the readings of the sweep are those of another version; run `tenter sweep` again",
        )
    })?;
    let trials = seed_folders(folder).map_err(|error| Failure::input(error.to_string()))?;
    // Seeds that were interrupted left no trial; they are just missing.
    let finished = trials.iter().filter(|trial| check_is_trial(trial).is_ok());
    let opened = finished.map(|trial| Trial::open(trial, &run_budget()).map_err(Failure::from));
    let opened = opened.collect::<Result<Vec<Trial>, Failure>>()?;
    let values = |trial: &Trial| SweepValues {
        point: 0,
        variant: 0,
        seed: trial.summary().seed,
        digest: trial.digest().to_owned(),
        values: read_trial(&queries, trial),
    };
    let point = match opened.first() {
        Some(trial) => point_of(trial, folder, like)?,
        None => like.points.first().cloned().unwrap_or_default(),
    };
    Ok(SweepRecord {
        name: folder.display().to_string(),
        variants: vec![String::new()],
        points: vec![point],
        trials: opened.iter().map(values).collect(),
        notes: vec![Notes::of_all(opened.iter().map(|of| &of.summary().notes)).0],
        digest: String::new(),
        charts: Vec::new(),
        ..like.clone()
    })
}

/// Finds the sweep's point to which a trial belongs: applying the point's settings changes nothing
/// in the trial's configuration.
fn point_of(trial: &Trial, folder: &Path, like: &SweepRecord) -> Result<Vec<String>, Failure> {
    // The YAML has every default filled in, so equal texts are equal plans.
    let own = trial.plan().to_yaml();
    let config = trial.folder().unwrap_or(folder).join(CONFIG_FILE);
    let scenario = Scenario::read(config)?;
    let has = |point: &&Vec<String>| {
        let axes = like.axes.iter().map(|axis| &axis.path).zip(point.iter());
        let set = like.set.iter().map(|(path, value)| (path, value));
        let all = set.chain(axes);
        let set = |of: Scenario, (path, value): (&String, &String)| of.set(path, value);
        let same = all
            .fold(scenario.clone(), set)
            .resolve_within(&run_budget());
        same.is_ok_and(|plan| plan.to_yaml() == own)
    };
    like.points.iter().find(has).cloned().ok_or_else(|| {
        Failure::input(format!(
            "the trials in {} have the settings of no point of the sweep {}; run the scenario with settings of one, by `--set`",
            folder.display(),
            like.name
        ))
    })
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

/// Names each path by as many of its last parts as tell it from all others: `two`, or `a/two`
/// beside `b/two`.
pub(crate) fn short_names(paths: &[PathBuf]) -> Vec<String> {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let named = paths.iter().map(|path| match path.file_name() {
        // A link keeps its own name. A path of one part has an empty parent.
        Some(name) => whole(&Path::new(".").join(path).with_file_name("")).join(name),
        // `.` and `..` have no name of their own.
        None => whole(path),
    });
    let wholes: Vec<PathBuf> = named.collect();
    let mut names = vec![None; wholes.len()];
    for parts in 1.. {
        let tail = |path: &PathBuf| -> PathBuf {
            let skipped = path.components().count().saturating_sub(parts);
            path.components().skip(skipped).collect()
        };
        let mut alike: BTreeMap<PathBuf, BTreeSet<&PathBuf>> = BTreeMap::new();
        for path in &wholes {
            alike.entry(tail(path)).or_default().insert(path);
        }
        for (name, path) in names.iter_mut().zip(&wholes) {
            let tail = tail(path);
            if name.is_none() && (alike[&tail].len() == 1 || tail == *path) {
                *name = Some(tail.to_string_lossy().into_owned());
            }
        }
        if names.iter().all(Option::is_some) {
            break;
        }
    }
    names.into_iter().flatten().collect()
}

/// Rejects a folder that is named twice, which would be two trials with one name.
pub(crate) fn refuse_twice(folders: &[PathBuf]) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    for folder in folders {
        let whole = folder.canonicalize();
        if !seen.insert(whole.unwrap_or_else(|_| folder.clone())) {
            let message = format!("{} is named twice; leave one out", folder.display());
            return Err(Failure::input(message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_long_as_they_must_be() {
        let names =
            |paths: &[&str]| short_names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(
            names(&["a/two", "b/two", "b/three"]),
            ["a/two", "b/two", "three"]
        );
        assert_eq!(names(&["x/a/two", "y/a/two"]), ["x/a/two", "y/a/two"]);
        // One path has one name, however often it is given.
        assert_eq!(names(&["a/two", "a/two", "one"]), ["two", "two", "one"]);
    }
}
