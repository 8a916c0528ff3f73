//! State of one import: the tables, the port that is imported, and warnings.

use std::cell::RefCell;

use tenter_language::notation::diagnostics::quote;

use crate::config_db::{ConfigDb, Id, Reference};
use crate::sonic::ports::Port;

/// Number of traffic classes in a scenario.
pub(super) const CLASSES: u8 = tenter_fabric::net::CLASSES as u8;

/// One import of a port, with the warnings so far.
pub(super) struct Import<'a> {
    pub(super) database: &'a ConfigDb<'a>,
    pub(super) port: &'a Port,
    pub(super) warnings: RefCell<Vec<String>>,
}

impl Import<'_> {
    /// Adds a warning about settings without a counterpart, unless it has been given already.
    pub(super) fn warn(&self, place: &str, reason: &str) {
        let line = format!("{place}: {reason}");
        let mut warnings = self.warnings.borrow_mut();
        if !warnings.contains(&line) {
            warnings.push(line);
        }
    }

    /// Returns true if the file has no buffer pools.
    pub(super) fn nothing_shared(&self) -> bool {
        self.database.objects("BUFFER_POOL").next().is_none()
    }

    /// Returns the map that the port calls `field`, or else the one of the whole switch.
    pub(super) fn map(&self, field: &str, table: &str) -> Option<Id> {
        let global = self.database.find("PORT_QOS_MAP", "global");
        // The port's map takes precedence over that of the switch.
        let own = self.port.maps.into_iter().chain(global);
        let named = own.filter(|&maps| self.database.has(maps, field));
        let reference = named.map(|maps| self.database.reference(maps, field, table));
        match reference.flatten().next() {
            Some(Reference::Object(map)) => Some(map),
            _ => None,
        }
    }

    /// Returns the priorities in a field of the port's maps, which separates them by commas.
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
