//! A workspace's queue: trials that wait, run and end.

use std::path::Path;

use rusqlite::{OptionalExtension, params};
use tenter_results::{StopKind, Summary};

use super::Workspace;
use super::edit::{checked_name, checked_tags};
use super::stamp::stamp;
use super::trial::{Headline, TrialState};
use crate::sweep::ledger::{broken, now};
use crate::{Error, Plan};

/// A trial that this process has taken from the queue and must run.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedTrial {
    /// Number in the workspace.
    pub id: i64,
    /// Name that people gave it.
    pub name: String,
    /// Scenario as it was written.
    pub scenario: String,
}

impl Workspace {
    /// Queues a trial and returns its number. `text` is the scenario, and `plan` what it resolves
    /// to.
    ///
    /// # Errors
    /// When the name or a tag is invalid, or the ledger cannot be written.
    pub fn queue(
        &self,
        name: &str,
        text: &str,
        plan: &Plan,
        tags: &[String],
    ) -> Result<i64, Error> {
        let (name, tags) = (checked_name(name)?, checked_tags(tags)?);
        let shown = Headline::default().on(plan);
        let ledger = self.ledger();
        let all = || -> rusqlite::Result<i64> {
            let changes = ledger.connection().unchecked_transaction()?;
            changes.execute(
                "INSERT INTO workspace_trials (name, state, scenario, created, fabric, hosts, jobs, seed)
                VALUES (?1, 'queued', ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    name,
                    text,
                    now(),
                    shown.fabric,
                    shown.hosts.map(u64::cast_signed),
                    shown.jobs.map(u64::cast_signed),
                    shown.seed.map(|seed| seed.to_string()),
                ],
            )?;
            let id = changes.last_insert_rowid();
            for tag in tags {
                let insert = "INSERT OR IGNORE INTO workspace_tags (trial, tag) VALUES (?1, ?2)";
                changes.execute(insert, params![id, tag])?;
            }
            changes.commit()?;
            Ok(id)
        };
        all().map_err(broken)
    }

    /// Takes the trial that has waited longest and marks it as running; the caller must run it.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn take(&self) -> Result<Option<QueuedTrial>, Error> {
        // One statement selects and marks the row: two processes cannot take the same trial.
        let text = "
            UPDATE workspace_trials SET state = 'running', worker = ?1, started = ?2, ended = NULL
            WHERE id = (SELECT id FROM workspace_trials WHERE state = 'queued' ORDER BY id LIMIT 1)
            RETURNING id, name, scenario";
        let ledger = self.ledger();
        let taken = |row: &rusqlite::Row<'_>| {
            Ok(QueuedTrial {
                id: row.get(0)?,
                name: row.get(1)?,
                scenario: row.get(2)?,
            })
        };
        let values = params![ledger.worker(), now()];
        let found = ledger.connection().query_row(text, values, taken);
        found.optional().map_err(broken)
    }

    /// Notes the folder into which a trial is written from now on.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn began(&self, id: i64, folder: &Path) -> Result<(), Error> {
        let folder = folder.strip_prefix(&self.folder).unwrap_or(folder);
        let text = "UPDATE workspace_trials SET folder = ?2 WHERE id = ?1";
        let folder = folder.to_string_lossy();
        self.write(text, params![id, folder]).map(drop)
    }

    /// Keeps a text about the trial's progress, which survives if the process is killed.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn note_progress(&self, id: i64, progress: &str) -> Result<(), Error> {
        let text = "UPDATE workspace_trials SET progress = ?2 WHERE id = ?1";
        self.write(text, params![id, progress]).map(drop)
    }

    /// Returns the last text from [`Workspace::note_progress`].
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn last_progress(&self, id: i64) -> Result<Option<String>, Error> {
        let text = "SELECT progress FROM workspace_trials WHERE id = ?1";
        let ledger = self.ledger();
        let found = ledger.connection().query_row(text, [id], |row| row.get(0));
        Ok(found.optional().map_err(broken)?.flatten())
    }

    /// Notes the results from a trial that this process has run, and returns its state.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn ended(&self, id: i64, plan: &Plan, summary: &Summary) -> Result<TrialState, Error> {
        let state = state_of(summary);
        // [`Workspace::find`] compares this stamp, and reads the trial again if another command has
        // rewritten it.
        let folder = self.trial(id)?.folder;
        let stamp = folder.map_or(0, |folder| stamp(&folder));
        self.note_headline(id, state, &Headline::of(summary).on(plan), stamp)?;
        let text = "UPDATE workspace_trials SET ended = ?2, error = ?3 WHERE id = ?1";
        self.write(text, params![id, now(), summary.stopped])?;
        Ok(state)
    }

    /// Notes the partial results from a trial that stops because this process ends.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn interrupted(&self, id: i64, plan: &Plan, summary: &Summary) -> Result<(), Error> {
        self.ended(id, plan, summary)?;
        let text = "UPDATE workspace_trials SET state = 'interrupted' WHERE id = ?1";
        self.write(text, params![id]).map(drop)
    }

    /// Gives a trial back to the queue that this process has taken and not begun.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn put_back(&self, id: i64) -> Result<(), Error> {
        let text = "UPDATE workspace_trials SET state = 'queued', worker = '', started = NULL
            WHERE id = ?1 AND state = 'running' AND folder IS NULL";
        self.write(text, params![id]).map(drop)
    }

    /// Notes that a trial failed, and why.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn failed(&self, id: i64, why: &str) -> Result<(), Error> {
        let text =
            "UPDATE workspace_trials SET state = 'failed', ended = ?2, error = ?3 WHERE id = ?1";
        self.write(text, params![id, now(), why]).map(drop)
    }

    /// Cancels a waiting trial; returns false if it was not waiting.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn cancel_queued(&self, id: i64) -> Result<bool, Error> {
        let text = "UPDATE workspace_trials SET state = 'cancelled', ended = ?2
            WHERE id = ?1 AND state = 'queued'";
        self.write(text, params![id, now()]).map(|rows| rows > 0)
    }

    /// Marks trials as interrupted whose process is gone, and returns their number; sweeps that
    /// such processes ran are queued again.
    ///
    /// # Errors
    /// When the ledger cannot be read or written.
    pub fn interrupt_lost(&self) -> Result<usize, Error> {
        let ledger = self.ledger();
        let running = || -> rusqlite::Result<Vec<String>> {
            let text = "SELECT DISTINCT worker FROM workspace_trials WHERE state = 'running'";
            let mut statement = ledger.connection().prepare(text)?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        let workers = running().map_err(broken)?;
        let mut count = 0;
        for worker in workers {
            if worker == ledger.worker() || ledger.lives(&worker) {
                continue;
            }
            let text = "UPDATE workspace_trials SET state = 'interrupted', ended = ?2,
                error = 'the process that ran it ended before the trial did'
                WHERE state = 'running' AND worker = ?1 RETURNING folder";
            let lost = || -> rusqlite::Result<Vec<Option<String>>> {
                let mut statement = ledger.connection().prepare(text)?;
                let rows = statement.query_map(params![worker, now()], |row| row.get(0))?;
                rows.collect()
            };
            let lost = lost().map_err(broken)?;
            count += lost.len();
            for folder in lost.into_iter().flatten() {
                if let (Some(folder), _) = self.folder_of(Some(&folder)) {
                    // A table that cannot be recovered stays without rows; the trial is interrupted
                    // either way.
                    let _ = crate::report::recover_tables(&folder);
                }
            }
        }
        // `requeue_lost_sweeps` takes this lock itself.
        drop(ledger);
        self.requeue_lost_sweeps()?;
        Ok(count)
    }

    /// Notes a trial's state and headline; `stamp` is the time at which its manifest changed, or 0.
    pub(super) fn note_headline(
        &self,
        id: i64,
        state: TrialState,
        shown: &Headline,
        stamp: i64,
    ) -> Result<(), Error> {
        let text = "UPDATE workspace_trials SET state = ?2, fabric = ?3, hosts = ?4, jobs = ?5,
            jct_ns = ?6, headline = ?7, ideal_percent = ?8, algbw_gbytes_per_s = ?9,
            busbw_gbytes_per_s = ?10, digest = ?11, seed = ?12, wall_s = ?13, ideals = ?14,
            stamp = ?15, jct_job = ?16 WHERE id = ?1";
        let values = params![
            id,
            state.word(),
            shown.fabric,
            shown.hosts.map(u64::cast_signed),
            shown.jobs.map(u64::cast_signed),
            shown.jct_ns,
            shown.collective,
            shown.ideal_percent,
            shown.algbw_gbytes_per_s,
            shown.busbw_gbytes_per_s,
            shown.digest,
            shown.seed.map(|seed| seed.to_string()),
            shown.wall_s,
            serde_json::to_string(&shown.ideals).ok(),
            stamp,
            // Never NULL where results were read: `renew_headlines` takes NULL for an older layout.
            shown.jct_job.as_deref().unwrap_or_default(),
        ];
        self.write(text, values).map(drop)
    }

    pub(super) fn write(
        &self,
        text: &str,
        values: &[&dyn rusqlite::ToSql],
    ) -> Result<usize, Error> {
        let rows = self.ledger().connection().execute(text, values);
        rows.map_err(broken)
    }
}

/// Derives a trial's state from its summary.
pub(super) fn state_of(summary: &Summary) -> TrialState {
    if summary.complete {
        TrialState::Done
    } else if summary.stopped_by == Some(StopKind::User) {
        TrialState::Cancelled
    } else {
        TrialState::Incomplete
    }
}
