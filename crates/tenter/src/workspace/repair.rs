//! Copies of a workspace's ledger, and what makes a damaged one whole again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use crate::report::{Soundness, check_files};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use tenter_language::units::{LEDGER_FILE, Limits};

use super::Workspace;
use crate::Error;
use crate::sweep::ledger::{self, Condition, broken};

/// Suffix of the ledger's copy.
const COPY: &str = ".copy";
/// Suffixes of a ledger's files.
const PARTS: [&str; 4] = ["", "-wal", "-shm", "-journal"];
/// Age at which the copy is renewed.
const COPY_EVERY: Duration = Duration::from_secs(600);

/// Result of a repair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// New name of the damaged ledger; `None` if the ledger was sound or missing.
    pub aside: Option<PathBuf>,
    /// True if there was no ledger.
    pub was_missing: bool,
    /// True if the copy of the ledger took its place.
    pub from_copy: bool,
    /// Trials whose name, note or tags were read from the damaged ledger.
    pub salvaged: usize,
    /// Trials that were found in folders and that the ledger did not know.
    pub found: usize,
}

impl Workspace {
    /// Checks the files of every trial that has a folder. Returns each trial's number and name with
    /// the result.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn check(&self) -> Result<Vec<(i64, String, Soundness)>, Error> {
        let trials = self.trials(&super::TrialQuery::default())?.trials;
        let checked = trials.into_iter().filter_map(|trial| {
            let folder = trial.folder.as_deref()?;
            Some((trial.id, trial.name, check_files(folder)))
        });
        Ok(checked.collect())
    }

    /// Copies the ledger beside it, if this process has changed a name, note or tag since, or the
    /// copy is ten minutes old. One that cannot be made, on a full disk for instance, leaves the
    /// older copy.
    pub fn copy_ledger(&self) {
        if self.is_given {
            return;
        }
        let is_edited = self.is_edited.swap(false, Ordering::Relaxed);
        let copy = self.folder.join(format!("{LEDGER_FILE}{COPY}"));
        let is_young = |at: SystemTime| at.elapsed().is_ok_and(|age| age < COPY_EVERY);
        let changed = copy.symlink_metadata().and_then(|found| found.modified());
        if is_edited || !changed.is_ok_and(is_young) {
            let partial = self.folder.join(format!("{LEDGER_FILE}{COPY}-partial"));
            let _ = fs::remove_file(&partial);
            let made = self
                .ledger()
                .connection()
                .execute("VACUUM INTO ?1", [partial.to_string_lossy().into_owned()]);
            if made.is_ok() {
                let _ = fs::rename(&partial, &copy);
            } else {
                let _ = fs::remove_file(&partial);
            }
        }
    }

    /// Makes the ledger in `folder` whole: a damaged or missing one is replaced by its copy, names,
    /// notes and tags are taken from the damaged one as far as it can be read, and trials are found
    /// in their folders, each within `limits`. Nothing is removed.
    ///
    /// # Errors
    /// When another process uses the workspace, the ledger comes from a later version, or files
    /// cannot be moved or written.
    pub fn repair(folder: impl AsRef<Path>, limits: Limits) -> Result<Repaired, Error> {
        let folder = folder.as_ref();
        if let Some(process) = ledger::user_of(folder) {
            return Err(Error::Asked(format!(
                "process {process} uses the workspace {}; end it first, for instance `tenter ui`",
                folder.display()
            )));
        }
        let file = folder.join(LEDGER_FILE);
        let mut done = Repaired::default();
        match ledger::condition(&file) {
            Condition::Sound => {}
            Condition::Later(layout) => return Err(ledger::of_later(folder, layout)),
            condition @ (Condition::Damaged | Condition::Missing) => {
                done.was_missing = condition == Condition::Missing;
                done.aside = set_aside(folder).map_err(|error| unmovable(folder, &error))?;
                let copy = folder.join(format!("{LEDGER_FILE}{COPY}"));
                if matches!(ledger::condition(&copy), Condition::Sound) {
                    fs::copy(&copy, &file).map_err(|error| unmovable(folder, &error))?;
                    done.from_copy = true;
                }
            }
        }
        let workspace = Workspace::open(folder)?;
        done.found = workspace.find(limits)?;
        if let Some(aside) = &done.aside {
            done.salvaged = workspace.salvage(aside)?;
        }
        Ok(done)
    }

    /// Takes names, notes and tags from a damaged ledger, as far as it can be read.
    fn salvage(&self, damaged: &Path) -> Result<usize, Error> {
        let Ok(old) = Connection::open_with_flags(damaged, OpenFlags::SQLITE_OPEN_READ_ONLY) else {
            return Ok(0);
        };
        let mut salvaged = 0;
        for Told {
            id,
            folder,
            name,
            note,
        } in told(&old)
        {
            let ledger = self.ledger();
            let text = "SELECT id FROM workspace_trials WHERE folder = ?1";
            let row = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
            let own = ledger
                .connection()
                .query_row(text, [&folder], row)
                .optional();
            let Some(own) = own.map_err(broken)? else {
                continue;
            };
            let text = "UPDATE workspace_trials SET name = ?2, note = iif(?3 = '', note, ?3)
                WHERE id = ?1";
            let changed = ledger.connection().execute(text, params![own, name, note]);
            changed.map_err(broken)?;
            for tag in tags(&old, id) {
                let insert = "INSERT OR IGNORE INTO workspace_tags (trial, tag) VALUES (?1, ?2)";
                let added = ledger.connection().execute(insert, params![own, tag]);
                added.map_err(broken)?;
            }
            salvaged += 1;
        }
        Ok(salvaged)
    }
}

/// Name and note that people gave a trial.
struct Told {
    id: i64,
    folder: String,
    name: String,
    note: String,
}

/// Reads what people have said of trials, up to the first row that cannot be read.
fn told(old: &Connection) -> Vec<Told> {
    let text = "SELECT id, folder, name, note FROM workspace_trials WHERE folder IS NOT NULL";
    let Ok(mut statement) = old.prepare(text) else {
        return Vec::new();
    };
    let rows = statement.query_map([], |row| {
        Ok(Told {
            id: row.get(0)?,
            folder: row.get(1)?,
            name: row.get(2)?,
            note: row.get(3)?,
        })
    });
    rows.map_or_else(|_| Vec::new(), |rows| rows.map_while(Result::ok).collect())
}

fn tags(old: &Connection, trial: i64) -> Vec<String> {
    let Ok(mut statement) = old.prepare("SELECT tag FROM workspace_tags WHERE trial = ?1") else {
        return Vec::new();
    };
    let rows = statement.query_map([trial], |row| row.get(0));
    rows.map_or_else(|_| Vec::new(), |rows| rows.map_while(Result::ok).collect())
}

/// Renames a ledger's files to the first free name. Returns the name, or `None` if there is no
/// ledger.
fn set_aside(folder: &Path) -> io::Result<Option<PathBuf>> {
    let name = |number: u32, part: &str| format!("{LEDGER_FILE}.damaged-{number}{part}");
    let is_free = |number: &u32| folder.join(name(*number, "")).symlink_metadata().is_err();
    let Some(number) = (1..u32::MAX).find(is_free) else {
        return Ok(None);
    };
    let mut aside = None;
    for part in PARTS {
        let path = folder.join(format!("{LEDGER_FILE}{part}"));
        let to = folder.join(name(number, part));
        match fs::rename(&path, &to) {
            Ok(()) if part.is_empty() => aside = Some(to),
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(aside)
}

fn unmovable(folder: &Path, error: &io::Error) -> Error {
    Error::Asked(format!(
        "cannot replace the ledger in {}: {error}; make the folder writable, or free space",
        folder.display()
    ))
}
