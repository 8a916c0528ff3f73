//! Edits trials' names, tags and notes, and removes trials.

use std::sync::atomic::Ordering;

use rusqlite::{OptionalExtension, params};
use tenter_language::units::{NAME_REMEDY, is_reserved, is_visible};

use super::trial::TrialState;
use super::{Workspace, unknown};
use crate::Error;
use crate::sweep::ledger::broken;

/// Longest name and longest tag, in characters.
pub(super) const NAME_MAX: usize = 200;
/// Longest note, in bytes (1 MiB).
const NOTE_MAX: usize = 1 << 20;
/// Most tags on one trial.
const TAGS_MAX: usize = 64;

impl Workspace {
    /// Renames a trial in lists; its folder keeps its name.
    ///
    /// # Errors
    /// When there is no such trial, or the name is empty, too long (200 characters), reserved, or
    /// has invisible characters.
    pub fn rename(&self, id: i64, name: &str) -> Result<(), Error> {
        let name = checked_name(name)?;
        self.change(
            id,
            "UPDATE workspace_trials SET name = ?2 WHERE id = ?1",
            &name,
        )
    }

    /// Replaces a trial's note, a text in Markdown.
    ///
    /// # Errors
    /// When there is no such trial, or the note has more than 1 MiB.
    pub fn set_note(&self, id: i64, note: &str) -> Result<(), Error> {
        if note.len() > NOTE_MAX {
            return Err(Error::Asked(format!(
                "the note has {} bytes, and a note may have {NOTE_MAX}; shorten it",
                note.len()
            )));
        }
        self.change(
            id,
            "UPDATE workspace_trials SET note = ?2 WHERE id = ?1",
            note,
        )
    }

    /// Returns a trial's note; empty if there is none.
    ///
    /// # Errors
    /// When there is no such trial.
    pub fn note(&self, id: i64) -> Result<String, Error> {
        self.text_of(id, "SELECT note FROM workspace_trials WHERE id = ?1")
    }

    /// Returns a trial's scenario as it was written; a trial that was found has its configuration.
    ///
    /// # Errors
    /// When there is no such trial.
    pub fn scenario(&self, id: i64) -> Result<String, Error> {
        self.text_of(id, "SELECT scenario FROM workspace_trials WHERE id = ?1")
    }

    /// Replaces all of a trial's tags.
    ///
    /// # Errors
    /// When there is no such trial, there are more than 64 tags, or a tag is empty, too long (200
    /// characters), or has invisible characters.
    pub fn set_tags(&self, id: i64, tags: &[String]) -> Result<(), Error> {
        let tags = checked_tags(tags)?;
        self.trial(id)?;
        self.is_edited.store(true, Ordering::Relaxed);
        let ledger = self.ledger();
        let all = || -> rusqlite::Result<()> {
            let changes = ledger.connection().unchecked_transaction()?;
            // In one transaction: a list that is read meanwhile shows all old tags or all new ones.
            changes.execute("DELETE FROM workspace_tags WHERE trial = ?1", [id])?;
            for tag in &tags {
                let insert = "INSERT OR IGNORE INTO workspace_tags (trial, tag) VALUES (?1, ?2)";
                changes.execute(insert, params![id, tag])?;
            }
            changes.commit()
        };
        all().map_err(broken)
    }

    /// Removes a trial with its folder, tags and note. Readings that its sweep took stay.
    ///
    /// # Errors
    /// When there is no such trial, it is running, or its folder cannot be removed.
    pub fn remove(&self, id: i64) -> Result<(), Error> {
        let trial = self.trial(id)?;
        // A change of state in one statement: no process can start the trial while its folder is
        // removed.
        let claim =
            "UPDATE workspace_trials SET state = 'failed' WHERE id = ?1 AND state <> 'running'";
        let rows = self.ledger().connection().execute(claim, [id]);
        if rows.map_err(broken)? == 0 {
            return Err(Error::Asked(format!(
                "trial {id} is running; cancel it before it is removed"
            )));
        }
        if let Some(folder) = trial.folder.filter(|folder| folder.is_dir()) {
            crate::report::remove_trial(&folder)?;
        }
        let ledger = self.ledger();
        let all = || -> rusqlite::Result<()> {
            let changes = ledger.connection().unchecked_transaction()?;
            changes.execute("DELETE FROM workspace_tags WHERE trial = ?1", [id])?;
            changes.execute("DELETE FROM workspace_trials WHERE id = ?1", [id])?;
            // Readings stay part of the sweep; the link and the summary go.
            let forget = "UPDATE workspace_swept SET trial = NULL, summary = NULL WHERE trial = ?1";
            changes.execute(forget, [id])?;
            changes.commit()
        };
        all().map_err(broken)
    }

    /// True if a trial is running: it can be cancelled, and not be removed.
    ///
    /// # Errors
    /// When there is no such trial.
    pub fn is_running(&self, id: i64) -> Result<bool, Error> {
        Ok(self.trial(id)?.state == TrialState::Running)
    }

    fn change(&self, id: i64, text: &str, value: &str) -> Result<(), Error> {
        let rows = self.ledger().connection().execute(text, params![id, value]);
        if rows.map_err(broken)? == 0 {
            return Err(unknown(id));
        }
        self.is_edited.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn text_of(&self, id: i64, query: &str) -> Result<String, Error> {
        let ledger = self.ledger();
        let found = ledger.connection().query_row(query, [id], |row| row.get(0));
        found.optional().map_err(broken)?.ok_or_else(|| unknown(id))
    }
}

/// Trims and checks a name for a trial or sweep, which may become a folder's name.
pub(super) fn checked_name(name: &str) -> Result<String, Error> {
    let name = checked("name", name)?;
    if is_reserved(&name) {
        return Err(Error::Asked(format!(
            "the name `{name}` is that of a file or a folder of the ledger; {NAME_REMEDY}"
        )));
    }
    Ok(name)
}

/// Trims and checks a name or tag; `what` is the word for it in messages.
fn checked(what: &str, text: &str) -> Result<String, Error> {
    let text = text.trim();
    let refuse = |why: &str| Err(Error::Asked(format!("the {what} {why}")));
    if text.is_empty() {
        return refuse("is empty; write a word");
    }
    if text.chars().count() > NAME_MAX {
        return refuse(&format!("has more than {NAME_MAX} characters; shorten it"));
    }
    if !is_visible(text) {
        return refuse(
            "has characters that are not shown, or change the direction of text; leave them out",
        );
    }
    Ok(text.to_owned())
}

pub(super) fn checked_tags(tags: &[String]) -> Result<Vec<String>, Error> {
    if tags.len() > TAGS_MAX {
        return Err(Error::Asked(format!(
            "there are {} tags, and a trial may have {TAGS_MAX}; leave some out",
            tags.len()
        )));
    }
    tags.iter().map(|tag| checked("tag", tag)).collect()
}
