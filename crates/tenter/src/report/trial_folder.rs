//! Writes a trial folder while the trial runs.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use tenter_results::{
    Control, Counts, EachTable, FlowRow, Kept, Names, Progress, Results, Row, SampleRow, Sink,
    SinkError, Summary, Table, Tiers, each_table,
};

use crate::report::capture::write_capture;
use crate::report::checksum::sums;
use crate::report::claim::take_folder;
use crate::report::parquet_table::{DIGEST_NOTE, SEED_NOTE};
use crate::report::read::read_manifest;
use crate::report::trial_files::{
    CAPTURE_FILE, CONFIG_FILE, MANIFEST_FILE, SUMMARY_FILE, footer_file, has_manifest,
    is_just_made, own_files, table_file,
};
use crate::report::whole_file::{remove, write_own};
use crate::report::{Manifest, ParquetTable, RunIdentity, TrialError};

/// A trial folder that is being written.
///
/// `config.yaml` and a `manifest.json` with `complete` false exist from the start. Flows and
/// samples are streamed in row groups. [`TrialFolder::finish`] writes the rest and the final
/// manifest. A stopped trial is finished in the same way, with a summary that says so. One that is
/// dropped without `finish` keeps its first manifest. Only a process that is killed outright leaves
/// `flows.parquet` and `samples.parquet` without the footer that readers need.
pub struct TrialFolder {
    path: PathBuf,
    /// Lock on the folder, which keeps other runs out until this one is finished or dropped.
    lock: Option<File>,
    names: Arc<Names>,
    manifest: Manifest,
    began: Instant,
    flows: ParquetTable<FlowRow>,
    samples: ParquetTable<SampleRow>,
}

impl TrialFolder {
    /// Creates the folder, or takes over one that is empty or holds a trial, and replaces its
    /// files.
    ///
    /// `config` is the whole text of `config.yaml`; `names` are joined into the tables. Check the
    /// scenario first, so that nothing is created for an invalid one.
    ///
    /// If the folder cannot be set up, it is removed again, and so are the parent folders that were
    /// made for it.
    ///
    /// # Errors
    /// If the folder holds something other than a trial, or cannot be written.
    pub fn create(
        path: &Path,
        config: &str,
        names: Names,
        run: RunIdentity,
    ) -> Result<TrialFolder, TrialError> {
        let absent = |folder: &&Path| {
            // A dangling link counts as existing.
            let found = folder.symlink_metadata();
            found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        let made: Vec<&Path> = path.ancestors().take_while(absent).collect();
        TrialFolder::begin(path, config, names, run).inspect_err(|error| {
            // Another run has created the folder in the meantime, and is using it.
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
        // First of all: nothing may be touched in a folder that another run uses.
        let lock = take_folder(path)?;
        // Only the holder of the lock may remove files.
        clear(path)?;
        let manifest = Manifest::begin(run);
        // Before any other file: a folder with files and no manifest would not be taken over again.
        write_json(&path.join(MANIFEST_FILE), &manifest)?;
        write_own(&path.join(CONFIG_FILE), |file| {
            file.write_all(config.as_bytes())
        })?;
        let names = Arc::new(names);
        let seed = manifest.run.seed.to_string();
        let mut flows = ParquetTable::create(&table_file::<FlowRow>(path), Arc::clone(&names))?;
        let mut samples = ParquetTable::create(&table_file::<SampleRow>(path), Arc::clone(&names))?;
        // The digest is known only at the end.
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

    /// Writes a file that `config.yaml` refers to, such as `sends-0.csv`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_beside(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), TrialError> {
        write_own(&self.path.join(name), write)
    }

    /// Returns the path to the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends rows to `flows.parquet`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append_flows(&mut self, rows: &[FlowRow]) -> Result<(), TrialError> {
        self.flows.append(rows)
    }

    /// Appends rows to `samples.parquet`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append_samples(&mut self, rows: &[SampleRow]) -> Result<(), TrialError> {
        self.samples.append(rows)
    }

    /// Writes the rows so far, so that they can be [recovered](crate::report::recover_tables) if
    /// the process is killed.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn checkpoint(&mut self) -> Result<(), TrialError> {
        self.flows.checkpoint()?;
        self.samples.checkpoint()
    }

    /// Writes what is known only at the end, the manifest last.
    ///
    /// The summary says whether the trial is complete, and if not, why.
    ///
    /// # Errors
    /// If a file cannot be written. The folder is then still marked as not complete.
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
        // The tables have footers now, so the checkpoints are of no use.
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
        // The manifest goes last: it tells readers that all other files are whole.
        manifest.digest = Some(summary.engine.digest.clone());
        manifest.complete = summary.complete;
        manifest.stopped.clone_from(&summary.stopped);
        manifest.peak_rss_bytes = summary.engine.peak_rss_bytes;
        manifest.files = sums(&path).map_err(TrialError::io("read", &path))?;
        manifest.wall_s = Some(began.elapsed().as_secs_f64());
        write_json(&path.join(MANIFEST_FILE), &manifest)?;
        drop(lock);
        Ok(())
    }
}

/// Replaces a finished trial's summary, and its tables of ports, queues, switches, tiers and notes:
/// real switches' counters may arrive after the trial.
///
/// # Errors
/// If a file cannot be written.
pub fn replace_counts(folder: &Path, counts: &Counts, summary: &Summary) -> Result<(), TrialError> {
    let mut manifest = read_manifest(folder)?;
    let seed = manifest.run.seed.to_string();
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
    write_json(&folder.join(SUMMARY_FILE), summary)?;
    manifest.files = sums(folder).map_err(TrialError::io("read", folder))?;
    write_json(&folder.join(MANIFEST_FILE), &manifest)
}

/// A plain sink for callers that need no progress. Others wrap the folder in their own sink.
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

/// Removes an earlier trial's files, so that none is mistaken for one from this trial.
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
    // The caller replaces these two at once, so the folder is a trial's at any time.
    let files = own_files(folder);
    let files = files
        .iter()
        .filter(|file| !file.ends_with(MANIFEST_FILE) && !file.ends_with(CONFIG_FILE));
    files.into_iter().try_for_each(|file| remove(file))
}

/// Removes a trial: its own files, and its folder unless that holds others.
///
/// # Errors
/// If the folder is in use or holds no trial, or a file cannot be removed.
pub(crate) fn remove_trial(folder: &Path) -> Result<(), TrialError> {
    let _lock = take_folder(folder)?;
    if !is_just_made(folder) {
        clear(folder)?;
        remove(&folder.join(CONFIG_FILE))?;
        remove(&folder.join(MANIFEST_FILE))?;
    }
    // This fails, as it should, if someone has put other files into the folder.
    let _ = fs::remove_dir(folder);
    Ok(())
}

/// Context for the tables that are written at the end of a trial.
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

/// Writes each table that is known when a trial ends.
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
