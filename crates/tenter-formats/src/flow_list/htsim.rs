//! Reader for htsim's connection matrices (`.cm`): connections with starts and sizes, and triggers
//! by which one connection's end starts others.
//!
//! Source: `connection_matrix.cpp` and `trigger.cpp` in Broadcom/csg-htsim and
//! ultraethernet/uet-htsim.

use std::collections::BTreeMap;

use tenter_language::notation::diagnostics::quote;
use tenter_language::units::{Budget, Time};
use tenter_workload::spec::{FlowReading, StartUnit};

use super::{After, Flow, FlowList};
use crate::error::{ImportError, Place};
use crate::imported::Imported;
use crate::limits::{self, RANKS_MAX};
use crate::words::{self, number};

/// Reads a connection matrix.
///
/// # Errors
/// The first line that violates the format, and triggers that a graph cannot express.
pub fn read(
    text: &str,
    unit: StartUnit,
    reading: FlowReading,
    budget: &Budget,
) -> Result<Imported, ImportError> {
    limits::text(text.len(), budget)?;
    let mut matrix = Matrix::default();
    let mut last = 1;
    for (place, line) in text.lines().enumerate() {
        let at = Place::Line(place + 1);
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() || words[0].starts_with('#') {
            continue;
        }
        last = place + 1;
        matrix.line(&words, at)?;
    }
    matrix.finish(unit, reading, Place::Line(last), budget)
}

/// Picoseconds in a microsecond, uet-htsim's unit for starts.
const PS_OF_US: u64 = 1_000_000;
/// Latest start below which a list cannot be in picoseconds. Before this the first bit of the first
/// flow has not reached the next switch, so differences between starts would have no effect.
const EARLIEST: Time = Time::from_ns(100);
/// A unit is implausible if the latest start in it exceeds this multiple of the time that the flows
/// take one after the other over the slowest link: packet simulations do not last that long.
const PATIENCE: u64 = 100;

/// The latest start of a list.
struct Latest<'l> {
    text: &'l str,
    at: Place,
    /// The start, read as picoseconds.
    in_ps: Time,
    /// True if any start of the list has a fraction, which picoseconds never have.
    has_fraction: bool,
}

/// The activations after which a trigger starts its flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fires {
    /// The only activation starts all flows (`oneshot`).
    Once,
    /// Each activation starts one flow (`multishot`).
    Each,
    /// The last of several activations (`barrier`).
    After(u64),
}

/// A trigger: its declaration, the flows that activate it, and the place of its first mention.
#[derive(Debug)]
struct Trigger {
    fires: Option<Fires>,
    by: Vec<After>,
    /// Number of flows that it starts.
    starts: usize,
    at: Place,
}

/// A connection's attributes beside those for its flow.
#[derive(Default)]
struct Attributes {
    id: Option<u64>,
    /// True if the connection has a start or a trigger.
    is_started: bool,
    /// True for a further message on a connection that exists already.
    is_message: bool,
}

/// A connection matrix while it is read.
#[derive(Default)]
struct Matrix {
    list: FlowList,
    /// Counts of connections and triggers in the header.
    connections: Option<u64>,
    triggers_expected: Option<u64>,
    triggers: BTreeMap<u64, Trigger>,
    /// Trigger that starts a flow, by the flow's place.
    started_by: BTreeMap<usize, u64>,
    /// Starts as they are written, with the place of the flow. The unit is known at the end only.
    starts: Vec<(usize, String, Place)>,
    declared: u64,
    /// Failures in the file, which are only counted.
    failures: u64,
    priorities: u64,
    /// Source and destination of each connection, by its id.
    ids: BTreeMap<u64, (u32, u32)>,
}

impl Matrix {
    /// Reads a line, split into words.
    fn line(&mut self, words: &[&str], at: Place) -> Result<(), ImportError> {
        if let Some((src, dst)) = words[0].split_once("->") {
            return self.connection(src, dst, &words[1..], at);
        }
        match (words[0].to_ascii_lowercase().as_str(), words.get(1)) {
            ("trigger", _) => self.trigger(words, at),
            ("failure", _) => {
                self.failures += 1;
                Ok(())
            }
            ("nodes", Some(word)) => {
                let nodes = number(word, "a number of nodes", at)?;
                let known = u32::try_from(nodes).ok();
                let nodes = known.filter(|&nodes| (2..=RANKS_MAX).contains(&u64::from(nodes)));
                let nodes = nodes.ok_or_else(|| {
                    let what = format!("{} is not a number of nodes", quote(word));
                    ImportError::new(at, what, format!("give 2 to {RANKS_MAX}"))
                })?;
                self.list.ranks = Some(nodes);
                Ok(())
            }
            ("connections", Some(word)) => {
                self.connections = Some(number(word, "a number of connections", at)?);
                Ok(())
            }
            ("triggers", Some(word)) => {
                self.triggers_expected = Some(number(word, "a number of triggers", at)?);
                Ok(())
            }
            // The number is checked and not kept: failures are counted as they come, for a note.
            ("failures", Some(word)) => number(word, "a number of failures", at).map(|_| ()),
            _ => {
                let what = format!("{} begins no line of the format", quote(words[0]));
                let remedy = "write `SRC->DST …`, `trigger …`, or a line of the header";
                Err(ImportError::new(at, what, remedy))
            }
        }
    }

    /// Reads a connection with its attributes, and adds its flow.
    fn connection(
        &mut self,
        src: &str,
        dst: &str,
        attributes: &[&str],
        at: Place,
    ) -> Result<(), ImportError> {
        let [src, dst] = [src, dst].map(|word| words::rank(word, "a node", at));
        let (src, dst) = (src?, dst?);
        let mut flow = Flow {
            src,
            dst,
            bytes: 0,
            start: Time::ZERO,
            after: Vec::new(),
            join: None,
            at,
        };
        let mut of = Attributes::default();
        let mut left = attributes.iter().copied().peekable();
        while let Some(name) = left.next() {
            let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
            match name {
                "addon" => {}
                "msg" => {
                    of.is_message = true;
                    // The value of `msg` may be left out.
                    left.next_if(is_number);
                }
                _ => {
                    let value = left.next().ok_or_else(|| {
                        let what = format!("{} has no value", quote(name));
                        ImportError::new(at, what, "write a value behind it")
                    })?;
                    self.attribute(name, value, &mut flow, &mut of)?;
                }
            }
        }
        if !of.is_started {
            let what = "nothing starts the connection";
            return Err(ImportError::new(at, what, "give `start` or `trigger`"));
        }
        // Messages of one connection share its id, and its two ends.
        if let Some(id) = of.id
            && let Some(before) = self.ids.insert(id, (src, dst))
            && (!of.is_message || before != (src, dst))
        {
            let what = format!("connection {id} is there twice");
            return Err(ImportError::new(at, what, "give each an id of its own"));
        }
        self.list.push(flow)
    }

    /// Reads an attribute of the connection that is added next.
    fn attribute(
        &mut self,
        name: &str,
        value: &str,
        flow: &mut Flow,
        of: &mut Attributes,
    ) -> Result<(), ImportError> {
        let (at, place) = (flow.at, self.list.flows.len());
        match name {
            "id" => of.id = Some(number(value, "an id", at)?),
            "size" => flow.bytes = number(value, "a size in bytes", at)?,
            "start" => {
                // The unit of starts is known only when all lines are, so the word is kept.
                self.starts.push((place, value.to_owned(), at));
                of.is_started = true;
            }
            "trigger" => {
                let trigger = number(value, "a trigger", at)?;
                self.named(trigger, at).starts += 1;
                self.started_by.insert(place, trigger);
                of.is_started = true;
            }
            "send_done_trigger" | "recv_done_trigger" => {
                let trigger = number(value, "a trigger", at)?;
                let end = After {
                    flow: place,
                    received: name == "recv_done_trigger",
                };
                self.named(trigger, at).by.push(end);
            }
            "prio" => self.priorities += 1,
            _ => {
                let what = format!("{} is no attribute of a connection", quote(name));
                let remedy = "use id, start, size, trigger, send_done_trigger, \
                              recv_done_trigger, prio or msg";
                return Err(ImportError::new(at, what, remedy));
            }
        }
        Ok(())
    }

    /// Returns a trigger by its number. It may be declared later.
    fn named(&mut self, of: u64, at: Place) -> &mut Trigger {
        self.triggers.entry(of).or_insert(Trigger {
            fires: None,
            by: Vec::new(),
            starts: 0,
            at,
        })
    }

    /// Reads the declaration of a trigger.
    fn trigger(&mut self, words: &[&str], at: Place) -> Result<(), ImportError> {
        let form = "write `trigger id N oneshot`, `multishot` or `barrier count K`";
        let (&["trigger", "id", id, kind], more) = words.split_at(words.len().min(4)) else {
            return Err(ImportError::new(
                at,
                "the trigger is not as the format has it",
                form,
            ));
        };
        let id = number(id, "a trigger", at)?;
        let fires = match (kind, more) {
            ("oneshot", []) => Fires::Once,
            ("multishot", []) => Fires::Each,
            ("barrier", ["count", count]) => Fires::After(number(count, "a count", at)?),
            _ => {
                return Err(ImportError::new(
                    at,
                    "the trigger is not as the format has it",
                    form,
                ));
            }
        };
        self.declared += 1;
        // Connections may name a trigger before its declaration, so it may be there already,
        // without a kind.
        let before = self.named(id, at).fires.replace(fires);
        if before.is_some() {
            let what = format!("trigger {id} is there twice");
            return Err(ImportError::new(at, what, "give each an id of its own"));
        }
        Ok(())
    }

    /// Resolves starts and triggers once all lines are known, and makes the graph.
    fn finish(
        mut self,
        unit: StartUnit,
        reading: FlowReading,
        end: Place,
        budget: &Budget,
    ) -> Result<Imported, ImportError> {
        for (found, expected, of) in [
            (
                self.list.flows.len() as u64,
                self.connections,
                "connections",
            ),
            (self.declared, self.triggers_expected, "triggers"),
        ] {
            if let Some(expected) = expected.filter(|&expected| expected != found) {
                self.list.notes.push(format!(
                    "the header says {expected} {of}, and there are {found}"
                ));
            }
        }
        self.set_starts(unit)?;
        self.set_waits()?;
        let undeclared = self
            .triggers
            .values()
            .filter(|trigger| trigger.fires.is_none());
        let undeclared = undeclared.count() as u64;
        for (times, what) in [
            (
                undeclared,
                "triggers are not declared and taken as `oneshot`",
            ),
            (
                self.failures,
                "failures are left out; give them as `faults` of the scenario",
            ),
            (
                self.priorities,
                "priorities are left out; classes are those of the job",
            ),
        ] {
            if times > 0 {
                self.list.notes.push(format!("{times} {what}"));
            }
        }
        self.list.finish(reading, end, budget)
    }

    /// Converts the starts, whose unit is `unit` or guessed from all of them.
    fn set_starts(&mut self, unit: StartUnit) -> Result<(), ImportError> {
        let places = match unit {
            StartUnit::Picoseconds => 0,
            StartUnit::Microseconds => 6,
            StartUnit::Auto => self.guessed_places()?,
        };
        let mut cut = 0_u64;
        for (flow, text, at) in &self.starts {
            let (start, was_cut) = words::time(text, "a start", places, *at)?;
            self.list.flows[*flow].start = start;
            cut += u64::from(was_cut);
        }
        if cut > 0 {
            self.list
                .notes
                .push(format!("{cut} starts were cut to whole picoseconds"));
        }
        Ok(())
    }

    /// Guesses the unit for starts: returns its decimal places in picoseconds, 0 or 6. csg-htsim
    /// writes picoseconds and uet-htsim microseconds, and the file does not tell them apart.
    /// Fractions, or starts too early to matter, mean microseconds; starts that would be
    /// implausibly late in microseconds mean picoseconds.
    ///
    /// # Errors
    /// Starts for which both are plausible, as one reading is a million times the other.
    fn guessed_places(&mut self) -> Result<usize, ImportError> {
        let mut latest: Option<Latest<'_>> = None;
        for (_, text, at) in &self.starts {
            let (in_ps, is_fraction) = words::time(text, "a start", 0, *at)?;
            let found = Latest {
                text,
                at: *at,
                in_ps,
                has_fraction: is_fraction || latest.as_ref().is_some_and(|of| of.has_fraction),
            };
            match &mut latest {
                // A fraction anywhere decides for the whole list, so it is carried along.
                Some(of) if of.in_ps >= in_ps => of.has_fraction = found.has_fraction,
                _ => latest = Some(found),
            }
        }
        // If all flows start at 0, the unit makes no difference.
        let Some(latest) = latest.filter(|of| !of.in_ps.is_zero() || of.has_fraction) else {
            return Ok(0);
        };
        let in_us = Time::from_ps(latest.in_ps.ps().saturating_mul(PS_OF_US));
        let (name, places) = if latest.has_fraction || latest.in_ps < EARLIEST {
            ("microseconds", 6)
        } else if in_us > self.list.longest().saturating_mul(PATIENCE) {
            ("picoseconds", 0)
        } else {
            let what = format!(
                "the latest start, {}, is {} in picoseconds, as csg-htsim has them, and {} in \
                 microseconds, as uet-htsim has them, and the flows allow both",
                quote(latest.text),
                latest.in_ps.rounded(),
                in_us.rounded(),
            );
            let remedy = "set `start_unit: ps` or `start_unit: us`";
            return Err(ImportError::new(latest.at, what, remedy));
        };
        self.list.notes.push(format!(
            "starts are taken as {name}; `start_unit` says otherwise"
        ));
        Ok(places)
    }

    /// Lets flows wait for the ends that activate their triggers.
    fn set_waits(&mut self) -> Result<(), ImportError> {
        let mut joined: BTreeMap<u64, usize> = BTreeMap::new();
        for (&flow, of) in &self.started_by {
            let trigger = &self.triggers[of];
            let wrong = |what: &str, remedy: &str| {
                Err(ImportError::new(
                    trigger.at,
                    format!("trigger {of} {what}"),
                    remedy,
                ))
            };
            let activations = trigger.by.len() as u64;
            match trigger.fires {
                _ if activations == 0 => {
                    return wrong(
                        "is activated by nothing",
                        "let the end of a connection activate it",
                    );
                }
                // Guess: a trigger without declaration is a `oneshot`.
                None | Some(Fires::Once) if activations > 1 => {
                    return wrong("is activated more than once", "make it a barrier");
                }
                Some(Fires::Each) if activations > 1 || trigger.starts > 1 => {
                    return wrong(
                        "starts one connection at each activation, in an order that only a run tells",
                        "give each connection a trigger of its own",
                    );
                }
                Some(Fires::After(count)) if count != activations => {
                    let what = format!("waits for {count} activations of {activations}");
                    return wrong(&what, "let it wait for all of them");
                }
                None | Some(_) => {}
            }
            // A join would be an operation more, and one wait or one waiting flow needs none.
            if activations == 1 || trigger.starts == 1 {
                self.list.flows[flow].after.clone_from(&trigger.by);
                continue;
            }
            let joins = &mut self.list.joins;
            // All flows that a trigger starts share its join.
            let join = *joined.entry(*of).or_insert_with(|| {
                joins.push(trigger.by.clone());
                joins.len() - 1
            });
            self.list.flows[flow].join = Some(join);
        }
        Ok(())
    }
}
