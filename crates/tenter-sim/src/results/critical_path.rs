//! The critical path through an operation graph: backwards from its end, always to what was waited
//! for last.

use std::collections::BTreeMap;

use tenter_language::units::Instant;
use tenter_results::CriticalPathRow;
use tenter_workload::graph::{Graph, Operation, OperationLog, Timing};

use super::iteration_id::IterationId;

/// An operation, by its rank and its place in that rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub(super) rank: u32,
    pub(super) place: u32,
}

impl At {
    /// Returns the operation that sent a receive's message.
    fn sender(log: &OperationLog) -> At {
        let (rank, place) = log.sender;
        At { rank, place }
    }
}

/// A segment on the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Kind as in the table: `compute`, `message`, `overhead` …
    pub(super) kind: &'static str,
    pub(super) at: At,
    /// For a message, its send operation.
    pub(super) sender: Option<At>,
    pub(super) bytes: u64,
    pub(super) from: Instant,
    pub(super) to: Instant,
}

impl Part {
    /// Makes the part's row in the table; `part` is its number on the path.
    pub(super) fn row(&self, of: IterationId, part: u32) -> CriticalPathRow {
        CriticalPathRow {
            job: of.job_number(),
            iteration: of.iteration,
            part,
            kind: self.kind.to_owned(),
            rank: self.at.rank,
            operation: self.at.place,
            peer: self.sender.map(|sender| sender.rank),
            sent_by: self.sender.map(|sender| sender.place),
            bytes: self.bytes,
            from: self.from.since_start(),
            to: self.to.since_start(),
        }
    }
}

/// A graph's completed run, with each rank's log.
pub(super) struct Logged<'a> {
    pub(super) graph: &'a Graph,
    pub(super) timing: Timing,
    pub(super) logs: &'a [&'a [OperationLog]],
    /// Time at which it began.
    pub(super) start: Instant,
    /// Each transfer's arrival time at its receiver.
    arrivals: &'a [Instant],
    /// Each collective's operations, one per rank.
    collectives: Vec<Vec<At>>,
    /// For each send that waited for its receive, that receive.
    waited_for: BTreeMap<At, At>,
}

impl<'a> Logged<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        timing: Timing,
        logs: &'a [&'a [OperationLog]],
        start: Instant,
        arrivals: &'a [Instant],
    ) -> Logged<'a> {
        let mut collectives = vec![Vec::new(); graph.collectives().len()];
        if !collectives.is_empty() {
            for rank in 0..graph.ranks() {
                for place in 0..graph.operations_of(rank) {
                    if let (Operation::Collective { which }, _) = graph.operation(rank, place) {
                        collectives[which as usize].push(At { rank, place });
                    }
                }
            }
        }
        Logged {
            graph,
            timing,
            logs,
            start,
            arrivals,
            collectives,
            waited_for: waited_for(logs),
        }
    }

    fn log(&self, at: At) -> &OperationLog {
        &self.logs[at.rank as usize][at.place as usize]
    }

    /// Returns the path in time order.
    pub(super) fn path(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        let Some(mut here) = self.last() else {
            return parts;
        };
        let mut until = self.log(here).done;
        // Each operation is visited at most once on its stream and once through its message; the
        // limit guards against a log with a cycle.
        for _ in 0..=2 * self.graph.operations() {
            let (first, began) = self.leave(here, until, &mut parts);
            let Some(before) = self.before(first, began) else {
                self.part("start", first, self.start, began, &mut parts);
                break;
            };
            (here, until) = (before, began);
        }
        parts.reverse();
        parts
    }

    /// Returns the operation that was done last; the first in order, if several were.
    fn last(&self) -> Option<At> {
        let mut last = None;
        for (rank, log) in (0..).zip(self.logs) {
            for (place, entry) in (0..).zip(*log) {
                if last.is_none_or(|(done, _)| entry.done > done) {
                    last = Some((entry.done, At { rank, place }));
                }
            }
        }
        last.map(|(_, at)| at)
    }

    /// Adds a part to the path, unless it takes no time.
    fn part(&self, kind: &'static str, at: At, from: Instant, to: Instant, parts: &mut Vec<Part>) {
        if to <= from {
            return;
        }
        let bytes = match self.graph.operation(at.rank, at.place).0 {
            Operation::Send { bytes, .. } | Operation::Receive { bytes, .. } => bytes,
            Operation::Collective { which } => self.graph.collectives().get(which).2,
            Operation::Compute { .. } | Operation::Wait { .. } => 0,
        };
        let sender = match self.graph.operation(at.rank, at.place).0 {
            Operation::Receive { .. } if kind == "message" => Some(At::sender(self.log(at))),
            _ => None,
        };
        parts.push(Part {
            kind,
            at,
            sender,
            bytes,
            from,
            to,
        });
    }

    /// Adds the time of an operation up to `until`, and follows its message if it waited for one.
    /// Returns the operation at which the path continues, with the time at which that began.
    fn leave(&self, here: At, until: Instant, parts: &mut Vec<Part>) -> (At, Instant) {
        let log = self.log(here);
        if until <= log.started {
            // The path came here for the operation's start, so its own time does not belong to the
            // path.
            return (here, until);
        }
        match self.graph.operation(here.rank, here.place).0 {
            Operation::Compute { .. } => {
                self.part("compute", here, log.started, until, parts);
                (here, log.started)
            }
            Operation::Wait { .. } => {
                self.part("wait", here, log.started, until, parts);
                (here, log.started)
            }
            Operation::Send { .. } => {
                if let Some(&receive) = self.waited_for.get(&here) {
                    let began = self.log(receive).started.min(until);
                    self.sent(here, began, until, parts);
                    return (receive, began);
                }
                let posted = log.started.saturating_add(self.timing.overhead).min(until);
                self.sent(here, posted, until, parts);
                self.part("overhead", here, log.started, posted, parts);
                (here, log.started)
            }
            Operation::Receive { .. } if log.matched <= log.started => {
                let began = self.taken(here, until, parts);
                (here, began)
            }
            Operation::Receive { .. } => {
                let began = self.taken(here, until, parts);
                if began > log.matched {
                    // The message had already arrived while the receive's stream was busy.
                    return (here, began);
                }
                if log.requested == log.started {
                    // The message was sent only after the receive had asked for it.
                    self.part("message", here, log.started, log.matched, parts);
                    return (here, log.started);
                }
                let sender = At::sender(log);
                let sent = self.log(sender);
                let overhead = self.timing.overhead;
                let posted = sent.started.saturating_add(overhead).min(log.matched);
                self.part("message", here, posted, log.matched, parts);
                self.part("overhead", sender, sent.started, posted, parts);
                (sender, sent.started)
            }
            Operation::Collective { which } => {
                let ranks = self.collectives[which as usize].iter().copied();
                let last = ranks
                    // The last rank to arrive determines when a collective begins.
                    .max_by_key(|&of| (self.log(of).started, of))
                    .unwrap_or(here);
                let began = self.log(last).started.min(until);
                self.part("collective", here, began, until, parts);
                (last, began)
            }
        }
    }

    /// Adds what a send waited for: its message until that arrived, then the acknowledgement.
    fn sent(&self, here: At, posted: Instant, until: Instant, parts: &mut Vec<Part>) {
        let transfer = self.graph.transfer_of(here.rank, here.place);
        let arrival = transfer.and_then(|transfer| self.arrivals.get(transfer as usize));
        let arrived = arrival.copied().unwrap_or(until).clamp(posted, until);
        self.part("acknowledgement", here, arrived, until, parts);
        self.part("message", here, posted, arrived, parts);
    }

    /// Adds the time in which a receive took its message; returns when it began to.
    fn taken(&self, here: At, until: Instant, parts: &mut Vec<Part>) -> Instant {
        let began = until.saturating_sub(self.timing.overhead);
        let began = began.max(self.log(here).matched).min(until);
        self.part("overhead", here, began, until, parts);
        began
    }

    /// Returns the operation in the same rank for which `here`, which began at `began`, had waited
    /// last.
    fn before(&self, here: At, began: Instant) -> Option<At> {
        let log = self.log(here);
        let place = if log.behind != OperationLog::NONE && began > log.ready {
            log.behind
        } else {
            log.released_by
        };
        (place != OperationLog::NONE).then_some(At {
            rank: here.rank,
            place,
        })
    }
}

/// Finds receives that were posted after their messages' requests had arrived; returns them by
/// their sends.
fn waited_for(logs: &[&[OperationLog]]) -> BTreeMap<At, At> {
    let of_rank = |(rank, log): (u32, &&'_ [OperationLog])| {
        let late = (0_u32..).zip(*log);
        let late = late.filter(|(_, entry)| entry.requested == entry.started);
        let late = late.map(|(place, entry)| (At::sender(entry), At { rank, place }));
        late.collect::<Vec<_>>()
    };
    (0..).zip(logs).flat_map(of_rank).collect()
}
