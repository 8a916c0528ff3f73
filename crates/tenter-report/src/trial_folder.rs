//! The trial folder while it is written.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use tenter_record::{
    CircuitRow, CollectiveRow, Control, Counts, FlowRow, InterferenceRow, JobRow, Names, PortRow,
    Progress, QueueChangeRow, QueueRow, ReactionRow, Row, SampleRow, SignalRow, Sink, SinkError,
    SteeringRow, Summary, SwitchRow, TierRow,
};

use crate::parquet_table::{DIGEST_NOTE, SEED_NOTE};
use crate::seed_folder::remove;
use crate::tiers::Tiers;
use crate::trace::TRACE_FILE;
use crate::{Manifest, ParquetTable, RunIdentity, TrialError};

/// The effective configuration of a trial, in its folder.
pub const CONFIG_FILE: &str = "config.yaml";
pub(crate) const SUMMARY_FILE: &str = "summary.json";
pub(crate) const MANIFEST_FILE: &str = "manifest.json";
/// The manifest while it is written.
const PARTIAL_MANIFEST: &str = "manifest.json.partial";

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
        write_whole(&path.join(CONFIG_FILE), config)?;
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

    /// Writes the files that `config.yaml` names: their names, `sends-0.csv` and so on, and their
    /// bytes.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn keep_beside(&self, files: &[(String, Vec<u8>)]) -> Result<(), TrialError> {
        let write = |(name, bytes): &(String, Vec<u8>)| write_whole(&self.path.join(name), bytes);
        files.iter().try_for_each(write)
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
        let tables = Tables {
            folder: &path,
            names: &names,
            seed: &manifest.run.seed.to_string(),
            digest,
        };
        let jobs: Vec<JobRow> = summary.jobs.iter().map(|job| job.job.clone()).collect();
        let collectives: Vec<CollectiveRow> = summary
            .jobs
            .iter()
            .flat_map(|job| job.collectives.clone())
            .collect();
        tables.write(&jobs)?;
        tables.write(&collectives)?;
        tables.write_any(&summary.interference)?;
        tables.write(&counts.ports)?;
        tables.write(&counts.queues)?;
        tables.write(&counts.switches)?;
        if !counts.signals.is_empty() {
            tables.write(&counts.signals)?;
            tables.write(&counts.reactions)?;
        }
        tables.write_any(&counts.circuits)?;
        tables.write_any(&counts.steering)?;
        tables.write_any(&counts.queue_changes)?;
        tables.write(&Tiers::of(&counts.ports, &counts.switches).rows(&counts.ports))?;
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

/// Whether a folder has a manifest that Tenter wrote, of any version.
pub(crate) fn has_manifest(folder: &Path) -> bool {
    let text = fs::read_to_string(folder.join(MANIFEST_FILE)).unwrap_or_default();
    let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
    value.is_ok_and(|value| value["tenter_version"].is_string() && value["complete"].is_boolean())
}

/// Whether a folder is empty, or has only a manifest that a killed run had not finished.
pub(crate) fn is_just_made(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else {
        return false;
    };
    entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == PARTIAL_MANIFEST))
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

/// The file of a table.
pub(crate) fn table_file<R: Row>(folder: &Path) -> PathBuf {
    folder.join(R::TABLE).with_extension("parquet")
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

/// How the names of files that `config.yaml` names begin and end, around their numbers.
const BESIDE: [(&str, &str); 3] = [
    ("sends-", ".csv"),
    ("steps-", ".csv"),
    ("operations-", ".goal"),
];

/// The files `sends-0.csv` and so on that `config.yaml` names; a missing one hides no other.
fn files_beside(folder: &Path) -> Vec<PathBuf> {
    let is_beside = |name: &str| {
        let name = BESIDE
            .iter()
            .find_map(|(of, ending)| name.strip_prefix(of)?.strip_suffix(ending));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        name.is_some_and(|number| !number.is_empty() && digits(number))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_beside))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

/// All files of a trial.
pub(crate) fn own_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = files_beside(folder);
    files.extend([
        folder.join(CONFIG_FILE),
        folder.join(SUMMARY_FILE),
        table_file::<JobRow>(folder),
        table_file::<CollectiveRow>(folder),
        table_file::<InterferenceRow>(folder),
        table_file::<FlowRow>(folder),
        table_file::<PortRow>(folder),
        table_file::<QueueRow>(folder),
        table_file::<SwitchRow>(folder),
        table_file::<TierRow>(folder),
        table_file::<SignalRow>(folder),
        table_file::<ReactionRow>(folder),
        table_file::<CircuitRow>(folder),
        table_file::<SteeringRow>(folder),
        table_file::<SampleRow>(folder),
        table_file::<QueueChangeRow>(folder),
        folder.join(TRACE_FILE),
        folder.join(PARTIAL_MANIFEST),
        // These identify a trial.
        folder.join(MANIFEST_FILE),
    ]);
    files
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

    /// As [`Tables::write`], for a table that only some trials have.
    fn write_any<R: Row + Clone>(&self, rows: &[R]) -> Result<(), TrialError> {
        if rows.is_empty() {
            return Ok(());
        }
        self.write(rows)
    }
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), TrialError> {
    let mut text = serde_json::to_string_pretty(value).map_err(TrialError::content(path))?;
    text.push('\n');
    write_whole(path, &text)
}

/// The name under which this process writes a file before it moves it to its own: another process
/// may write the same file at the same time.
pub(crate) fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    PathBuf::from(name)
}

/// Writes a file beside its final name and moves it there, so that a reader sees the old content
/// or the new one, never half of it. A file that is not regular, as `/dev/stdout`, is written
/// directly.
///
/// # Errors
/// When the file cannot be written; an older one is then as it was.
pub fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), TrialError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".partial");
    replace(path, &PathBuf::from(beside), bytes.as_ref())
}

/// As [`write_whole`], for a file that several processes may write at the same time.
///
/// # Errors
/// When the file cannot be written; an older one is then as it was.
pub fn write_shared(path: &Path, text: &str) -> Result<(), TrialError> {
    replace(path, &partial(path), text.as_bytes())
}

fn replace(path: &Path, beside: &Path, bytes: &[u8]) -> Result<(), TrialError> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, bytes).map_err(TrialError::io("write", path));
    }
    // A link of that name must not lead the text elsewhere.
    let _ = fs::remove_file(beside);
    let written = File::create_new(beside)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(beside, path));
    written.map_err(|error| {
        let _ = fs::remove_file(beside);
        TrialError::io("write", path)(error)
    })
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

    #[test]
    fn a_missing_file_beside_hides_no_other() {
        let folder = std::env::temp_dir().join(format!("tenter-beside-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for the test");
        for name in [
            "sends-0.csv",
            "sends-2.csv",
            "sends-.csv",
            "sends-x.csv",
            "notes.csv",
        ] {
            fs::write(folder.join(name), "").expect("a file for the test");
        }
        let names = ["sends-0.csv", "sends-2.csv"].map(|name| folder.join(name));
        assert_eq!(files_beside(&folder), names);
        fs::remove_dir_all(&folder).expect("the folder of the test");
    }
}
