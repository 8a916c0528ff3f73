//! The ledger: which trials have run, which run now, and their outcomes.
//!
//! A trial's key is the digest over its whole configuration and the program that runs it, so a
//! finished trial is never run again, whichever sweep asks for it. Each change is one `SQLite`
//! transaction: a process that is killed loses the trials that it was running, and no others. Each
//! process that shares a ledger holds a lock file, by which the others see that it is alive.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::report::{TrialError, below, open_own};
use rusqlite::{
    Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params,
};
use tenter_language::units::{LEDGER_FILE, WORKERS_FOLDER};

use super::outcome::{End, Outcome};
use crate::Error;

/// Time for which a process waits for another one that is writing.
const PATIENCE: Duration = Duration::from_secs(60);
/// Version number for the table layout.
const VERSION: i64 = 4;

const TABLES: &str = "
CREATE TABLE trials (
    key TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    worker TEXT NOT NULL,
    name TEXT NOT NULL,
    settings TEXT NOT NULL,
    seed TEXT NOT NULL,
    started REAL NOT NULL,
    ended REAL,
    digest TEXT,
    outcome TEXT,
    error TEXT,
    runs INTEGER NOT NULL DEFAULT 1
) WITHOUT ROWID;
";

/// Migration: layout 1 did not count how often a trial was begun.
const FROM_1: &str = "ALTER TABLE trials ADD COLUMN runs INTEGER NOT NULL DEFAULT 1;";

/// Migration: layout 2 had sweeps' trials alone. Each trial in a workspace has a folder, and people
/// name, tag and annotate it; equal trials have several rows.
const WORKSPACE_TABLES: &str = "
CREATE TABLE workspace_trials (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    folder TEXT UNIQUE,
    stamp INTEGER NOT NULL DEFAULT 0,
    worker TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL,
    started REAL,
    ended REAL,
    fabric TEXT NOT NULL DEFAULT '',
    hosts INTEGER,
    jobs INTEGER,
    jct_ns REAL,
    jct_job TEXT,
    headline TEXT,
    ideal_percent REAL,
    algbw_gbytes_per_s REAL,
    busbw_gbytes_per_s REAL,
    digest TEXT,
    seed TEXT,
    wall_s REAL,
    error TEXT,
    ideals TEXT,
    progress TEXT,
    -- Long texts come last: whoever reads what is before them need not read them.
    note TEXT NOT NULL DEFAULT '',
    scenario TEXT NOT NULL
);
CREATE INDEX workspace_trials_by_created ON workspace_trials (created);
CREATE INDEX workspace_trials_by_state ON workspace_trials (state);
CREATE TABLE workspace_tags (
    trial INTEGER NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (tag, trial)
) WITHOUT ROWID;
CREATE INDEX workspace_tags_by_trial ON workspace_tags (trial);
CREATE TABLE workspace_sweeps (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    description TEXT NOT NULL,
    scenario TEXT NOT NULL,
    folder TEXT UNIQUE,
    worker TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL,
    ended REAL,
    error TEXT,
    trials INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0
);
";

/// Migration: layout 3 did not keep which job took longest, and had other collectives in
/// `headline`.
const FROM_3: &str = "ALTER TABLE workspace_trials ADD COLUMN jct_job TEXT;";

/// Ended trials of a workspace's sweeps: the readings of each, and its row among the other trials.
/// Layout 3 lacked this table at first.
const SWEPT_TABLE: &str = "
CREATE TABLE IF NOT EXISTS workspace_swept (
    sweep INTEGER NOT NULL,
    place INTEGER NOT NULL,
    -- Missing where a person has removed it.
    trial INTEGER,
    variant INTEGER NOT NULL,
    point INTEGER NOT NULL,
    seed TEXT NOT NULL,
    digest TEXT NOT NULL,
    readings TEXT,
    summary TEXT,
    PRIMARY KEY (sweep, place)
);
CREATE INDEX IF NOT EXISTS workspace_swept_by_trial ON workspace_swept (trial);
";

/// An open ledger, and the lock by which other processes see that this one is alive.
#[derive(Debug)]
pub(crate) struct Ledger {
    connection: Connection,
    folder: PathBuf,
    worker: String,
    /// Lock file, held until the process ends in whatever way; `None` for a ledger in memory, which
    /// no other process can see.
    alive: Option<File>,
}

/// Answer to a process that wants to run a trial.
pub(crate) enum Claim {
    /// The trial is this process's to run.
    Granted,
    /// The trial has run.
    Done(Box<Finished>),
    /// The trial has failed before, for this reason.
    Failed(String),
    /// Another process is running the trial.
    Elsewhere,
}

/// Outcome of a trial that has run.
pub(crate) struct Finished {
    pub(crate) outcome: Outcome,
    /// Reason why a second run, for a reading that the first lacked, has failed.
    pub(crate) error: Option<String>,
    /// Time at which it ended last, in seconds since 1970; `None` if it was claimed again and given
    /// back.
    ended: Option<f64>,
}

/// Texts that describe a trial in a ledger.
pub(crate) struct Title<'t> {
    /// Name of the scenario.
    pub(crate) name: &'t str,
    /// Settings that the sweep makes.
    pub(crate) settings: &'t str,
    /// First varied seed, as text: a seed may have 64 bits, and `SQLite` integers have 63.
    pub(crate) seed: &'t str,
}

impl Ledger {
    /// Opens the ledger in `folder`, and makes both if they are missing.
    pub(crate) fn open(folder: &Path) -> Result<Ledger, Error> {
        let failed = |what: &str, error: &Fault| {
            of_disk(&folder.join(LEDGER_FILE), error).unwrap_or_else(|| cannot(what, folder, error))
        };
        refuse_others(folder)?;
        let workers = folder.join(WORKERS_FOLDER);
        std::fs::create_dir_all(&workers).map_err(|error| failed("make", &error))?;
        // Before the database: other processes take rows of a worker without a lock for
        // interrupted.
        let (worker, alive) = be_alive(&workers).map_err(|error| failed("join", &error))?;
        let connection = Connection::open(folder.join(LEDGER_FILE));
        let connection = connection.map_err(|error| failed("open", &error))?;
        prepare(&connection).map_err(|error| failed("open", &error))?;
        let version = layout(&connection).map_err(|error| failed("read", &error))?;
        if version != VERSION {
            return Err(of_later(folder, version));
        }
        Ok(Ledger {
            connection,
            folder: folder.to_owned(),
            worker,
            alive: Some(alive),
        })
    }

    /// Makes a ledger that only this process sees and that ends with it.
    pub(crate) fn in_memory() -> Result<Ledger, Error> {
        let connection = Connection::open_in_memory().map_err(broken)?;
        layout(&connection).map_err(broken)?;
        Ok(Ledger {
            connection,
            folder: PathBuf::new(),
            worker: String::new(),
            alive: None,
        })
    }

    /// Opens the ledger in `folder`, which must have one.
    ///
    /// # Errors
    /// As [`Ledger::open`], and when there is none.
    pub(crate) fn reopen(folder: &Path) -> Result<Ledger, Error> {
        if folder.join(LEDGER_FILE).is_file() {
            return Ledger::open(folder);
        }
        Err(Error::Asked(format!(
            "there is no sweep to resume in {}; name its folder with `--output`, or leave `--resume` out",
            folder.display()
        )))
    }

    /// Notes trials that are to be run, unless they are known. Trials that were queued before and
    /// are not listed are forgotten. One transaction does both.
    pub(crate) fn queue<'t>(
        &self,
        trials: impl Iterator<Item = (&'t str, Title<'t>)>,
    ) -> Result<(), Error> {
        let text = "
            INSERT INTO trials (key, state, worker, name, settings, seed, started, runs)
            VALUES (?1, 'queued', '', ?2, ?3, ?4, 0, 0)
            ON CONFLICT (key) DO NOTHING";
        let all = || -> rusqlite::Result<()> {
            // `unchecked` as `self` is shared; no method of the ledger begins a transaction within
            // another.
            let changes = self.connection.unchecked_transaction()?;
            changes.execute("DELETE FROM trials WHERE state = 'queued'", [])?;
            let mut insert = changes.prepare(text)?;
            for (key, title) in trials {
                insert.execute(params![key, title.name, title.settings, title.seed])?;
            }
            drop(insert);
            changes.commit()
        };
        all().map_err(broken)
    }

    /// Notes another sweep's trial and its end. If the trial is known, new readings are added.
    pub(super) fn add(&self, key: &str, name: &str, end: &End) -> Result<(), Error> {
        let text = "
            INSERT INTO trials (key, state, worker, name, settings, seed, started, runs)
            VALUES (?1, 'queued', '', '', ?2, '', 0, 0)
            ON CONFLICT (key) DO NOTHING";
        self.write(text, params![key, name])?;
        match end {
            End::Done(outcome) => self.finish(key, outcome),
            End::Failed(why) => self.fail(key, why),
            End::Stopped => self.stop(key),
        }
    }

    /// Claims a trial for this process. A failed trial is granted only with `retry`.
    pub(crate) fn claim(&self, key: &str, title: &Title<'_>, retry: bool) -> Result<Claim, Error> {
        loop {
            if self.insert(key, title, retry)? {
                return Ok(Claim::Granted);
            }
            let query = "SELECT state, worker, outcome, error, ended FROM trials WHERE key = ?1";
            let row = |row: &rusqlite::Row<'_>| {
                let texts: (String, String, Option<String>, Option<String>) =
                    (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                Ok((texts, row.get(4)?))
            };
            let found = self.connection.query_row(query, [key], row).optional();
            // The row was deleted after the insert had met it: the next round can insert it.
            let Some(((state, worker, outcome, error), ended)) = found.map_err(broken)? else {
                continue;
            };
            match state.as_str() {
                "done" => {
                    let outcome = parsed(&outcome.unwrap_or_default())?;
                    return Ok(Claim::Done(Box::new(Finished {
                        outcome,
                        error,
                        ended,
                    })));
                }
                "failed" => return Ok(Claim::Failed(error.unwrap_or_default())),
                "running" if worker == self.worker || self.lives(&worker) => {
                    return Ok(Claim::Elsewhere);
                }
                _ => self.interrupt(key, &worker)?,
            }
        }
    }

    /// Claims a finished trial again, for a reading that it lacks; returns false if another process
    /// was faster. The old outcome is kept until the new one is added.
    pub(crate) fn reclaim(&self, key: &str, seen: &Finished) -> Result<bool, Error> {
        let text = "UPDATE trials
            SET state = 'running', worker = ?2, started = ?3, ended = NULL, error = NULL,
                runs = runs + 1
            WHERE key = ?1 AND state = 'done' AND ended IS ?4";
        let rows = self.write(text, params![key, self.worker, now(), seen.ended])?;
        Ok(rows > 0)
    }

    /// Claims a trial that no process runs; returns false if there is none to claim.
    fn insert(&self, key: &str, title: &Title<'_>, retry: bool) -> Result<bool, Error> {
        let text = "
            INSERT INTO trials (key, state, worker, name, settings, seed, started, runs)
            VALUES (?1, 'running', ?2, ?3, ?4, ?5, ?6, 1)
            ON CONFLICT (key) DO UPDATE
            SET state = 'running', worker = ?2, started = ?6, ended = NULL, error = NULL,
                runs = runs + 1
            WHERE state IN ('queued', 'interrupted') OR (state = 'failed' AND ?7)";
        let Title {
            name,
            settings,
            seed,
        } = title;
        let values = params![key, self.worker, name, settings, seed, now(), retry];
        self.write(text, values).map(|rows| rows > 0)
    }

    /// Notes that the process that was running a trial is gone.
    fn interrupt(&self, key: &str, worker: &str) -> Result<(), Error> {
        let text = "UPDATE trials
            SET state = iif(outcome IS NULL, 'interrupted', 'done'), ended = ?3
            WHERE key = ?1 AND worker = ?2 AND state = 'running'";
        self.write(text, params![key, worker, now()]).map(drop)
    }

    /// Executes one statement and returns how many rows it has changed.
    fn write(&self, text: &str, values: &[&dyn rusqlite::ToSql]) -> Result<usize, Error> {
        self.connection.execute(text, values).map_err(broken)
    }

    /// The database, which a workspace shares.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// This process's name in the ledger.
    pub(crate) fn worker(&self) -> &str {
        &self.worker
    }

    /// True if a process that has joined the ledger is alive, which is if its lock is held.
    pub(crate) fn lives(&self, worker: &str) -> bool {
        // The ledger may come from a stranger: a worker's name must not lead out of the folder.
        let Ok(path) = below(&self.folder.join(WORKERS_FOLDER), Path::new(worker)) else {
            return false;
        };
        let Ok(file) = open_own(&path) else {
            return false;
        };
        let is_held = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        if !is_held {
            // No process takes the name again, so the file of a dead one can go.
            let _ = std::fs::remove_file(path);
        }
        is_held
    }

    /// Keeps a trial's outcome, and the readings from its earlier runs for other sweeps or for this
    /// one with other readings. Equal trials have equal readings, so they go together.
    pub(crate) fn finish(&self, key: &str, outcome: &Outcome) -> Result<(), Error> {
        // Another process may add readings between the query and the update: they would be lost.
        let changes = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let changes = changes.map_err(broken)?;
        let query = "SELECT outcome FROM trials WHERE key = ?1";
        let before = changes.query_row(query, [key], |row| row.get::<_, Option<String>>(0));
        let before = before.optional().map_err(broken)?.flatten();
        let mut outcome = outcome.clone();
        if let Some(before) = before {
            outcome.add(parsed(&before)?.values);
        }
        let text = serde_json::to_string(&outcome).map_err(|error| broken_text(&error))?;
        let digest = &outcome.summary.engine.digest;
        let done = "UPDATE trials
            SET state = 'done', ended = ?2, digest = ?3, outcome = ?4, error = NULL WHERE key = ?1";
        self.write(done, params![key, now(), digest, text])?;
        changes.commit().map_err(broken)
    }

    /// Notes that a trial has failed. A trial that had run before keeps its readings.
    pub(crate) fn fail(&self, key: &str, error: &str) -> Result<(), Error> {
        let text = "UPDATE trials
            SET state = iif(outcome IS NULL, 'failed', 'done'), ended = ?2, error = ?3
            WHERE key = ?1";
        self.write(text, params![key, now(), error]).map(drop)
    }

    /// Gives a claimed trial back: it waits for the worker that comes first.
    pub(crate) fn wait(&self, key: &str) -> Result<(), Error> {
        // The caller's claim has counted a run that did not begin.
        let text = "UPDATE trials
            SET state = iif(outcome IS NULL, 'queued', 'done'), runs = runs - 1
            WHERE key = ?1 AND state = 'running'";
        self.write(text, params![key]).map(drop)
    }

    /// Notes that a trial was stopped. A trial that had ended before, and was run again for another
    /// reading, keeps its outcome.
    pub(crate) fn stop(&self, key: &str) -> Result<(), Error> {
        let text = "UPDATE trials
            SET state = iif(outcome IS NULL, 'interrupted', 'done'), ended = ?2
            WHERE key = ?1 AND state = 'running'";
        self.write(text, params![key, now()]).map(drop)
    }

    /// Counts the trials in each state.
    #[cfg(test)]
    fn states(&self) -> Vec<(String, i64)> {
        let text = "SELECT state, count(*) FROM trials GROUP BY state ORDER BY state";
        let mut statement = self.connection.prepare(text).expect("a statement");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.expect("rows").map(|row| row.expect("a row")).collect()
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        if self.alive.is_none() {
            return;
        }
        let _ = std::fs::remove_file(self.folder.join(WORKERS_FOLDER).join(&self.worker));
    }
}

/// Condition of a file that should be a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// It can be read from end to end.
    Sound,
    /// There is none.
    Missing,
    /// It is no database, or a part of it cannot be read.
    Damaged,
    /// A later version has written it, with this layout.
    Later(i64),
}

/// Reads a ledger from end to end.
pub(crate) fn condition(file: &Path) -> Condition {
    if file.symlink_metadata().is_err() {
        return Condition::Missing;
    }
    let checked = || -> rusqlite::Result<Condition> {
        let connection = Connection::open(file)?;
        connection.busy_timeout(PATIENCE)?;
        let text = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        let answer = connection.query_row("PRAGMA integrity_check(1)", [], text)?;
        let layout = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        Ok(match (answer.as_str(), layout) {
            ("ok", VERSION..) if layout > VERSION => Condition::Later(layout),
            ("ok", 1..) => Condition::Sound,
            // A file without tables is what a truncated one looks like.
            _ => Condition::Damaged,
        })
    };
    checked().unwrap_or(Condition::Damaged)
}

/// Makes the error for a ledger that a later version has written.
pub(crate) fn of_later(folder: &Path, layout: i64) -> Error {
    Error::Asked(format!(
        "the ledger in {} has layout {layout}, and this program writes {VERSION}: a later Tenter has written it; use that version, or name another folder",
        folder.display()
    ))
}

/// Returns the name of a process that uses the ledger in `folder`, if there is one.
pub(crate) fn user_of(folder: &Path) -> Option<String> {
    let entries = std::fs::read_dir(folder.join(WORKERS_FOLDER)).ok()?;
    let mut names = entries.flatten().map(|entry| entry.file_name());
    let name = names.find(|name| {
        let file = File::options()
            .write(true)
            .open(folder.join(WORKERS_FOLDER).join(name));
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    })?;
    let name = name.to_string_lossy().into_owned();
    name.split('-').next().map(str::to_owned)
}

/// Refuses a folder in which something else has the name of a ledger file or folder: a link, or a
/// trial with that name. `SQLite` would only say that it cannot open its file.
fn refuse_others(folder: &Path) -> Result<(), Error> {
    let files = ["", "-journal", "-wal", "-shm"].map(|end| (format!("{LEDGER_FILE}{end}"), false));
    for (name, is_folder) in files.into_iter().chain([(WORKERS_FOLDER.to_owned(), true)]) {
        let path = folder.join(name);
        let Ok(found) = path.symlink_metadata() else {
            continue;
        };
        if found.is_dir() != is_folder || found.is_file() == is_folder {
            return Err(Error::Asked(format!(
                "{} is a {}, and the ledger needs the name for a {} of its own; move it away",
                path.display(),
                if found.file_type().is_symlink() {
                    "link"
                } else if found.is_dir() {
                    "folder"
                } else {
                    "file"
                },
                if is_folder { "folder" } else { "file" },
            )));
        }
    }
    Ok(())
}

/// Takes a lock file that no other process has; returns its name and the open file.
fn be_alive(workers: &Path) -> std::io::Result<(String, File)> {
    let began = now().to_bits();
    let process = std::process::id();
    for attempt in 0_u32.. {
        // A process number may come again, on this machine or another one: the time makes names
        // unique.
        let name = format!("{process}-{began:x}-{attempt}");
        let file = File::options()
            .create_new(true)
            .write(true)
            .open(workers.join(&name));
        match file {
            Ok(file) => {
                file.lock()?;
                return Ok((name, file));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("a name is free before numbers end")
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A killed process loses nothing by this; a machine that loses power loses what the system had
    // not written yet.
    connection.pragma_update(None, "synchronous", "NORMAL")
}

/// Brings the tables to the current layout, making them if there are none, and returns the layout.
/// A newer layout is left alone.
fn layout(connection: &Connection) -> rusqlite::Result<i64> {
    let version = || connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
    if version()? < VERSION {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        // Another process may have done it before this transaction began.
        match version()? {
            0 => connection.execute_batch(TABLES)?,
            1 => connection.execute_batch(FROM_1)?,
            _ => {}
        }
        match version()? {
            // The version changes at the end, so this is the layout that was found.
            0..3 => connection.execute_batch(WORKSPACE_TABLES)?,
            3 => connection.execute_batch(FROM_3)?,
            _ => {}
        }
        if version()? < VERSION {
            connection.pragma_update(None, "user_version", VERSION)?;
        }
        connection.execute_batch("COMMIT")?;
    }
    if version()? == VERSION {
        connection.execute_batch(SWEPT_TABLE)?;
    }
    version()
}

/// Seconds since 1970.
pub(crate) fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

#[allow(clippy::needless_pass_by_value)] // for `map_err`
pub(crate) fn broken(error: rusqlite::Error) -> Error {
    of_disk(Path::new(LEDGER_FILE), &error).unwrap_or_else(|| {
        Error::Asked(format!(
            "the ledger: {error}; check that its folder can be written, and is not on a network file system"
        ))
    })
}

fn cannot(what: &str, folder: &Path, error: impl std::fmt::Display) -> Error {
    let folder = folder.display();
    Error::Asked(format!(
        "cannot {what} the ledger in {folder}: {error}; `tenter trials repair --workspace {folder}` replaces a damaged one, or name another folder"
    ))
}

/// An error from the system or from `SQLite`.
type Fault = dyn std::error::Error + 'static;

/// Returns the error for the ledger at `path` if the disk is at fault (full or failing), and not
/// the folder that was named.
fn of_disk(path: &Path, error: &Fault) -> Option<Error> {
    let kind = match error.downcast_ref::<rusqlite::Error>() {
        Some(error) => match error.sqlite_error_code()? {
            ErrorCode::DiskFull => io::ErrorKind::StorageFull,
            ErrorCode::SystemIoFailure => io::ErrorKind::Other,
            _ => return None,
        },
        None => error.downcast_ref::<io::Error>()?.kind(),
    };
    let error = TrialError::Io {
        action: "write",
        path: path.to_owned(),
        source: io::Error::new(kind, error.to_string()),
    };
    error.is_of_disk().then_some(Error::Folder(error))
}

fn parsed(outcome: &str) -> Result<Outcome, Error> {
    serde_json::from_str(outcome).map_err(|error| broken_text(&error))
}

fn broken_text(error: &serde_json::Error) -> Error {
    Error::Asked(format!(
        "the ledger holds a trial of another version: {error}; use another folder"
    ))
}

#[cfg(test)]
mod tests {
    use tenter_results::Summary;

    use crate::studies::TrialValue;

    use super::*;

    const TITLE: Title<'static> = Title {
        name: "a",
        settings: "b=1",
        seed: "7",
    };

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("tenter-ledger-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    fn outcome() -> Outcome {
        Outcome {
            summary: Summary::default(),
            values: vec![("x".to_owned(), Some(1.5.into())), ("y".to_owned(), None)],
            pauses: None,
        }
    }

    #[test]
    fn a_trial_is_run_once() {
        let folder = folder("once");
        let ledger = Ledger::open(&folder).expect("a new ledger");
        assert!(matches!(
            ledger.claim("k", &TITLE, false),
            Ok(Claim::Granted)
        ));
        let other = Ledger::open(&folder).expect("the same ledger");
        assert!(matches!(
            other.claim("k", &TITLE, false),
            Ok(Claim::Elsewhere)
        ));
        ledger.finish("k", &outcome()).expect("it is kept");
        let Ok(Claim::Done(kept)) = other.claim("k", &TITLE, false) else {
            panic!("it has run");
        };
        assert_eq!(kept.outcome.values, outcome().values);
        std::fs::remove_dir_all(folder).expect("the folder is there");
    }

    #[test]
    fn trials_wait_until_they_are_run_and_none_is_forgotten_that_was_begun() {
        let folder = folder("queued");
        let ledger = Ledger::open(&folder).expect("a new ledger");
        let queue = |keys: &[&'static str]| {
            let trials = keys.iter().map(|key| (*key, TITLE));
            ledger.queue(trials).expect("they are noted");
        };
        queue(&["a", "b", "c"]);
        assert_eq!(ledger.states(), [("queued".to_owned(), 3)]);
        let granted = ledger.claim("a", &TITLE, false);
        assert!(matches!(granted, Ok(Claim::Granted)));
        ledger.finish("a", &outcome()).expect("it is kept");
        queue(&["a", "c", "d", "e"]);
        let expected = [("done".to_owned(), 1), ("queued".to_owned(), 3)];
        assert_eq!(ledger.states(), expected);
        std::fs::remove_dir_all(folder).expect("the folder is there");
    }

    #[test]
    fn a_trial_of_a_process_that_is_gone_is_run_again() {
        let folder = folder("gone");
        let gone = Ledger::open(&folder).expect("a new ledger");
        assert!(matches!(gone.claim("k", &TITLE, false), Ok(Claim::Granted)));
        drop(gone);
        let ledger = Ledger::open(&folder).expect("the same ledger");
        assert!(matches!(
            ledger.claim("k", &TITLE, false),
            Ok(Claim::Granted)
        ));
        std::fs::remove_dir_all(folder).expect("the folder is there");
    }

    fn done(ledger: &Ledger) -> Box<Finished> {
        match ledger.claim("k", &TITLE, false) {
            Ok(Claim::Done(finished)) => finished,
            _ => panic!("it has run"),
        }
    }

    #[test]
    fn a_trial_that_lacks_a_reading_is_claimed_by_one() {
        let folder = folder("reclaim");
        let [first, second] = [(); 2].map(|()| Ledger::open(&folder).expect("a ledger"));
        let granted = first.claim("k", &TITLE, false);
        assert!(matches!(granted, Ok(Claim::Granted)));
        first.finish("k", &outcome()).expect("it is kept");
        let (one, other) = (done(&first), done(&second));
        assert!(first.reclaim("k", &one).expect("it is written"));
        assert!(!second.reclaim("k", &other).expect("it is read"));
        let claim = second.claim("k", &TITLE, false);
        assert!(matches!(claim, Ok(Claim::Elsewhere)));
        first.finish("k", &outcome()).expect("it is kept");
        // What the other one has seen lacked the reading; by now it may be there.
        assert!(!second.reclaim("k", &other).expect("it is read"));
        assert!(second.reclaim("k", &done(&second)).expect("it is written"));
        std::fs::remove_dir_all(folder).expect("the folder is there");
    }

    #[test]
    fn a_trial_that_is_run_again_keeps_what_it_has() {
        let folder = folder("keeps");
        let ledger = Ledger::open(&folder).expect("a new ledger");
        let granted = ledger.claim("k", &TITLE, false);
        assert!(matches!(granted, Ok(Claim::Granted)));
        ledger.finish("k", &outcome()).expect("it is kept");
        for end in ["stop", "fail", "wait"] {
            assert!(ledger.reclaim("k", &done(&ledger)).expect("it is written"));
            let noted = match end {
                "stop" => ledger.stop("k"),
                "fail" => ledger.fail("k", "too large"),
                _ => ledger.wait("k"),
            };
            noted.expect("it is noted");
            assert_eq!(done(&ledger).outcome.values, outcome().values);
        }
        assert!(ledger.reclaim("k", &done(&ledger)).expect("it is written"));
        drop(ledger);
        // Its process is gone.
        let ledger = Ledger::open(&folder).expect("the same ledger");
        assert_eq!(done(&ledger).outcome.values, outcome().values);
        std::fs::remove_dir_all(folder).expect("the folder is there");
    }

    #[test]
    fn a_trial_that_fails_when_it_is_run_again_says_why() {
        let folder = folder("fails-again");
        let [first, second] = [(); 2].map(|()| Ledger::open(&folder).expect("a ledger"));
        let granted = first.claim("k", &TITLE, false);
        assert!(matches!(granted, Ok(Claim::Granted)));
        first.finish("k", &outcome()).expect("it is kept");
        assert!(first.reclaim("k", &done(&first)).expect("it is written"));
        first.fail("k", "too large").expect("it is noted");
        let seen = done(&second);
        assert_eq!(seen.error.as_deref(), Some("too large"));
        assert!(second.reclaim("k", &seen).expect("it is written"));
        second.stop("k").expect("it is noted");
        assert_eq!(done(&first).error, None);
        std::fs::remove_dir_all(folder).expect("the folder is there");
    }

    #[test]
    fn readings_of_several_runs_are_kept() {
        let folder = folder("readings");
        let ledger = Ledger::open(&folder).expect("a new ledger");
        let granted = ledger.claim("k", &TITLE, false);
        assert!(matches!(granted, Ok(Claim::Granted)));
        ledger.finish("k", &outcome()).expect("it is kept");
        assert!(ledger.reclaim("k", &done(&ledger)).expect("it is written"));
        let other = Outcome {
            values: vec![
                ("z".to_owned(), Some(2.0.into())),
                ("x".to_owned(), Some(1.5.into())),
            ],
            ..outcome()
        };
        ledger.finish("k", &other).expect("it is kept");
        let values = done(&ledger).outcome.values;
        let values: Vec<(&str, Option<f64>)> = values
            .iter()
            .map(|(of, value)| (of.as_str(), value.as_ref().and_then(TrialValue::number)))
            .collect();
        assert_eq!(values, [("z", Some(2.0)), ("x", Some(1.5)), ("y", None)]);
        std::fs::remove_dir_all(folder).expect("the folder is there");
    }

    #[test]
    fn a_trial_of_another_sweep_is_noted() {
        let folder = folder("other");
        let ledger = Ledger::open(&folder).expect("a new ledger");
        let end = End::Done(Box::new(outcome()));
        ledger.add("k", "ecmp seed 1", &end).expect("it is kept");
        assert_eq!(done(&ledger).outcome.values, outcome().values);
        let failed = End::Failed("too large".to_owned());
        ledger.add("f", "ecmp seed 2", &failed).expect("it is kept");
        let claim = ledger.claim("f", &TITLE, false);
        assert!(matches!(claim, Ok(Claim::Failed(why)) if why == "too large"));
        std::fs::remove_dir_all(folder).expect("the folder is there");
    }

    #[test]
    fn a_failed_trial_is_run_again_when_asked() {
        let folder = folder("failed");
        let ledger = Ledger::open(&folder).expect("a new ledger");
        assert!(matches!(
            ledger.claim("k", &TITLE, false),
            Ok(Claim::Granted)
        ));
        ledger.fail("k", "too large").expect("it is noted");
        let claim = ledger.claim("k", &TITLE, false);
        assert!(matches!(claim, Ok(Claim::Failed(why)) if why == "too large"));
        assert!(matches!(
            ledger.claim("k", &TITLE, true),
            Ok(Claim::Granted)
        ));
        std::fs::remove_dir_all(folder).expect("the folder is there");
    }
}
