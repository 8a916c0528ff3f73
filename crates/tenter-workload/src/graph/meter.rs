//! What the time of a rank went by with, while it runs: computing, and what it waited for.

use tenter_units::{Instant, Time};

use super::operation::Stored;
use super::rank_graph::RankGraph;

/// What the time of a rank went by with, from its start to the end of its last
/// operation.
///
/// While the stream of computing (label 0) is idle, the time belongs to the stream of the operation
/// that the next computing waits for, from when that operation was ready; before that, to what that
/// operation has waited for, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metered {
    /// When the rank started.
    pub start: Instant,
    /// When its last operation was done.
    pub end: Instant,
    /// Computing.
    pub computing: Time,
    /// For each stream its label, the time that went by with its operations, and the time for which
    /// its receives waited for messages that had not been sent.
    pub streams: Vec<(u32, Time, Time)>,
    /// Of each operation that is marked, when its stream began with it, and when it was done.
    pub marks: Vec<(Instant, Instant)>,
}

/// The label of the stream of computing.
const COMPUTE: u32 = 0;
const NONE: u32 = u32::MAX;

/// Measures a rank.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    /// When each operation was ready, and which one it waited for last.
    ready: Vec<Instant>,
    released_by: Vec<u32>,
    /// The stream of computing, by its place.
    compute: Option<u16>,
    /// Since when nothing has been computed.
    idle_since: Instant,
    busy: bool,
    /// The operations that are marked, ascending.
    marked: Vec<u32>,
    metered: Metered,
}

impl Meter {
    /// Of a rank before its start: how many operations it has, and which are marked.
    pub(super) fn new(of: &RankGraph, operations: usize, marked: &[u32]) -> Meter {
        let streams = of
            .streams
            .iter()
            .map(|&label| (label, Time::ZERO, Time::ZERO))
            .collect();
        let compute = of.streams.iter().position(|&label| label == COMPUTE);
        Meter {
            ready: vec![Instant::START; operations],
            released_by: vec![NONE; operations],
            compute: compute.map(|place| place as u16),
            idle_since: Instant::START,
            busy: false,
            marked: marked.to_vec(),
            metered: Metered {
                streams,
                marks: vec![(Instant::START, Instant::START); marked.len()],
                ..Metered::default()
            },
        }
    }

    /// The rank starts.
    pub(super) fn start(&mut self, now: Instant) {
        self.metered.start = now;
        self.idle_since = now;
    }

    pub(super) fn ready(&mut self, operation: u32, now: Instant) {
        self.ready[operation as usize] = now;
    }

    pub(super) fn released_by(&mut self, operation: u32, other: u32) {
        self.released_by[operation as usize] = other;
    }

    /// A stream begins with an operation.
    pub(super) fn begin(
        &mut self,
        operation: u32,
        stream: u16,
        now: Instant,
        sent: impl Fn(u32) -> Option<Instant>,
        operations: &[Stored],
    ) {
        if let Some((begun, _)) = self.mark(operation) {
            *begun = now;
        }
        if self.compute == Some(stream) {
            let before = self.released_by[operation as usize];
            self.attribute(before, now, sent, operations);
            self.idle_since = now;
            self.busy = true;
        }
    }

    /// An operation is done, the last one where `is_last`.
    pub(super) fn done(
        &mut self,
        operation: u32,
        stream: u16,
        now: Instant,
        is_last: bool,
        sent: impl Fn(u32) -> Option<Instant>,
        operations: &[Stored],
    ) {
        if let Some((_, done)) = self.mark(operation) {
            *done = now;
        }
        if self.compute == Some(stream) && self.busy {
            self.metered.computing += now - self.idle_since;
            self.idle_since = now;
            self.busy = false;
        }
        if is_last {
            self.attribute(operation, now, sent, operations);
            self.metered.end = now;
        }
    }

    /// The mark of an operation, where it has one.
    fn mark(&mut self, operation: u32) -> Option<&mut (Instant, Instant)> {
        let place = self.marked.binary_search(&operation).ok()?;
        self.metered.marks.get_mut(place)
    }

    /// Time from the last computing until `now` belongs to an operation and those before it.
    fn attribute(
        &mut self,
        last: u32,
        now: Instant,
        sent: impl Fn(u32) -> Option<Instant>,
        operations: &[Stored],
    ) {
        let (since, mut until, mut operation) = (self.idle_since, now, last);
        while until > since && operation != NONE {
            let place = operation as usize;
            let from = self.ready[place].clamp(since, until);
            let stream = usize::from(operations[place].stream);
            // A message that was not sent is waited for; one that was is under way.
            let under_way = sent(operation).map_or(from, |sent| sent.clamp(from, until));
            let (_, with, waiting) = &mut self.metered.streams[stream];
            *with += until - under_way;
            *waiting += under_way - from;
            until = from;
            operation = self.released_by[place];
        }
        self.idle_since = now;
    }

    pub(super) fn metered(&self) -> &Metered {
        &self.metered
    }
}
