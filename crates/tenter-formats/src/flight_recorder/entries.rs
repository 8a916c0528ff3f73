//! Parser for a dump's entries.

use serde_json::Value;

use crate::calls::{
    Called, Described, Elements, Members, Peer, ProcessGroups, called, element_bytes,
};

/// A recorded call. Times are nanoseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) created: u64,
    /// Duration, if it was recorded.
    pub(super) took: Option<u64>,
    /// Times at which the watchdog found the call started and completed.
    pub(super) found: (Option<u64>, Option<u64>),
    pub(super) described: Described,
    /// Number of a message in its group. Messages with the same number were called for together.
    pub(super) together: Option<u64>,
}

/// Source of a call's times, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The watchdog found it completed; its start follows from its duration, or was found too.
    Found,
    /// It was created on the CPU, and its duration is known.
    Created,
    /// Only its creation is known.
    Nothing,
}

impl Entry {
    /// Returns start and end as well as they are known, with their source.
    pub(super) fn times(&self) -> (Known, u64, u64) {
        let Entry { created, took, .. } = *self;
        let (found, completed) = self.found;
        let start = |completed: u64| took.map(|took| completed.saturating_sub(took)).or(found);
        if let Some((start, end)) = completed.and_then(|end| Some((start(end)?, end))) {
            // The watchdog looks at intervals and clocks may differ: no call starts before its
            // creation.
            let end = end.max(created);
            return (Known::Found, start.clamp(created, end), end);
        }
        match took {
            Some(took) => (Known::Created, created, created.saturating_add(took)),
            None => (Known::Nothing, created, created),
        }
    }
}

/// A dump's statements about rank and job, and its calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Dump {
    pub(super) rank: Option<u32>,
    pub(super) world: Option<u32>,
    pub(super) groups: ProcessGroups,
    pub(super) entries: Vec<Entry>,
}

impl Dump {
    /// Reads a dump from JSON.
    ///
    /// # Errors
    /// The problem with an entry.
    pub(super) fn of(parsed: &Value) -> Result<Dump, String> {
        let mut dump = Dump {
            rank: parsed["rank"]
                .as_u64()
                .and_then(|rank| u32::try_from(rank).ok()),
            ..Dump::default()
        };
        dump.groups.set_all(&parsed["pg_config"]);
        // `0` is the name of the default group, which has all ranks.
        dump.world = dump.groups.size("0");
        let list = parsed["entries"].as_array();
        for (place, entry) in list.ok_or("there is no list `entries`")?.iter().enumerate() {
            let read = self::entry(entry).map_err(|what| format!("entry {place} {what}"));
            dump.entries.extend(read?);
        }
        dump.entries.sort_by_key(|entry| entry.number);
        Ok(dump)
    }
}

/// Reads an entry; `None` if the call moves no data between ranks.
fn entry(entry: &Value) -> Result<Option<Entry>, String> {
    let name = entry["profiling_name"].as_str();
    let name = name.ok_or("has no `profiling_name`")?;
    let Some(called) = called(name) else {
        return Err(format!("calls `{name}`, which is no collective"));
    };
    if called == Called::Nothing {
        return Ok(None);
    }
    let number = |key: &str| entry[key].as_u64();
    let created = number("time_created_ns").ok_or("has no `time_created_ns`")?;
    let took = entry["duration_ms"].as_f64();
    let took = took.filter(|took| (0.0..1e12).contains(took));
    let took = took.map(|ms| (ms * 1e6).round() as u64);
    if created.checked_add(took.unwrap_or(0)).is_none() {
        return Err(format!(
            "has the `time_created_ns` {created}, after the year 2554"
        ));
    }
    let is_message = matches!(called, Called::Send | Called::Receive);
    let sent = elements(entry, "input")?;
    let received = elements(entry, "output")?;
    let elements = sent.or(received).map(|(_, bytes)| Elements {
        sent: sent.map_or(0, |(count, _)| count),
        received: received.map_or(0, |(count, _)| count),
        bytes,
    });
    let group = &entry["process_group"];
    let named = group.as_str().or_else(|| group[0].as_str());
    let members = Members {
        name: named.unwrap_or_default().to_owned(),
        ..Members::default()
    };
    // Older versions have one number for collectives and messages.
    let sequence = number("collective_seq_id").or(number("seq_id"));
    let described = Described {
        called,
        elements,
        members,
        sent_splits: String::new(),
        received_splits: String::new(),
        peer: peer(name).map(Peer::Place),
        root: None,
        sequence: sequence.filter(|_| !is_message),
        names_group: true,
    };
    Ok(Some(Entry {
        // Guess: entries without a number come last, in file order.
        number: number("record_id").or(number("id")).unwrap_or(u64::MAX),
        created,
        took,
        found: (
            number("time_discovered_started_ns"),
            number("time_discovered_completed_ns"),
        ),
        described,
        together: number("p2p_seq_id").filter(|_| is_message),
    }))
}

/// Parses the peer in a name such as `nccl:send 0->1` or `nccl:recv 0<-1`.
fn peer(name: &str) -> Option<u64> {
    let (_, peer) = name.split_once("->").or_else(|| name.split_once("<-"))?;
    peer.trim().parse().ok()
}

/// Counts the elements in all input or output tensors, with the bytes for each. Guess: all tensors
/// have the first one's type. `None` without a known type.
fn elements(entry: &Value, of: &str) -> Result<Option<(u64, u64)>, String> {
    let shapes = entry[format!("{of}_sizes")].as_array();
    let types = entry[format!("{of}_dtypes")].as_array();
    let Some((shapes, name)) = shapes.zip(types.and_then(|types| types.first())) else {
        return Ok(None);
    };
    let mut count: u64 = 0;
    for shape in shapes {
        let dimensions = shape.as_array().into_iter().flatten();
        let product = dimensions
            .map(Value::as_u64)
            .try_fold(1_u64, |all, of| all.checked_mul(of?));
        let product = product.ok_or_else(|| format!("has `{of}_sizes` that are none"))?;
        count = count.saturating_add(product);
    }
    let bytes = name.as_str().and_then(element_bytes);
    Ok(bytes.map(|bytes| (count, bytes)))
}
