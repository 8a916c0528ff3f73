//! Trials from a workspace's sweeps: for each, its readings and a row among the other trials.

use crate::report::MANIFEST_FILE;
use crate::studies::Measured;
use rusqlite::{OptionalExtension, params};
use tenter_results::{Notes, Summary};

use super::Workspace;
use super::edit::NAME_MAX;
use super::queue::state_of;
use super::stamp::stamp;
use super::sweeps::WorkspaceSweep;
use super::trial::{Headline, TrialState};
use crate::sweep::ledger::{broken, now};
use crate::sweep::{Swept, SweptOutcome};
use crate::{Error, Plan};

impl Workspace {
    /// Notes a sweep's ended trial, unless it is known. Returns the number of its row if that is
    /// new.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn note_swept(
        &self,
        sweep: &WorkspaceSweep,
        swept: &Swept<'_>,
    ) -> Result<Option<i64>, Error> {
        let digest = match &swept.outcome {
            Ok(outcome) => outcome.summary.engine.digest.as_str(),
            Err(_) => "",
        };
        let (sweep_id, place) = (sweep.id, number(swept.place));
        let known = "SELECT digest FROM workspace_swept WHERE sweep = ?1 AND place = ?2";
        let known = {
            let ledger = self.ledger();
            let row = ledger
                .connection()
                .query_row(known, params![sweep_id, place], |row| {
                    row.get::<_, String>(0)
                });
            row.optional().map_err(broken)?
        };
        // The same digest means the same results; a failed trial has an empty one, and is replaced
        // once it has run.
        if known.is_some_and(|known| known == digest) {
            return Ok(None);
        }
        // The lock on the ledger is free again: resolving a plan may take seconds.
        let plan = swept.plan().ok();
        let id = self.add_swept(sweep, swept, plan.as_ref())?;
        let values = swept.outcome.as_ref().ok().map(|outcome| &outcome.values);
        let text = "INSERT OR REPLACE INTO workspace_swept
            (sweep, place, trial, variant, point, seed, digest, readings, summary)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let summary = swept.outcome.as_ref().ok().map(|outcome| &outcome.summary);
        self.write(
            text,
            params![
                sweep_id,
                place,
                id,
                number(swept.variant),
                number(swept.point),
                swept.seed.to_string(),
                digest,
                values.and_then(|values| serde_json::to_string(values).ok()),
                summary.and_then(|summary| serde_json::to_string(summary).ok()),
            ],
        )?;
        Ok(Some(id))
    }

    /// Adds a row to the workspace's trials.
    fn add_swept(
        &self,
        sweep: &WorkspaceSweep,
        swept: &Swept<'_>,
        plan: Option<&Plan>,
    ) -> Result<i64, Error> {
        let name = name_of(sweep, swept);
        let folder = swept.folder.as_deref();
        let folder = folder.filter(|folder| folder.join(MANIFEST_FILE).is_file());
        let relative = folder.and_then(|folder| folder.strip_prefix(&self.folder).ok());
        let relative = relative.map(|folder| folder.to_string_lossy().into_owned());
        // Equal trials of a sweep share a folder, and the column is unique: the first of them has
        // it.
        let text = "INSERT INTO workspace_trials (name, state, scenario, folder, created)
            VALUES (?1, 'done', ?2,
                CASE WHEN EXISTS (SELECT 1 FROM workspace_trials WHERE folder = ?3) THEN NULL ELSE ?3 END,
                ?4)
            RETURNING id";
        let config = plan.map_or("", |plan| plan.to_yaml());
        let id = {
            let ledger = self.ledger();
            let values = params![name, config, relative, now()];
            let id = ledger
                .connection()
                .query_row(text, values, |row| row.get(0));
            id.map_err(broken)?
        };
        let (state, shown, why) = match &swept.outcome {
            Ok(SweptOutcome { summary, .. }) => (
                state_of(summary),
                Headline::of(summary),
                summary.stopped.clone(),
            ),
            Err(why) => (TrialState::Failed, Headline::default(), Some(why.clone())),
        };
        let shown = match plan {
            Some(plan) => shown.on(plan),
            None => shown,
        };
        self.note_headline(id, state, &shown, folder.map_or(0, stamp))?;
        let text = "UPDATE workspace_trials SET ended = ?2, started = ?2 - coalesce(?3, 0), error = ?4 WHERE id = ?1";
        self.write(text, params![id, now(), shown.wall_s, why])?;
        Ok(id)
    }

    /// Returns the readings from a sweep's trials so far, each with its row's number among the
    /// trials, unless that was removed. Failed trials are left out.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn measured(&self, sweep: i64) -> Result<Vec<(Measured, Option<i64>)>, Error> {
        let ledger = self.ledger();
        let all = || -> rusqlite::Result<Vec<(Measured, Option<i64>)>> {
            let text =
                "SELECT variant, point, seed, digest, readings, trial, summary FROM workspace_swept
                WHERE sweep = ?1 AND readings IS NOT NULL ORDER BY place";
            let mut statement = ledger.connection().prepare(text)?;
            let rows = statement.query_map([sweep], |row| {
                let place = |index| {
                    Ok::<usize, rusqlite::Error>(row.get::<_, i64>(index)?.unsigned_abs() as usize)
                };
                let (seed, readings): (String, String) = (row.get(2)?, row.get(4)?);
                let summary: Option<String> = row.get(6)?;
                let notes = summary.and_then(|text| serde_json::from_str::<Notes>(&text).ok());
                let measured = Measured {
                    variant: place(0)?,
                    point: place(1)?,
                    seed: seed.parse().unwrap_or_default(),
                    digest: row.get(3)?,
                    values: serde_json::from_str(&readings).unwrap_or_default(),
                    notes: notes.unwrap_or_default(),
                    pauses: None,
                };
                Ok((measured, row.get(5)?))
            })?;
            rows.collect()
        };
        all().map_err(broken)
    }

    /// Returns a sweep trial's summary from the ledger, where it is even if no folder was kept.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn swept_summary(&self, trial: i64) -> Result<Option<Summary>, Error> {
        let text = "SELECT summary FROM workspace_swept WHERE trial = ?1";
        let ledger = self.ledger();
        let found = ledger
            .connection()
            .query_row(text, [trial], |row| row.get::<_, Option<String>>(0));
        let found = found.optional().map_err(broken)?.flatten();
        Ok(found.and_then(|text| serde_json::from_str(&text).ok()))
    }
}

/// Names the row: sweep, point and seed, cut to the longest name that is allowed.
fn name_of(sweep: &WorkspaceSweep, swept: &Swept<'_>) -> String {
    let point = if swept.title.is_empty() {
        String::new()
    } else {
        format!("{}, ", swept.title)
    };
    let name = format!("{}: {point}seed {}", sweep.name, swept.seed);
    let name = name.replace(char::is_control, " ");
    name.chars().take(NAME_MAX).collect()
}

/// Converts an index to `SQLite`'s integer type.
fn number(of: usize) -> i64 {
    i64::try_from(of).unwrap_or(i64::MAX)
}
