//! Finds trials that other commands have left in the folder of a workspace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::report::{MANIFEST_FILE, SEEDS_FILE, has_own, links_in, read_manifest, read_summary};
use rusqlite::params;
use tenter_language::units::Limits;

use super::Workspace;
use super::queue::state_of;
use super::stamp::stamp;
use super::trial::{Headline, TrialState};
use crate::budget::check_budget;
use crate::sweep::ledger::{broken, now};
use crate::{Error, Scenario};

impl Workspace {
    /// Notes the trials in the folder: one level deep, or two for a folder with trials for several
    /// seeds. Returns how many were new or have changed. Resolving each scenario may take up to
    /// `limits`; a trial that would take more is noted without its fabric.
    ///
    /// # Errors
    /// When the folder or the ledger cannot be read or written.
    pub fn find(&self, limits: Limits) -> Result<usize, Error> {
        let known = self.known()?;
        let mut count = 0;
        for folder in trial_folders(&self.folder) {
            let Ok(relative) = folder.strip_prefix(&self.folder) else {
                continue;
            };
            let relative = relative.to_string_lossy().into_owned();
            let stamp = stamp(&folder);
            let known = known.get(&relative);
            // A stamp of 0 marks a trial that the workspace runs itself: the process that runs it
            // notes its end.
            if known.is_some_and(|found| found.stamp == 0 || found.stamp == stamp) {
                continue;
            }
            // Links may lead to files of other people, so such a trial is noted as refused and not
            // read.
            let links = links_in(&folder);
            if !links.is_empty() && known.is_some_and(|found| found.stamp == REFUSED) {
                continue;
            }
            let id = match known {
                Some(found) => found.id,
                None => self.add_found(&relative, &relative, now())?,
            };
            if links.is_empty() {
                self.note_found(id, &folder, stamp, limits)?;
            } else {
                self.note_refused(id, &links)?;
            }
            count += 1;
        }
        Ok(count)
    }

    /// Reads headlines again that an earlier ledger layout has kept in another form.
    pub(super) fn renew_headlines(&self) -> Result<(), Error> {
        let older = || -> rusqlite::Result<Vec<(i64, i64)>> {
            let text = "SELECT id, stamp FROM workspace_trials
                WHERE digest IS NOT NULL AND jct_job IS NULL";
            let ledger = self.ledger();
            let mut statement = ledger.connection().prepare(text)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        };
        for (id, stamp) in older().map_err(broken)? {
            let trial = self.trial(id)?;
            let kept = trial.folder.as_deref().map(read_summary);
            let summary = match kept {
                Some(Ok(summary)) => Some(summary),
                _ => self.swept_summary(id)?,
            };
            let shown = match &summary {
                Some(summary) => Headline {
                    fabric: trial.headline.fabric,
                    hosts: trial.headline.hosts,
                    ..Headline::of(summary)
                },
                // The trial's files were removed: the old headline is all there is.
                None => trial.headline,
            };
            self.note_headline(id, trial.state, &shown, stamp)?;
        }
        Ok(())
    }

    /// Reads which folders the ledger knows.
    fn known(&self) -> Result<BTreeMap<String, Known>, Error> {
        let ledger = self.ledger();
        let all = || -> rusqlite::Result<BTreeMap<String, Known>> {
            let text = "SELECT folder, id, stamp FROM workspace_trials WHERE folder IS NOT NULL";
            let mut statement = ledger.connection().prepare(text)?;
            let rows = statement.query_map([], |row| {
                let known = Known {
                    id: row.get(1)?,
                    stamp: row.get(2)?,
                };
                Ok((row.get(0)?, known))
            })?;
            rows.collect()
        };
        all().map_err(broken)
    }

    /// Notes a trial in a folder that the caller names.
    pub(super) fn add_given(&self, name: &str, folder: &Path, limits: Limits) -> Result<(), Error> {
        let stamp = stamp(folder);
        let id = self.add_found(name, &folder.to_string_lossy(), stamp as f64 / 1e9)?;
        self.note_found(id, folder, stamp, limits)
    }

    fn add_found(&self, name: &str, folder: &str, created: f64) -> Result<i64, Error> {
        let text = "INSERT INTO workspace_trials (name, state, scenario, folder, created)
            VALUES (?1, 'interrupted', '', ?2, ?3)
            ON CONFLICT (folder) DO UPDATE SET folder = folder RETURNING id";
        let ledger = self.ledger();
        let values = params![name, folder, created];
        let id = ledger
            .connection()
            .query_row(text, values, |row| row.get(0));
        id.map_err(broken)
    }

    /// Notes that a trial was not read because it has links.
    fn note_refused(&self, id: i64, links: &[String]) -> Result<(), Error> {
        self.note_headline(id, TrialState::Failed, &Headline::default(), REFUSED)?;
        let text =
            "UPDATE workspace_trials SET ended = NULL, error = ?2, scenario = '' WHERE id = ?1";
        self.write(text, params![id, links.join("\n")]).map(drop)
    }

    /// Notes what a trial folder holds now.
    fn note_found(&self, id: i64, folder: &Path, stamp: i64, limits: Limits) -> Result<(), Error> {
        let (state, shown, stopped) = match read_summary(folder) {
            Ok(summary) => (state_of(&summary), Headline::of(&summary), summary.stopped),
            // Another command runs it, or it was killed: a later call will tell.
            Err(_) => (TrialState::Interrupted, Headline::default(), None),
        };
        let config = Scenario::of_trial(folder);
        let budget = check_budget(limits, Arc::default());
        let plan = config.as_ref().ok();
        let plan = plan.and_then(|of| of.resolve_within(&budget).ok());
        let shown = match &plan {
            Some(plan) => shown.on(plan),
            None => shown,
        };
        self.note_headline(id, state, &shown, stamp)?;
        // The manifest is written last, so its time is the end; the start lies its wall time
        // before.
        let seconds = stamp as f64 / 1e9;
        let config = config.as_ref().ok().and_then(Scenario::text);
        let text = "UPDATE workspace_trials SET ended = ?2, error = ?5, scenario = ?4,
            created = coalesce(?3, created), started = coalesce(?3, started) WHERE id = ?1";
        let wall = read_manifest(folder)
            .ok()
            .and_then(|manifest| manifest.wall_s);
        let began = wall.map(|wall| seconds - wall);
        self.write(
            text,
            params![id, seconds, began, config.unwrap_or_default(), stopped],
        )
        .map(drop)
    }
}

/// Stamp for a trial that was not read because some files are links.
const REFUSED: i64 = 2;

/// A folder that the ledger knows.
struct Known {
    id: i64,
    /// Time at which its manifest changed, in ns since 1970; 0 for a trial that the workspace runs
    /// itself and that has not ended, [`REFUSED`] for one that was not read.
    stamp: i64,
}

/// Lists the trial folders below `folder`, sorted by path.
fn trial_folders(folder: &Path) -> Vec<PathBuf> {
    let within = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        // A link may lead out of the workspace.
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for path in within(folder) {
        if has_own(&path.join(MANIFEST_FILE)) {
            found.push(path);
        } else if has_own(&path.join(SEEDS_FILE)) {
            let seeds = within(&path).into_iter();
            found.extend(seeds.filter(|seed| has_own(&seed.join(MANIFEST_FILE))));
        }
    }
    found.sort_unstable();
    found
}
