//! Warnings at the end about everything that was not imported, so that nothing is lost silently.

use std::collections::BTreeMap;

use crate::config_db::Unread;
use crate::sonic::input::Import;
use crate::sonic::ports::PORT;
use tenter_language::notation::diagnostics::printable;

/// Most names that a message shows.
const SHOWN: usize = 8;

/// Tables whose objects belong to ports. One warning covers the ports that are not imported, so
/// their objects are not listed one by one.
const OF_PORTS: [&str; 5] = [
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "QUEUE",
    "PORT_QOS_MAP",
    "PFC_WD",
];

impl Import<'_> {
    /// Warns about every field, object and table that was not read.
    pub(super) fn say_leftovers(&self) {
        let database = self.database;
        // Objects that are left out for one reason share a warning.
        let mut whole: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
        for unread in database.unread() {
            let Unread { id, table, fields } = unread;
            if table == PORT || fields.is_empty() && OF_PORTS.contains(&table) {
                // Ports configured like the imported one need no warning; the others have one
                // already.
                continue;
            }
            if fields.is_empty() {
                let place = database.place(id);
                whole.entry((table, reason(table))).or_default().push(place);
            } else {
                let place = database.field_place(id, &fields.join(", "));
                self.warn(&place, reason(table));
            }
        }
        for ((_, reason), places) in whole {
            self.warn(&some(&places), reason);
        }
        let ports = database.objects(PORT).next().map(|_| PORT.to_owned());
        let others: Vec<String> = database.others.iter().cloned().chain(ports).collect();
        if !others.is_empty() {
            self.warn(
                &others.join(", "),
                "not of buffers or traffic classes, not read",
            );
        }
    }
}

/// Returns the reason why entries of a table were not imported.
fn reason(table: &str) -> &'static str {
    match table {
        "BUFFER_POOL" => "no class takes space from it, or a scenario has no such key",
        "BUFFER_PROFILE" | "SCHEDULER" | "WRED_PROFILE" => {
            "nothing that is imported refers to it, or a scenario has no such key"
        }
        "BUFFER_PG" | "BUFFER_QUEUE" | "QUEUE" => {
            "no traffic class leads there, or a scenario has no such key"
        }
        "BUFFER_PORT_EGRESS_PROFILE_LIST" | "BUFFER_PORT_INGRESS_PROFILE_LIST" => {
            "a port as a whole has no limits of its own in a scenario, only its classes have"
        }
        "CABLE_LENGTH" => "the delay of cables is part of the fabric: `host_delay` and its like",
        "DOT1P_TO_TC_MAP" | "MPLS_TC_TO_TC_MAP" => "packets have a DSCP, and their class from it",
        "TC_TO_DSCP_MAP" | "DSCP_TO_FC_MAP" => "switches leave the DSCP as it is",
        "MAP_PFC_PRIORITY_TO_QUEUE" | "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP" => {
            "a priority pauses the class of the same number"
        }
        "TC_TO_PRIORITY_GROUP_MAP" | "TC_TO_QUEUE_MAP" | "DSCP_TO_TC_MAP" => {
            "no port that is imported refers to it"
        }
        _ => "no counterpart in a scenario",
    }
}

/// Joins names by commas, and cuts a long list short.
pub(super) fn some(names: &[String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| printable(name))
        .collect();
    let more = names.len() - shown.len();
    let shown = shown.join(", ");
    if more > 0 {
        format!("{shown} and {more} more")
    } else {
        shown
    }
}
