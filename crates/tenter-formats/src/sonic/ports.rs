//! The switch's ports, one of which is chosen for the import.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::config_db::{ConfigDb, Id};
use tenter_language::notation::diagnostics::{Problems, quote};
use tenter_language::units::suggestion;

/// The table of the ports, which are only counted.
pub(super) const PORT: &str = "PORT";

/// The objects that configure a port.
#[derive(Debug, Default)]
pub(super) struct Port {
    pub(super) name: String,
    /// Buffer objects (`BUFFER_PG`) by priority group.
    pub(super) groups: BTreeMap<u8, Id>,
    /// Buffer objects (`BUFFER_QUEUE`) by queue.
    pub(super) buffers: BTreeMap<u8, Id>,
    /// Scheduling and marking objects (`QUEUE`) by queue.
    pub(super) queues: BTreeMap<u8, Id>,
    pub(super) maps: Option<Id>,
    pub(super) watchdog: Option<Id>,
    /// Ports that are configured differently.
    pub(super) others: Vec<String>,
    /// Number of ports on the switch.
    pub(super) count: u64,
}

/// Returns the port `asked`. Without one the largest group with equal settings is taken for the
/// usual case (a guess), and its first port returned.
pub(super) fn choose(
    database: &ConfigDb<'_>,
    asked: Option<&str>,
    problems: &Problems,
) -> Option<Port> {
    let (mut ports, order) = read(database);
    let alike: Vec<String> = order
        .iter()
        .map(|name| ports[name].settings(database))
        .collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for settings in &alike {
        *counts.entry(settings).or_default() += 1;
    }
    let index = match asked {
        Some(asked) => order.iter().position(|name| name == asked),
        // `max_by_key` returns the last maximum, so the reversed order finds the first port of the
        // group.
        None => (0..order.len())
            .rev()
            .max_by_key(|&index| counts[alike[index].as_str()]),
    };
    let Some(index) = index else {
        let names: Vec<&str> = order.iter().take(16).map(String::as_str).collect();
        let (message, help) = match asked {
            Some(asked) if !names.is_empty() => (
                format!("no port {} has buffers or traffic classes", quote(asked)),
                suggestion(asked, names.into_iter()),
            ),
            _ => (
                "no port has buffers or traffic classes".to_owned(),
                "give PORT_QOS_MAP, QUEUE, BUFFER_PG and BUFFER_QUEUE with a port in their keys"
                    .to_owned(),
            ),
        };
        problems.push(None, message, Some(help));
        return None;
    };
    let others = order.iter().zip(&alike);
    let others = others.filter(|(_, settings)| **settings != alike[index]);
    let others: Vec<String> = others.map(|(name, _)| name.clone()).collect();
    let mut chosen = ports.remove(&order[index]).unwrap_or_default();
    for id in chosen.parts() {
        database.touch(id);
    }
    chosen.others = others;
    // A file may leave the table of ports out, or list fewer than its other tables name.
    chosen.count = database.objects(PORT).count().max(order.len()) as u64;
    Some(chosen)
}

/// Reads all ports by name, and their names in the order of the file.
fn read(database: &ConfigDb<'_>) -> (BTreeMap<String, Port>, Vec<String>) {
    let mut ports: BTreeMap<String, Port> = BTreeMap::new();
    let mut order = Vec::new();
    let mut port = |name: &str, take: &mut dyn FnMut(&mut Port)| {
        let port = ports.entry(name.to_owned()).or_insert_with(|| {
            order.push(name.to_owned());
            Port {
                name: name.to_owned(),
                ..Port::default()
            }
        });
        take(port);
    };
    for (table, part) in [("BUFFER_PG", 0), ("BUFFER_QUEUE", 1), ("QUEUE", 2)] {
        for (id, key) in database.objects(table) {
            let parsed = key.rsplit_once('|');
            let Some((names, range)) =
                parsed.and_then(|(names, range)| Some((names, numbers(range)?)))
            else {
                let help = "write a port and a number or range: `Ethernet0|3-4`";
                database.wrong_object(id, "is no port with its numbers", help);
                continue;
            };
            for name in names.split(',') {
                port(name, &mut |port| {
                    let own = match part {
                        0 => &mut port.groups,
                        1 => &mut port.buffers,
                        _ => &mut port.queues,
                    };
                    for number in range.clone() {
                        if own.insert(number, id).is_some() {
                            let what = format!("lists {number} of {} again", quote(name));
                            database.wrong_object(id, &what, "keep one of them");
                        }
                    }
                });
            }
        }
    }
    for (table, global) in [("PORT_QOS_MAP", "global"), ("PFC_WD", "GLOBAL")] {
        for (id, key) in database.objects(table).filter(|(_, key)| *key != global) {
            for name in key.split(',') {
                port(name, &mut |port| match table {
                    "PFC_WD" => port.watchdog = Some(id),
                    _ => port.maps = Some(id),
                });
            }
        }
    }
    (ports, order)
}

/// Parses a number or a range with both ends, below 64.
fn numbers(text: &str) -> Option<std::ops::RangeInclusive<u8>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse::<u8>().ok().filter(|number| *number < 64);
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some(first..=last)
}

impl Port {
    /// Iterates over all objects that configure the port.
    fn parts(&self) -> impl Iterator<Item = Id> {
        let numbered = [&self.groups, &self.buffers, &self.queues];
        let numbered = numbered.into_iter().flat_map(BTreeMap::values);
        numbered.copied().chain(self.maps).chain(self.watchdog)
    }

    /// Returns the settings of a port as a text that is equal for ports configured alike.
    fn settings(&self, database: &ConfigDb<'_>) -> String {
        let mut out = String::new();
        let numbered = [&self.groups, &self.buffers, &self.queues].into_iter();
        let numbered = numbered
            .enumerate()
            .flat_map(|(part, own)| own.iter().map(move |(&number, &id)| (part, number, id)));
        let maps = self.maps.map(|id| (3, 0, id));
        let watchdog = self.watchdog.map(|id| (4, 0, id));
        for (part, number, id) in numbered.chain(maps).chain(watchdog) {
            let _ = write!(out, "{part}.{number}:{:?};", database.sorted_fields(id));
        }
        out
    }
}
