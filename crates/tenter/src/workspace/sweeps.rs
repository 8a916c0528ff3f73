//! Sweeps of a workspace.

use std::path::{Path, PathBuf};

use crate::report::below;
use crate::resolve::Format;
use crate::studies::Sweep;
use rusqlite::{OptionalExtension, Row, params};
use tenter_language::units::SWEEPS_FOLDER;

use super::Workspace;
use super::edit::checked_name;
use super::trial::TrialState;
use crate::sweep::SweepRun;
use crate::sweep::ledger::{broken, now};
use crate::{Error, Scenario};

/// A sweep of a workspace, as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkspaceSweep {
    /// Number in the workspace, counted separately from trials.
    pub id: i64,
    /// Name, from the description; need not be unique.
    pub name: String,
    /// State of the sweep as a whole.
    pub state: TrialState,
    /// Description in YAML, as it was queued.
    pub description: String,
    /// Varied scenario in YAML; empty if the description names a preset.
    pub scenario: String,
    /// Folder with the results; `None` before it runs.
    pub folder: Option<PathBuf>,
    /// Time at which it was queued, in seconds since 1970.
    pub created: f64,
    /// Time at which it ended, in seconds since 1970.
    pub ended: Option<f64>,
    /// Reason why it failed, or why its folder is refused.
    pub error: Option<String>,
    /// Trials that it has.
    pub trials: u64,
    /// Trials that have run, as last noted.
    pub done: u64,
    /// Trials that have failed, as last noted.
    pub failed: u64,
}

/// Makes a sweep from its description and the scenario that it varies. An empty `scenario` takes
/// the preset that the description names as `preset:NAME`. No file is read, since the texts may
/// come from a stranger.
///
/// # Errors
/// When the description is invalid, or it names a file and no scenario is given.
pub fn sweep_of(description: &str, scenario: &str) -> Result<SweepRun, Error> {
    // A line of text decides, since a description without the key cannot be parsed.
    let names_scenario = description
        .lines()
        .any(|line| line.starts_with("scenario:") || line.contains("\"scenario\""));
    let with_scenario = if names_scenario || scenario.is_empty() {
        description.to_owned()
    } else {
        // The description must name a scenario; this one is not looked up, as `scenario` has the
        // text.
        format!("{}\nscenario: given\n", description.trim_end())
    };
    let sweep = Sweep::read(&with_scenario, "sweep", Format::Yaml)?;
    let base = if scenario.is_empty() {
        let preset = sweep.keys.scenario.strip_prefix("preset:").ok_or_else(|| {
            Error::Asked(
                "the sweep names a file, which a workspace does not read; give the scenario beside it, or name a preset as `preset:NAME`"
                    .to_owned(),
            )
        })?;
        Scenario::preset(preset)?
    } else {
        Scenario::from_yaml(scenario)
    };
    Ok(SweepRun::new(sweep, base))
}

const COLUMNS: &str =
    "id, name, state, description, scenario, folder, created, ended, error, trials, done, failed";

impl Workspace {
    /// Queues a sweep and returns its number. The caller has checked `run`, made from the two
    /// texts.
    ///
    /// # Errors
    /// When its name is invalid, or the ledger cannot be written.
    pub fn queue_sweep(
        &self,
        run: &SweepRun,
        description: &str,
        scenario: &str,
    ) -> Result<i64, Error> {
        let name = match run.sweep().keys.name.as_str() {
            "" => "sweep",
            name => name,
        };
        let name = checked_name(name)?;
        let trials = i64::try_from(run.sweep().trials().count()).unwrap_or(i64::MAX);
        let text = "INSERT INTO workspace_sweeps
            (name, state, description, scenario, created, trials)
            VALUES (?1, 'queued', ?2, ?3, ?4, ?5) RETURNING id";
        let ledger = self.ledger();
        let values = params![name, description, scenario, now(), trials];
        let id = ledger
            .connection()
            .query_row(text, values, |row| row.get(0));
        id.map_err(broken)
    }

    /// Takes the sweep that has waited longest and marks it as running; the caller must run it.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn take_sweep(&self) -> Result<Option<WorkspaceSweep>, Error> {
        // One statement selects and marks the row: two processes cannot take the same sweep.
        let text = format!(
            "UPDATE workspace_sweeps SET state = 'running', worker = ?1, ended = NULL, error = NULL
            WHERE id = (SELECT id FROM workspace_sweeps WHERE state = 'queued' ORDER BY id LIMIT 1)
            RETURNING {COLUMNS}"
        );
        let ledger = self.ledger();
        let found = ledger
            .connection()
            .query_row(&text, params![ledger.worker()], |row| {
                self.sweep_of_row(row)
            });
        found.optional().map_err(broken)
    }

    /// Returns a sweep's folder; makes and notes one if it has none.
    ///
    /// # Errors
    /// When the folder cannot be made, or the ledger cannot be written.
    pub fn sweep_folder(&self, sweep: &WorkspaceSweep) -> Result<PathBuf, Error> {
        if let Some(folder) = &sweep.folder {
            return Ok(folder.clone());
        }
        let in_way = |error: std::io::Error| Error::Asked(format!("the folder sweeps: {error}"));
        let parent = below(&self.folder, Path::new(SWEEPS_FOLDER)).map_err(in_way)?;
        let folder = crate::report::claim_free_folder(&parent, &sweep.name)?;
        let relative = folder.strip_prefix(&self.folder).unwrap_or(&folder);
        let text = "UPDATE workspace_sweeps SET folder = ?2 WHERE id = ?1";
        self.write(text, params![sweep.id, relative.to_string_lossy()])?;
        Ok(folder)
    }

    /// Notes how many of a sweep's trials have run and have failed.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn sweep_progress(&self, id: i64, done: u64, failed: u64) -> Result<(), Error> {
        let text = "UPDATE workspace_sweeps SET done = ?2, failed = ?3 WHERE id = ?1";
        let values = params![id, done.cast_signed(), failed.cast_signed()];
        self.write(text, values).map(drop)
    }

    /// Notes a sweep's final state, and why it failed if it did.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn sweep_ended(&self, id: i64, state: TrialState, why: Option<&str>) -> Result<(), Error> {
        let text = "UPDATE workspace_sweeps SET state = ?2, ended = ?3, error = ?4 WHERE id = ?1";
        self.write(text, params![id, state.word(), now(), why])
            .map(drop)
    }

    /// Cancels a waiting sweep; returns false if it was not waiting.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn cancel_queued_sweep(&self, id: i64) -> Result<bool, Error> {
        let text = "UPDATE workspace_sweeps SET state = 'cancelled', ended = ?2
            WHERE id = ?1 AND state = 'queued'";
        self.write(text, params![id, now()]).map(|rows| rows > 0)
    }

    /// Lists all sweeps, the newest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn sweeps(&self) -> Result<Vec<WorkspaceSweep>, Error> {
        let ledger = self.ledger();
        let all = || -> rusqlite::Result<Vec<WorkspaceSweep>> {
            let text = format!("SELECT {COLUMNS} FROM workspace_sweeps ORDER BY id DESC");
            let mut statement = ledger.connection().prepare(&text)?;
            statement
                .query_map([], |row| self.sweep_of_row(row))?
                .collect()
        };
        all().map_err(broken)
    }

    /// Returns a sweep by its number; `None` if there is no such sweep.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn sweep(&self, id: i64) -> Result<Option<WorkspaceSweep>, Error> {
        let text = format!("SELECT {COLUMNS} FROM workspace_sweeps WHERE id = ?1");
        let ledger = self.ledger();
        let found = ledger
            .connection()
            .query_row(&text, [id], |row| self.sweep_of_row(row));
        found.optional().map_err(broken)
    }

    /// Queues sweeps again whose process is gone: trials that have run are in the ledger and do not
    /// run again.
    pub(super) fn requeue_lost_sweeps(&self) -> Result<(), Error> {
        let ledger = self.ledger();
        let running = || -> rusqlite::Result<Vec<String>> {
            let text = "SELECT DISTINCT worker FROM workspace_sweeps WHERE state = 'running'";
            let mut statement = ledger.connection().prepare(text)?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        for worker in running().map_err(broken)? {
            if worker != ledger.worker() && !ledger.lives(&worker) {
                let text = "UPDATE workspace_sweeps SET state = 'queued'
                    WHERE state = 'running' AND worker = ?1";
                ledger
                    .connection()
                    .execute(text, [worker])
                    .map_err(broken)?;
            }
        }
        Ok(())
    }

    fn sweep_of_row(&self, row: &Row<'_>) -> rusqlite::Result<WorkspaceSweep> {
        let state: String = row.get(2)?;
        let folder: Option<String> = row.get(5)?;
        let (folder, refused) = self.folder_of(folder.as_deref());
        let error: Option<String> = row.get(8)?;
        let count = |index| Ok::<u64, rusqlite::Error>(row.get::<_, i64>(index)?.unsigned_abs());
        Ok(WorkspaceSweep {
            id: row.get(0)?,
            name: row.get(1)?,
            state: TrialState::of_word(&state).unwrap_or(TrialState::Failed),
            description: row.get(3)?,
            scenario: row.get(4)?,
            folder,
            created: row.get(6)?,
            ended: row.get(7)?,
            error: refused.or(error),
            trials: count(9)?,
            done: count(10)?,
            failed: count(11)?,
        })
    }
}
