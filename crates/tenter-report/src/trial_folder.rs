//! The trial folder while it is written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use tenter_record::{
    Control, Counts, EachTable, FlowRow, Kept, Names, Progress, Results, Row, SampleRow, Sink,
    SinkError, Summary, Table, Tiers, each_table,
};

use crate::capture::write_capture;
use crate::claim::take_folder;
use crate::parquet_table::{DIGEST_NOTE, SEED_NOTE};
use crate::read::read_manifest;
use crate::trial_files::{
    CAPTURE_FILE, CONFIG_FILE, MANIFEST_FILE, SUMMARY_FILE, footer_file, has_manifest,
    is_just_made, own_files, table_file,
};
use crate::whole_file::{remove, write_own};
use crate::{Manifest, ParquetTable, RunIdentity, TrialError};

/// A trial folder that is being written.
///
/// `config.yaml` and a `manifest.json` that states that the trial is not complete are there from
/// the start; flows and samples are streamed in row groups; [`TrialFolder::finish`] writes the rest
/// and the final manifest. A trial that was stopped is finished in the same way, with a summary
/// that states it; one that was dropped without `finish` keeps its first manifest. Only a process
/// that is killed outright leaves `flows.parquet` and `samples.parquet` without the footer that
/// readers need.
pub struct TrialFolder {
    path: PathBuf,
    /// Keeps other runs out until this one is finished or dropped.
    lock: Option<File>,
    names: Arc<Names>,
    manifest: Manifest,
    began: Instant,
    flows: ParquetTable<FlowRow>,
    samples: ParquetTable<SampleRow>,
}

impl TrialFolder {
    /// Creates the folder, or takes over one that is empty or holds a trial, whose files are
    /// replaced.
    ///
    /// `config` is the whole text of `config.yaml`; `names` are joined into the tables. Nothing is
    /// created for an invalid scenario: check it first.
    ///
    /// If a folder cannot be begun, it is not left behind, nor are those above it that were made
    /// for it.
    ///
    /// # Errors
    /// When the folder holds something else than a trial, or cannot be written.
    pub fn create(
        path: &Path,
        config: &str,
        names: Names,
        run: RunIdentity,
    ) -> Result<TrialFolder, TrialError> {
        let absent = |folder: &&Path| {
            // A link that leads nowhere still exists.
            let found = folder.symlink_metadata();
            found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        let made: Vec<&Path> = path.ancestors().take_while(absent).collect();
        TrialFolder::begin(path, config, names, run).inspect_err(|error| {
            // Another run has made the folder since, and is using it.
            if matches!(error, TrialError::InUse { .. }) {
                return;
            }
            // A folder that cannot be removed, or has other contents by now, stays.
            if let [own, above @ ..] = made.as_slice() {
                let _ = fs::remove_dir_all(own);
                for folder in above {
                    let _ = fs::remove_dir(folder);
                }
            }
        })
    }

    fn begin(
        path: &Path,
        config: &str,
        names: Names,
        run: RunIdentity,
    ) -> Result<TrialFolder, TrialError> {
        let lock = take_folder(path)?;
        clear(path)?;
        let manifest = Manifest::begin(run);
        write_json(&path.join(MANIFEST_FILE), &manifest)?;
        write_own(&path.join(CONFIG_FILE), |file| {
            file.write_all(config.as_bytes())
        })?;
        let names = Arc::new(names);
        let seed = manifest.run.seed.to_string();
        let mut flows = ParquetTable::create(&table_file::<FlowRow>(path), Arc::clone(&names))?;
        let mut samples = ParquetTable::create(&table_file::<SampleRow>(path), Arc::clone(&names))?;
        // The digest is known at the end.
        flows.note(SEED_NOTE, &seed);
        samples.note(SEED_NOTE, &seed);
        Ok(TrialFolder {
            flows,
            samples,
            path: path.to_owned(),
            lock,
            names,
            manifest,
            began: Instant::now(),
        })
    }

    /// Writes a file that `config.yaml` names, such as `sends-0.csv`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_beside(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), TrialError> {
        write_own(&self.path.join(name), write)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends rows to `flows.parquet`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append_flows(&mut self, rows: &[FlowRow]) -> Result<(), TrialError> {
        self.flows.append(rows)
    }

    /// Appends rows to `samples.parquet`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append_samples(&mut self, rows: &[SampleRow]) -> Result<(), TrialError> {
        self.samples.append(rows)
    }

    /// Writes the rows so far, so that they can be [recovered](crate::recover_tables) where the
    /// process is killed.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn checkpoint(&mut self) -> Result<(), TrialError> {
        self.flows.checkpoint()?;
        self.samples.checkpoint()
    }

    /// Writes everything that is known only at the end, the manifest last.
    ///
    /// The summary decides whether the trial is complete, and has the reason if it is not.
    ///
    /// # Errors
    /// When a file cannot be written; the folder is then still marked as not complete.
    pub fn finish(self, summary: &Summary, counts: &Counts) -> Result<(), TrialError> {
        let TrialFolder {
            path,
            lock,
            names,
            mut manifest,
            began,
            mut flows,
            mut samples,
        } = self;
        let digest = &summary.engine.digest;
        flows.note(DIGEST_NOTE, digest);
        samples.note(DIGEST_NOTE, digest);
        flows.finish()?;
        samples.finish()?;
        remove(&footer_file(&table_file::<FlowRow>(&path)))?;
        remove(&footer_file(&table_file::<SampleRow>(&path)))?;
        let tables = Tables {
            folder: &path,
            names: &names,
            seed: &manifest.run.seed.to_string(),
            digest,
        };
        let results = Results {
            summary,
            counts,
            flows: &[],
            samples: &[],
        };
        each_table(Written(&tables, &results))
            .into_iter()
            .collect::<Result<(), _>>()?;
        if let Some(capture) = &counts.capture {
            write_capture(&path.join(CAPTURE_FILE), capture)?;
        }
        write_json(&path.join(SUMMARY_FILE), summary)?;
        manifest.digest = Some(summary.engine.digest.clone());
        manifest.complete = summary.complete;
        manifest.stopped.clone_from(&summary.stopped);
        manifest.peak_rss_bytes = summary.engine.peak_rss_bytes;
        manifest.wall_s = Some(began.elapsed().as_secs_f64());
        write_json(&path.join(MANIFEST_FILE), &manifest)?;
        drop(lock);
        Ok(())
    }
}

/// Replaces the tables of ports, classes, switches, tiers and notes of a trial that has ended, and
/// its summary: counters of real switches may come later than the trial.
///
/// # Errors
/// When they cannot be written.
pub fn replace_counts(folder: &Path, counts: &Counts, summary: &Summary) -> Result<(), TrialError> {
    let seed = read_manifest(folder)?.run.seed.to_string();
    let tables = Tables {
        folder,
        names: &Arc::default(),
        seed: &seed,
        digest: &summary.engine.digest,
    };
    tables.write(&summary.notes)?;
    tables.write(&counts.ports)?;
    tables.write(&counts.queues)?;
    tables.write(&counts.switches)?;
    tables.write(&Tiers::of(&counts.ports, &counts.switches).rows(&counts.ports))?;
    write_json(&folder.join(SUMMARY_FILE), summary)
}

/// For callers that need no progress; others keep the folder in a sink of their own.
impl Sink for TrialFolder {
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        Ok(self.append_flows(rows)?)
    }

    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError> {
        Ok(self.append_samples(rows)?)
    }

    fn progress(&mut self, _: &Progress) -> Result<Control, SinkError> {
        Ok(Control::Continue)
    }
}

/// Removes the files of the trial before, so that none of them is mistaken for one of this trial.
fn clear(folder: &Path) -> Result<(), TrialError> {
    fs::read_dir(folder).map_err(TrialError::io("read", folder))?;
    if is_just_made(folder) {
        return Ok(());
    }
    if !has_manifest(folder) {
        return Err(TrialError::NotATrial {
            path: folder.to_owned(),
        });
    }
    // These two are written at once.
    let files = own_files(folder);
    let files = files
        .iter()
        .filter(|file| !file.ends_with(MANIFEST_FILE) && !file.ends_with(CONFIG_FILE));
    files.into_iter().try_for_each(|file| remove(file))
}

/// Removes a trial: its own files, and its folder unless that holds others.
///
/// # Errors
/// When the folder is in use, holds no trial, or a file cannot be removed.
pub fn remove_trial(folder: &Path) -> Result<(), TrialError> {
    let _lock = take_folder(folder)?;
    if !is_just_made(folder) {
        clear(folder)?;
        remove(&folder.join(CONFIG_FILE))?;
        remove(&folder.join(MANIFEST_FILE))?;
    }
    // It stays where someone has put other files into it.
    let _ = fs::remove_dir(folder);
    Ok(())
}

/// The tables that are written at the end of a trial.
struct Tables<'a> {
    folder: &'a Path,
    names: &'a Arc<Names>,
    seed: &'a str,
    digest: &'a str,
}

impl Tables<'_> {
    fn write<R: Row + Clone>(&self, rows: &[R]) -> Result<(), TrialError> {
        let path = table_file::<R>(self.folder);
        let mut table = ParquetTable::create(&path, Arc::clone(self.names))?;
        table.note(SEED_NOTE, self.seed);
        table.note(DIGEST_NOTE, self.digest);
        table.append(rows)?;
        table.finish()
    }
}

/// Writes the tables that are known when a trial has ended.
struct Written<'a>(&'a Tables<'a>, &'a Results<'a>);

impl EachTable for Written<'_> {
    type Out = Result<(), TrialError>;

    fn of<R: Table>(&mut self) -> Result<(), TrialError> {
        let rows = R::rows(self.1);
        match R::KEPT {
            Kept::Streamed | Kept::InSummary => Ok(()),
            Kept::IfAny if rows.is_empty() => Ok(()),
            Kept::IfAny | Kept::Always => self.0.write(&rows),
        }
    }
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), TrialError> {
    let mut text = serde_json::to_string_pretty(value).map_err(TrialError::content(path))?;
    text.push('\n');
    write_own(path, |file| file.write_all(text.as_bytes()))
}
