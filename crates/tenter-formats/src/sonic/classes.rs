//! Traffic classes: queue and priority group, scheduling, pausing and marking.

use crate::config_db::{Id, Reference};
use crate::fragment::{Part, size, word};
use crate::sonic::input::{CLASSES, Import};
use tenter_language::config::Share;
use tenter_language::notation::diagnostics::quote;

/// A traffic class of the fragment.
pub(super) struct Class {
    pub(super) parts: Vec<Part>,
    /// The pool from which the class takes space.
    pub(super) pool: Option<Id>,
    /// Space of the class outside the pools, in bytes at each port.
    pub(super) outside: u64,
}

/// A traffic class with its queue, and the place in the file that maps it.
struct Queue {
    class: u8,
    number: u8,
    origin: String,
}

impl Import<'_> {
    /// Returns the classes in ascending order. A class that shares the queue of the class before it
    /// is not listed, because a scenario reads a missing class that way.
    pub(super) fn classes(&self) -> Vec<Class> {
        self.check_dscp();
        // Guess: without `pfc_enable` no class is lossless.
        let paused = self.numbers("pfc_enable").unwrap_or_default();
        if let Some(watched) = self.numbers("pfcwd_sw_enable").filter(|own| *own != paused) {
            let place = self.maps_place("pfcwd_sw_enable");
            let watched: Vec<String> = watched.iter().map(u8::to_string).collect();
            let reason = format!(
                "only priorities {} are watched, but the watchdog of a scenario watches every lossless class",
                watched.join(",")
            );
            self.warn(&place, &reason);
        }
        let mut listed: Vec<Queue> = Vec::new();
        for queue in self.queues() {
            let is_paused = |class: u8| paused.contains(&class);
            match listed
                .iter()
                .rposition(|other| other.number == queue.number)
            {
                Some(at) if at + 1 == listed.len() => {
                    if is_paused(listed[at].class) != is_paused(queue.class) {
                        let reason = format!(
                            "shares the queue of class {}, so it is lossless if and only if that is",
                            listed[at].class
                        );
                        self.warn(&queue.origin, &reason);
                    }
                }
                Some(_) => {
                    let reason = "classes that are no neighbours cannot share a queue in a scenario; this one gets another with the same settings";
                    self.warn(&queue.origin, reason);
                    listed.push(queue);
                }
                None => listed.push(queue),
            }
        }
        let descending = listed
            .windows(2)
            .find(|pair| pair[0].number > pair[1].number);
        if let Some([_, queue]) = descending {
            let reason = "among strict classes the higher class goes first, whatever the number of its queue";
            self.warn(&queue.origin, reason);
        }
        let classes = listed
            .iter()
            .map(|queue| self.class(queue, paused.contains(&queue.class)));
        classes.collect()
    }

    fn maps_place(&self, field: &str) -> String {
        let place = |maps| self.database.field_place(maps, field);
        self.port.maps.map_or_else(|| field.to_owned(), place)
    }

    /// Returns the queue of each traffic class, by class.
    fn queues(&self) -> Vec<Queue> {
        let Some(map) = self.map("tc_to_queue_map", "TC_TO_QUEUE_MAP") else {
            let port = self.port;
            // Guess: without a map class n has queue n, for each n with a setting, and class 0.
            let given = |class: &u8| {
                *class == 0 || port.queues.contains_key(class) || port.buffers.contains_key(class)
            };
            let reason =
                "is missing: traffic classes and queues are taken to have the same numbers";
            self.warn(&self.maps_place("tc_to_queue_map"), reason);
            let classes = (0..CLASSES).filter(given).map(|class| Queue {
                class,
                number: class,
                origin: String::new(),
            });
            return classes.collect();
        };
        let mut queues: Vec<Queue> = self
            .pairs(map)
            .map(|(class, number)| Queue {
                class,
                number,
                origin: self.database.field_place(map, &class.to_string()),
            })
            .collect();
        queues.sort_by_key(|queue| queue.class);
        if queues.is_empty() {
            let help = "give each traffic class its queue: `\"3\": \"3\"`";
            self.database
                .wrong_object(map, "maps no traffic class", help);
        }
        queues
    }

    /// Iterates over the entries of a map from traffic classes to numbers.
    fn pairs(&self, map: Id) -> impl Iterator<Item = (u8, u8)> {
        let database = self.database;
        database.fields(map).filter_map(move |field| {
            // `SONiC` allows numbers up to 63; classes above 7 get a warning below.
            let number = database.number(map, field, 0..=63)?;
            let class: Option<u8> = field.parse().ok().filter(|class| *class < 64);
            if class.is_none() {
                let what = format!("is of {}, which is no traffic class", quote(field));
                database.wrong(map, field, &what, "write a number from 0 to 7");
            }
            let class = class?;
            if class >= CLASSES {
                let reason = "a scenario has the classes 0 to 7";
                self.warn(&database.field_place(map, field), reason);
                return None;
            }
            Some((class, number as u8))
        })
    }

    /// Returns a traffic class's priority group. Guesses: without a map, the group with the class's
    /// number; for a class that the map lacks, group 0.
    pub(super) fn group(&self, class: u8) -> u8 {
        let Some(map) = self.map("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP") else {
            let reason = "is missing: traffic classes and priority groups are taken to have the same numbers";
            self.warn(&self.maps_place("tc_to_pg_map"), reason);
            return class;
        };
        let found = self.pairs(map).find(|(known, _)| *known == class);
        found.map_or(0, |(_, group)| group)
    }

    fn class(&self, queue: &Queue, paused: bool) -> Class {
        let mut class = Class {
            parts: vec![word("class", queue.class.to_string(), &*queue.origin)],
            pool: None,
            outside: 0,
        };
        self.scheduling(queue, &mut class);
        self.space(queue.class, queue.number, paused, &mut class);
        class.parts.extend(self.marking(queue));
        class
    }

    /// Adds a class's scheduling among its port's queues.
    fn scheduling(&self, queue: &Queue, class: &mut Class) {
        let database = self.database;
        let own = self.port.queues.get(&queue.number);
        // Guess from SAI's default: a queue without a scheduler has a weight of 1.
        let named = own.filter(|&&own| database.has(own, "scheduler"));
        let Some(&own) = named else {
            let place = match own {
                Some(&own) => database.field_place(own, "scheduler"),
                None => format!("QUEUE|{}|{}", self.port.name, queue.number),
            };
            let reason = "names no scheduler: SAI's default is taken, a weight of 1";
            self.warn(&place, reason);
            class.parts.push(word(
                "weight",
                "1",
                "SAI: default of a queue without a scheduler",
            ));
            return;
        };
        let scheduler = match database.reference(own, "scheduler", "SCHEDULER") {
            Some(Reference::Object(scheduler)) => scheduler,
            Some(Reference::Null) => {
                let help = "name an object of SCHEDULER";
                database.wrong(own, "scheduler", "names nothing", help);
                return;
            }
            None => return,
        };
        let place = |field| database.field_place(scheduler, field);
        match database.text(scheduler, "type") {
            Some("STRICT") => class
                .parts
                .push(word("scheduling", "strict", place("type"))),
            Some(kind @ ("DWRR" | "WRR")) => {
                if kind == "WRR" {
                    let reason = "shares are counted in bytes, not in packets";
                    self.warn(&place("type"), reason);
                }
                let weight = database.required(scheduler, "weight", 1..=100);
                let weight =
                    weight.map(|weight| word("weight", weight.to_string(), place("weight")));
                class.parts.extend(weight);
            }
            other => {
                let what = other.map_or("is missing".to_owned(), |other| {
                    format!("cannot be {}", quote(other))
                });
                let help = "write `STRICT`, `DWRR` or `WRR`";
                database.wrong(scheduler, "type", &what, help);
            }
        }
    }

    /// Makes `ecn` if the queue of a class has a WRED profile that marks.
    fn marking(&self, queue: &Queue) -> Option<Part> {
        let database = self.database;
        let own = *self.port.queues.get(&queue.number)?;
        let Reference::Object(wred) = database.reference(own, "wred_profile", "WRED_PROFILE")?
        else {
            return None;
        };
        let place = |field: &str| database.field_place(wred, field);
        // Guess: a profile that does not name the packets to mark marks none.
        let marks = database.text(wred, "ecn").unwrap_or("ecn_none");
        if marks != "ecn_all" && !marks.contains("green") {
            let reason = "does not mark green packets, which all are in a scenario; early drops have no counterpart";
            self.warn(&database.place(wred), reason);
            database.read_all(wred);
            return None;
        }
        if !self.is_green_enabled(wred)? {
            return None;
        }
        // Newer releases have thresholds for marking apart from those for dropping.
        let either = |own: &'static str, of_both: &'static str| {
            let separate = database.has(wred, own);
            if separate { own } else { of_both }
        };
        let bytes = 0..=1 << 40;
        let min = either("ecn_green_min_threshold", "green_min_threshold");
        let max = either("ecn_green_max_threshold", "green_max_threshold");
        let share = either("ecn_green_mark_probability", "green_drop_probability");
        let kmin = database.required(wred, min, bytes.clone())?;
        let kmax = database.required(wred, max, bytes)?;
        // Guess from SAI's default: a profile without a probability reaches 100 % at the
        // upper threshold.
        let (percent, from) = if database.has(wred, share) {
            (database.number(wred, share, 0..=100)?, place(share))
        } else {
            (
                100,
                "SAI: default of a profile without a probability".to_owned(),
            )
        };
        if kmin > kmax {
            let what = format!("is {kmax}, less than `{min}`, {kmin}");
            database.wrong(wred, max, &what, "give it at least as much");
        }
        let parts = vec![
            size("kmin", kmin as u64, place(min)),
            size("kmax", kmax as u64, place(max)),
            word(
                "pmax",
                Share::from_ppm(percent as u32 * 10_000).to_string(),
                from,
            ),
        ];
        Some(Part::Map {
            key: "ecn",
            parts,
            origin: place("ecn"),
        })
    }

    /// Returns true if a WRED profile acts on green packets, as all packets of a scenario are;
    /// `None` if the field has an unknown word, which is reported.
    fn is_green_enabled(&self, wred: Id) -> Option<bool> {
        let (database, field) = (self.database, "wred_green_enable");
        let place = database.field_place(wred, field);
        let is_enabled = match database.text(wred, field) {
            Some("true") => true,
            Some("false") | None => false,
            Some(other) => {
                let what = format!("cannot be {}", quote(other));
                database.wrong(wred, field, &what, "write `true` or `false`");
                return None;
            }
        };
        let reason = match (is_enabled, database.has(wred, field)) {
            (true, _) => {
                "every packet is ECN-capable in a scenario, so it is marked and none is dropped early"
            }
            (false, true) => "switches the profile off for green packets, so none is marked",
            (false, false) => {
                "is missing, and SAI's default is `false`: green packets are neither marked nor dropped; give `true` if the switch marks them"
            }
        };
        self.warn(&place, reason);
        if !is_enabled {
            database.read_all(wred);
        }
        Some(is_enabled)
    }

    /// Warns about DSCPs that belong to another class in a scenario.
    fn check_dscp(&self) {
        let Some(map) = self.map("dscp_to_tc_map", "DSCP_TO_TC_MAP") else {
            return;
        };
        let database = self.database;
        let mut others: Vec<i64> = Vec::new();
        for field in database.fields(map) {
            let class = database.number(map, field, 0..=63);
            let dscp: Option<i64> = field.parse().ok().filter(|dscp| (0..64).contains(dscp));
            if dscp.is_none() {
                let what = format!("is of {}, which is no DSCP", quote(field));
                database.wrong(map, field, &what, "write a number from 0 to 63");
            }
            if let (Some(class), Some(dscp)) = (class, dscp)
                && class != dscp >> 3
            {
                others.push(dscp);
            }
        }
        others.sort_unstable();
        if !others.is_empty() {
            let reason = "the class of a packet is its DSCP shifted right by 3 in a scenario: give NICs a DSCP from 8 times the class on (`endpoint.addresses.dscp`), 24 for class 3";
            self.warn(&database.field_place(map, &ranges(&others)), reason);
        }
    }
}

/// Joins ascending numbers by commas, with runs as ranges: `0-7,24`.
fn ranges(numbers: &[i64]) -> String {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let words = runs.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    });
    words.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn runs_are_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(ranges(&[]), "");
    }
}
