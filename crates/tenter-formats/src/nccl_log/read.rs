//! Assembly of ranks, groups and calls from all processes' lines.

use std::collections::{BTreeMap, BTreeSet};

use tenter_language::units::{Budget, Time};
use tenter_workload::graph::CollectiveName;
use tenter_workload::spec::NcclLogSpec;

use super::lines::{Communicator, LineCall, Log, Process};
use crate::calls::{
    Arrangement, Call, Called, Head, Kept, Message, Recorded, keep_common, one_after_another,
};
use crate::compressed::plain;
use crate::content::Form;
use crate::error::{ImportError, Place};
use crate::imported::{Imported, RankFiles};
use crate::limits::{self, MESSAGE_MAX};
use crate::trace::Traces;

/// Reads one log with the lines of all ranks, or one log for each rank.
///
/// # Errors
/// The first call in another form than NCCL writes, by its file and line; communicators whose ranks
/// nothing tells, and collectives that differ between ranks.
pub fn read(
    files: &(impl RankFiles + ?Sized),
    spec: &NcclLogSpec,
    budget: &Budget,
) -> Result<Imported, ImportError> {
    let (log, stored) = log_of(files, budget)?;
    let name_of = |file: usize| match files.count() {
        0 => "",
        count if file < count => files.name(file),
        _ => files.name(0),
    };
    let first = name_of(0);
    if log.processes.is_empty() {
        let what = "no line is a call of NCCL";
        let remedy = "log with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,COLL";
        return Err(ImportError::new(Place::Line(1), what, remedy).in_file(first));
    }
    let (arrangement, is_numbered) = arrangement(&log, stored, first, spec)?;
    let mut traces = Traces::of_calls(
        arrangement.ranks,
        arrangement.repeats,
        &spec.calls.algorithms,
        budget,
    )?;
    traces.note("calls have no times: the ranks compute nothing between them");
    if !is_numbered {
        traces.note("no line tells the numbers of ranks: hosts come in the order of the log, and in each its devices");
    }
    let mut ranks_of = vec![0; log.processes.len()];
    if !traces.is_repeated() {
        for (rank, &place) in (0..).zip(&arrangement.recordings) {
            ranks_of[place] = rank;
        }
    }
    let groups = Groups::of(&log, &arrangement, &ranks_of, &mut traces);
    let groups = groups.map_err(|(place, error)| {
        let file = log.processes.get(place).map_or(0, |process| process.file);
        error.in_file(name_of(file))
    })?;
    // Where one recording stands for all ranks, its calls are converted once.
    let once = if traces.is_repeated() {
        1
    } else {
        log.processes.len()
    };
    let mut calls: Vec<Vec<Recorded>> = Vec::with_capacity(once);
    for (rank, &place) in (0..).zip(arrangement.recordings.iter().take(once)) {
        let process = &log.processes[place];
        let found = recorded(rank, place, process, &groups, &mut traces);
        calls.push(found.map_err(|error| error.in_file(name_of(process.file)))?);
    }
    // Logs may end at different calls; only those that all ranks have make whole collectives.
    keep_common(&mut calls, Kept::First, &mut traces);
    for (rank, &place) in (0..).zip(&arrangement.recordings) {
        let own = if traces.is_repeated() {
            0
        } else {
            rank as usize
        };
        let trace = one_after_another(&calls[own], |_| Time::ZERO);
        let file = name_of(log.processes[place].file);
        let checked = arrangement.check(trace.nodes.len());
        checked.map_err(|error| error.in_file(file))?;
        let added = traces.add(rank, trace, Place::Line(1));
        added.map_err(|error| error.in_file(file))?;
    }
    traces.finish()
}

/// Reads the lines of all files, and returns the total bytes with them.
fn log_of(files: &(impl RankFiles + ?Sized), budget: &Budget) -> Result<(Log, usize), ImportError> {
    let mut log = Log::default();
    let mut stored = 0;
    for file in 0..files.count() {
        let taken = files.whole(file, Form::Text, budget).and_then(|bytes| {
            stored += bytes.len();
            let bytes = plain(&bytes, budget)?;
            limits::text(bytes.len(), budget)?;
            // Logs also have output from other programs, in any encoding.
            log.take(&String::from_utf8_lossy(&bytes), file)
        });
        taken.map_err(|error| error.in_file(files.name(file)))?;
    }
    // Processes that set up communicators and call nothing in them are no ranks.
    log.processes.retain(|process| !process.calls.is_empty());
    Ok((log, stored))
}

/// Assigns processes to ranks. The flag is true if the log tells the numbers.
fn arrangement(
    log: &Log,
    stored: usize,
    file: &str,
    spec: &NcclLogSpec,
) -> Result<(Arrangement, bool), ImportError> {
    let processes = &log.processes;
    let count = processes.len() as u32;
    let largest = processes.iter().map(largest).max().unwrap_or(0);
    // Guess: with one process, its largest communicator has all ranks.
    if count == 1 {
        let head = Head {
            file: file.to_owned(),
            rank: None,
            world: Some(largest),
            at: Place::Line(1),
            stored,
        };
        return Ok((Arrangement::of(&[head], spec.calls.ranks)?, true));
    }
    if largest > count {
        let what =
            format!("there are lines of {count} processes, and a communicator has {largest} ranks");
        let remedy = "give the logs of all ranks, or that of one alone";
        return Err(ImportError::new(Place::Line(1), what, remedy).in_file(file));
    }
    // A communicator that has all processes numbers them like the job.
    let in_world = |process: &Process| {
        let mut worlds = process.communicators.iter();
        worlds
            .find(|of| of.size == count && of.rank.is_some())?
            .rank
    };
    let numbers = processes
        .iter()
        .map(|process| process.global.or(in_world(process)));
    let numbers: Option<Vec<u32>> = numbers.collect();
    let is_numbered = numbers.is_some();
    // Guess: see [`in_order`].
    let numbers = numbers.unwrap_or_else(|| in_order(processes));
    let heads = processes.iter().zip(numbers).map(|(_, rank)| Head {
        file: file.to_owned(),
        rank: Some(rank),
        world: None,
        at: Place::Line(1),
        stored,
    });
    let heads: Vec<Head> = heads.collect();
    Ok((Arrangement::of(&heads, spec.calls.ranks)?, is_numbered))
}

/// Returns the size of the largest communicator in which a process calls something.
fn largest(process: &Process) -> u32 {
    let used = process.calls.iter().map(|call| call.communicator);
    let sizes = used.filter_map(|place| Some(process.communicators.get(place)?.size));
    sizes.max().unwrap_or(0)
}

/// Guesses the ranks of processes: hosts in the order in which the log mentions them, then devices.
fn in_order(processes: &[Process]) -> Vec<u32> {
    let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
    for process in processes {
        let next = hosts.len();
        hosts.entry(&process.host).or_insert(next);
    }
    let mut order: Vec<usize> = (0..processes.len()).collect();
    order.sort_by_key(|&place| {
        let process = &processes[place];
        (hosts.get(process.host.as_str()), process.device, place)
    });
    let mut numbers = vec![0; processes.len()];
    for (number, place) in (0..).zip(order) {
        numbers[place] = number;
    }
    numbers
}

/// Identity of a communicator that is equal at all its ranks: `commId`, size, and a count.
type Key = (Option<String>, u32, usize);

/// Rank groups behind all communicators.
struct Groups {
    /// Identities of each process's communicators.
    keys: Vec<Vec<Key>>,
    /// Number and ranks of each group.
    known: BTreeMap<Key, (u32, Vec<u32>)>,
}

/// A problem with a communicator, and the place of its process.
type Wrong = (usize, ImportError);

impl Groups {
    /// Resolves all communicators in which something is called.
    fn of(
        log: &Log,
        arrangement: &Arrangement,
        ranks_of: &[u32],
        traces: &mut Traces<'_>,
    ) -> Result<Groups, Wrong> {
        let all = arrangement.ranks;
        let is_one = log.processes.len() == 1;
        let keys: Vec<Vec<Key>> = log.processes.iter().map(keys).collect();
        let mut members = members(log, &keys, ranks_of);
        let mut known: BTreeMap<Key, (u32, Vec<u32>)> = BTreeMap::new();
        for (place, process) in log.processes.iter().enumerate() {
            let largest = if is_one { largest(process) } else { 0 };
            let used: BTreeSet<usize> =
                process.calls.iter().map(|call| call.communicator).collect();
            for (communicator, key) in used
                .into_iter()
                .filter_map(|of| process.communicators.get(of).zip(keys[place].get(of)))
            {
                if known.contains_key(key) {
                    continue;
                }
                let is_all = communicator.size as usize == log.processes.len();
                let found = members.remove(key).unwrap_or_default();
                // Guess: in a single log the largest communicator has all ranks.
                let ranks = if is_one && communicator.size == largest {
                    (0..all).collect()
                // Without `commId`, communicators of equal size could be confused, except for the
                // one with all processes.
                } else if found.len() == communicator.size as usize && (key.0.is_some() || is_all) {
                    found.into_iter().map(|(_, rank)| rank).collect()
                } else {
                    return Err((place, unknown(communicator)));
                };
                let ranks: Vec<u32> = ranks;
                // The key as name keeps communicators with the same ranks apart.
                let number = traces.groups.of_ranks(&format!("{key:?}"), ranks.clone());
                let number =
                    number.map_err(|wrong| (place, wrong.at(Place::Line(communicator.line))))?;
                known.insert(key.clone(), (number, ranks));
            }
        }
        Ok(Groups { keys, known })
    }
}

/// Collects the members of each communicator in order: place in it, and rank.
fn members(log: &Log, keys: &[Vec<Key>], ranks_of: &[u32]) -> BTreeMap<Key, Vec<(u32, u32)>> {
    let mut members: BTreeMap<Key, Vec<(u32, u32)>> = BTreeMap::new();
    for ((process, keys), &own) in log.processes.iter().zip(keys).zip(ranks_of) {
        for (communicator, key) in process.communicators.iter().zip(keys) {
            // Guess: without a recorded place, members are in the order of their ranks.
            let rank = communicator.rank.unwrap_or(own);
            members.entry(key.clone()).or_default().push((rank, own));
        }
    }
    for found in members.values_mut() {
        found.sort_unstable();
    }
    members
}

/// Returns the identities of a process's communicators. Without `commId`, a count of earlier ones
/// with the same size tells them apart.
fn keys(process: &Process) -> Vec<Key> {
    let mut seen: BTreeMap<(Option<String>, u32), usize> = BTreeMap::new();
    let keys = process.communicators.iter().map(|of| {
        let nth = seen.entry((of.id.clone(), of.size)).or_default();
        *nth += 1;
        (of.id.clone(), of.size, *nth)
    });
    keys.collect()
}

fn unknown(communicator: &Communicator) -> ImportError {
    let what = format!(
        "nothing says which ranks the communicator with {} ranks has",
        communicator.size
    );
    let remedy = "log all ranks with NCCL_DEBUG_SUBSYS=INIT,COLL and NCCL 2.17 or newer, whose lines have `commId`";
    ImportError::new(Place::Line(communicator.line), what, remedy)
}

fn wrong<T>(line: usize, what: &str, remedy: &str) -> Result<T, ImportError> {
    Err(ImportError::new(Place::Line(line), what, remedy))
}

/// Resolves the calls of a process. Messages that were grouped are one call.
fn recorded(
    rank: u32,
    place: usize,
    process: &Process,
    groups: &Groups,
    traces: &mut Traces<'_>,
) -> Result<Vec<Recorded>, ImportError> {
    let is_message = |call: &LineCall| matches!(call.called, Called::Send | Called::Receive);
    let together = process.calls.chunk_by(|one, other| {
        let same = (one.operations, one.communicator) == (other.operations, other.communicator);
        is_message(one) && is_message(other) && same
    });
    let mut calls = Vec::with_capacity(process.calls.len());
    for of in together {
        let Some(first) = of.first() else {
            continue;
        };
        let key = groups.keys[place].get(first.communicator);
        let Some((group, ranks)) = key.and_then(|key| groups.known.get(key)) else {
            return wrong(first.line, "its communicator is not known", "log INIT, too");
        };
        let call = if let Called::Collective(name) = first.called {
            let Some(bytes) = own_bytes(name, first.bytes, ranks.len() as u64) else {
                let remedy = "give at most 2^50 bytes";
                return wrong(first.line, "the collective is too long", remedy);
            };
            let group = traces.rooted(name, *group, Some(first.root));
            let group = group.map_err(|wrong| wrong.at(Place::Line(first.line)))?;
            Call::Collective { name, bytes, group }
        } else {
            if traces.is_repeated() {
                let what = "a message to or from one rank cannot be repeated for all ranks";
                return wrong(first.line, what, "give the logs of all ranks");
            }
            let messages = messages(rank, *group, of, ranks)?;
            // Messages of a rank to itself use no network.
            if messages.is_empty() {
                continue;
            }
            Call::Messages(messages)
        };
        calls.push(Recorded {
            start: 0,
            end: 0,
            stream: 0,
            sequence: None,
            call,
        });
    }
    Ok(calls)
}

/// Resolves messages in a communicator with these ranks; those to the rank itself are left out.
fn messages(
    rank: u32,
    group: u32,
    calls: &[LineCall],
    ranks: &[u32],
) -> Result<Vec<Message>, ImportError> {
    let mut messages = Vec::with_capacity(calls.len());
    for call in calls {
        let peer = usize::try_from(call.root).ok();
        let Some(&peer) = peer.and_then(|peer| ranks.get(peer)) else {
            let what = "the message names a rank that its communicator does not have";
            return wrong(call.line, what, "give the log as NCCL has written it");
        };
        if call.bytes > MESSAGE_MAX {
            let what = "the message is too long";
            return wrong(call.line, what, "give at most 2^50 bytes");
        }
        if peer != rank {
            messages.push(Message {
                sends: call.called == Called::Send,
                peer,
                bytes: call.bytes,
                group,
            });
        }
    }
    Ok(messages)
}

/// Returns a rank's own bytes where NCCL counts those of one part; `None` if they exceed any
/// message.
fn own_bytes(name: CollectiveName, bytes: u64, ranks: u64) -> Option<u64> {
    let bytes = match name {
        CollectiveName::ReduceScatter | CollectiveName::AllToAll | CollectiveName::Scatter => {
            bytes.checked_mul(ranks)?
        }
        _ => bytes,
    };
    (bytes <= MESSAGE_MAX).then_some(bytes)
}
