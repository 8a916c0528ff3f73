//! Importer for a `SONiC` switch's buffers and traffic classes, from its `config_db.json`.
//!
//! Fields mean what `SONiC`'s YANG models (sonic-buildimage) and the headers of the Switch
//! Abstraction Interface (SAI) say.

mod buffers;
mod classes;
mod input;
mod leftovers;
mod ports;

use std::cell::RefCell;

use tenter_language::units::Budget;

use crate::config_db::ConfigDb;
use crate::fragment::{Fragment, Part, word};
use crate::limits;
use tenter_language::notation::diagnostics::{Diagnostics, Problems, Source, printable, quote};
use tenter_language::notation::yaml;

use input::Import;
use ports::PORT;

/// Tables that the import reads. It warns about every field in them that it does not use.
const TABLES: [&str; 24] = [
    "BUFFER_PG",
    "BUFFER_POOL",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_PROFILE",
    "BUFFER_QUEUE",
    "CABLE_LENGTH",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "DOT1P_TO_TC_MAP",
    "DSCP_TO_FC_MAP",
    "DSCP_TO_TC_MAP",
    "LOSSLESS_TRAFFIC_PATTERN",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "MPLS_TC_TO_TC_MAP",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "PFC_WD",
    PORT,
    "PORT_QOS_MAP",
    "QUEUE",
    "SCHEDULER",
    "TC_TO_DSCP_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "WRED_PROFILE",
];

/// Reads buffers and traffic classes from a `config_db.json` into `fabric.switch`.
///
/// All ports are alike in a scenario, so one port is imported: `port`, or without it the first one
/// in the largest group with equal settings. `source_name` names the text in messages.
///
/// # Errors
/// All problems in the text together, each with table, key and field.
pub fn import_sonic(
    text: &str,
    source_name: &str,
    port: Option<&str>,
    budget: &Budget,
) -> Result<Fragment, Diagnostics> {
    let problems = Problems::default();
    if let Err(error) = limits::text(text.len(), budget) {
        return Err(Diagnostics::of_input(
            source_name,
            error.what,
            &error.remedy,
        ));
    }
    let fragment = yaml::parse_as("JSON", text, 0, 0, &problems).and_then(|root| {
        let database = ConfigDb::of(root, &TABLES, &problems);
        // Problems of the database come first: they may change which port is chosen.
        if !problems.is_empty() {
            return None;
        }
        let chosen = ports::choose(&database, port, &problems)?;
        let import = Import {
            database: &database,
            port: &chosen,
            warnings: RefCell::default(),
        };
        Some(import.fragment(source_name))
    });
    match fragment {
        Some(fragment) if problems.is_empty() => Ok(fragment),
        _ => Err(problems.into_diagnostics(vec![Source {
            name: source_name.to_owned(),
            text: text.to_owned(),
        }])),
    }
}

impl Import<'_> {
    /// Makes the keys for `fabric.switch` from the chosen port, then warns about the rest.
    fn fragment(&self, source_name: &str) -> Fragment {
        let others = &self.port.others;
        if !others.is_empty() {
            let reason = format!(
                "configured unlike {} and not imported, for the ports of a scenario are alike; `--port` imports one of them",
                printable(&self.port.name)
            );
            self.warn(&leftovers::some(others), &reason);
        }
        let classes = self.classes();
        let mut switch = Vec::new();
        // Without pools in the file the scenario keeps the buffer that it has.
        if !self.nothing_shared() {
            switch.extend(self.buffer(&classes));
        }
        let items = classes.into_iter().map(|class| class.parts).collect();
        switch.push(Part::List {
            key: "classes",
            items,
        });
        switch.extend(self.watchdog());
        self.say_leftovers();
        let name = printable(source_name);
        let port = printable(&self.port.name);
        Fragment {
            heading: format!("Buffers and traffic classes of {name}, as {port} has them."),
            switch,
            warnings: self.warnings.take(),
        }
    }

    /// Makes `pfc_watchdog`, if the port has a watchdog that acts on traffic.
    fn watchdog(&self) -> Option<Part> {
        let database = self.database;
        let global = database.find("PFC_WD", "GLOBAL");
        let own = self.port.watchdog?;
        let place = |field| database.field_place(own, field);
        let mut parts = Vec::new();
        let milliseconds = 1..=100_000;
        if let Some(global) = global {
            let poll = database.number(global, "POLL_INTERVAL", 1..=10_000);
            let origin = database.field_place(global, "POLL_INTERVAL");
            parts.extend(poll.map(|poll| word("poll_interval", format!("{poll}ms"), origin)));
        }
        let detection = database.required(own, "detection_time", milliseconds.clone())?;
        parts.push(word(
            "detection_time",
            format!("{detection}ms"),
            place("detection_time"),
        ));
        let restoration = database.number(own, "restoration_time", milliseconds);
        parts.extend(restoration.map(|time| {
            word(
                "restoration_time",
                format!("{time}ms"),
                place("restoration_time"),
            )
        }));
        // Guess: a watchdog without `action` drops, as the agent of SONiC does.
        match database.text(own, "action").unwrap_or("drop") {
            action @ ("drop" | "forward") => parts.push(word("action", action, place("action"))),
            "alert" => {
                let reason = "a watchdog that only alerts changes no traffic, and is left out";
                self.warn(&place("action"), reason);
                return None;
            }
            other => {
                let help = "write `drop`, `forward` or `alert`";
                database.wrong(own, "action", &format!("cannot be {}", quote(other)), help);
            }
        }
        Some(Part::Map {
            key: "pfc_watchdog",
            parts,
            origin: database.place(own),
        })
    }
}
