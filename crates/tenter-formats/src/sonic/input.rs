//! One import: the tables, the port that is imported, and what was noted.

use std::cell::RefCell;

use tenter_notation::diagnostics::quote;

use crate::config_db::{ConfigDb, Id, Reference};
use crate::sonic::ports::Port;

/// Classes a scenario has.
pub(super) const CLASSES: u8 = tenter_net::CLASSES as u8;

/// One import.
pub(super) struct Import<'a> {
    pub(super) database: &'a ConfigDb<'a>,
    pub(super) port: &'a Port,
    pub(super) warnings: RefCell<Vec<String>>,
}

impl Import<'_> {
    /// Notes what has no counterpart; a reason that was given for a place is not repeated.
    pub(super) fn warn(&self, place: &str, reason: &str) {
        let line = format!("{place}: {reason}");
        let mut warnings = self.warnings.borrow_mut();
        if !warnings.contains(&line) {
            warnings.push(line);
        }
    }

    /// Whether the file says nothing of buffers.
    pub(super) fn nothing_shared(&self) -> bool {
        self.database.objects("BUFFER_POOL").next().is_none()
    }

    /// The map of a port (or of the whole switch) that is called `field`.
    pub(super) fn map(&self, field: &str, table: &str) -> Option<Id> {
        let global = self.database.find("PORT_QOS_MAP", "global");
        let own = self.port.maps.into_iter().chain(global);
        let named = own.filter(|&maps| self.database.has(maps, field));
        let reference = named.map(|maps| self.database.reference(maps, field, table));
        match reference.flatten().next() {
            Some(Reference::Object(map)) => Some(map),
            _ => None,
        }
    }

    /// The numbers, separated by commas, of a field of the port's maps.
    pub(super) fn numbers(&self, field: &str) -> Option<Vec<u8>> {
        let maps = self.port.maps?;
        let text = self.database.text(maps, field)?;
        let words = text
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty());
        let numbers = words.map(|word| word.parse().ok().filter(|number| *number < CLASSES));
        let numbers: Option<Vec<u8>> = numbers.collect();
        if numbers.is_none() {
            let help = "write priorities from 0 to 7 with commas between, for example `3,4`";
            let what = format!("cannot be {}", quote(text));
            self.database.wrong(maps, field, &what, help);
        }
        numbers
    }
}
