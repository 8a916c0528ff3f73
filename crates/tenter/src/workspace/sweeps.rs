//! Sweeps of a workspace.

use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, Row, params};
use tenter_report::below;
use tenter_scenario::Format;
use tenter_study::Sweep;
use tenter_units::SWEEPS_FOLDER;

use super::Workspace;
use super::edit::checked_name;
use super::trial::TrialState;
use crate::sweep::SweepRun;
use crate::sweep::ledger::{broken, now};
use crate::{Error, Scenario};

/// A sweep of a workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkspaceSweep {
    /// Its number in the workspace.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// How far it is.
    pub state: TrialState,
    /// Its description in YAML.
    pub description: String,
    /// The scenario that is varied, in YAML; empty where the description names a preset.
    pub scenario: String,
    /// Where its results are; none before it has run.
    pub folder: Option<PathBuf>,
    /// When it was queued, in seconds since 1970.
    pub created: f64,
    /// When it ended.
    pub ended: Option<f64>,
    /// Why it failed.
    pub error: Option<String>,
    /// Its trials.
    pub trials: u64,
    /// Those that have run.
    pub done: u64,
    /// Those that have failed.
    pub failed: u64,
}

/// A sweep from its description, and the scenario that it varies: a text, or a preset that the
/// description names as `preset:NAME`. No file is read.
///
/// # Errors
/// When the description does not hold, or the scenario is neither.
pub fn sweep_of(description: &str, scenario: &str) -> Result<SweepRun, Error> {
    let names_scenario = description
        .lines()
        .any(|line| line.starts_with("scenario:") || line.contains("\"scenario\""));
    let with_scenario = if names_scenario || scenario.is_empty() {
        description.to_owned()
    } else {
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
    /// Queues a sweep that holds, and returns its number.
    ///
    /// # Errors
    /// When its name is too long, or the ledger cannot be written.
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

    /// Takes the sweep that has waited longest; this process must run it.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn take_sweep(&self) -> Result<Option<WorkspaceSweep>, Error> {
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

    /// The folder of a sweep, which is made where it has none, and notes it.
    ///
    /// # Errors
    /// When the folder cannot be made, or the ledger cannot be written.
    pub fn sweep_folder(&self, sweep: &WorkspaceSweep) -> Result<PathBuf, Error> {
        if let Some(folder) = &sweep.folder {
            return Ok(folder.clone());
        }
        let in_way = |error: std::io::Error| Error::Asked(format!("the folder sweeps: {error}"));
        let parent = below(&self.folder, Path::new(SWEEPS_FOLDER)).map_err(in_way)?;
        let folder = tenter_report::claim_free_folder(&parent, &sweep.name)?;
        let relative = folder.strip_prefix(&self.folder).unwrap_or(&folder);
        let text = "UPDATE workspace_sweeps SET folder = ?2 WHERE id = ?1";
        self.write(text, params![sweep.id, relative.to_string_lossy()])?;
        Ok(folder)
    }

    /// Notes how far a sweep is.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn sweep_progress(&self, id: i64, done: u64, failed: u64) -> Result<(), Error> {
        let text = "UPDATE workspace_sweeps SET done = ?2, failed = ?3 WHERE id = ?1";
        let values = params![id, done.cast_signed(), failed.cast_signed()];
        self.write(text, values).map(drop)
    }

    /// Notes how a sweep ended, and why where it failed.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn sweep_ended(&self, id: i64, state: TrialState, why: Option<&str>) -> Result<(), Error> {
        let text = "UPDATE workspace_sweeps SET state = ?2, ended = ?3, error = ?4 WHERE id = ?1";
        self.write(text, params![id, state.word(), now(), why])
            .map(drop)
    }

    /// Cancels a sweep that waits; whether it was waiting.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn cancel_queued_sweep(&self, id: i64) -> Result<bool, Error> {
        let text = "UPDATE workspace_sweeps SET state = 'cancelled', ended = ?2
            WHERE id = ?1 AND state = 'queued'";
        self.write(text, params![id, now()]).map(|rows| rows > 0)
    }

    /// The sweeps, the newest first.
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

    /// A sweep; none where there is no such.
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

    /// Sweeps of processes that are gone wait again: what has run of them is in the ledger.
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
