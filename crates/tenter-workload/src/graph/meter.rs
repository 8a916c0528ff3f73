//! Attributes a rank's time to computing and to the communication that computing waits for.

use tenter_language::units::{Instant, Time};

use super::operation::Stored;
use super::rank_graph::RankGraph;

/// The time of a rank from its start to the end of its last operation, by what it went to.
///
/// While the compute stream (label 0) is idle, time is attributed to the operation for which the
/// next computation waits, back to the instant at which that operation became ready. Time before
/// that instant goes to the operation it waited for in turn, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metered {
    /// Time at which the rank started.
    pub start: Instant,
    /// Time at which its last operation was done.
    pub end: Instant,
    /// Time for which the compute stream was busy.
    pub computing: Time,
    /// For each stream: its label, the time attributed to its operations while their messages were
    /// under way, and the time for which its receives waited for messages not yet posted.
    pub streams: Vec<(u32, Time, Time)>,
    /// For each mark in order: when the operation started on its stream, and when it was done.
    pub marks: Vec<(Instant, Instant)>,
}

/// Label of the stream that computes.
const COMPUTE: u32 = 0;
const NONE: u32 = u32::MAX;

/// Measures one rank while it runs.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    /// Time at which each operation became ready.
    ready: Vec<Instant>,
    /// Operation that each one waited for last; `NONE` without any.
    released_by: Vec<u32>,
    /// The compute stream's index; `None` if the rank computes nothing.
    compute: Option<u16>,
    /// Since when the time has not been attributed to computing or waiting.
    idle_since: Instant,
    /// The operation that runs on the compute stream, or `NONE`.
    running: u32,
    /// Places of the marked operations, ascending.
    marked: Vec<u32>,
    metered: Metered,
}

impl Meter {
    /// Creates the meter for a rank with `operations` operations; `marked` lists those whose times
    /// are kept.
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
            running: NONE,
            marked: marked.to_vec(),
            metered: Metered {
                streams,
                marks: vec![(Instant::START, Instant::START); marked.len()],
                ..Metered::default()
            },
        }
    }

    /// Begins the rank's time, all of it still unattributed.
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

    /// Records that a stream begins with an operation. If it computes, the idle time before it is
    /// attributed. `sent` returns when a receive's message was posted.
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
            // A computation begins when it is ready, or right behind another one. Idle time before
            // it therefore belongs to what it waited for.
            let before = self.released_by[operation as usize];
            self.attribute(before, now, sent, operations);
            self.idle_since = now;
            self.running = operation;
        }
    }

    /// Records that an operation is done. The last one's end attributes the time since the last
    /// computation.
    pub(super) fn done(
        &mut self,
        operation: u32,
        now: Instant,
        is_last: bool,
        sent: impl Fn(u32) -> Option<Instant>,
        operations: &[Stored],
    ) {
        if let Some((_, done)) = self.mark(operation) {
            *done = now;
        }
        // A receive without overhead is done without occupying its stream, maybe while another
        // operation runs there.
        if self.running == operation {
            self.metered.computing += now - self.idle_since;
            self.idle_since = now;
            self.running = NONE;
        }
        if is_last {
            self.attribute(operation, now, sent, operations);
            self.metered.end = now;
        }
    }

    /// Returns an operation's times if it is marked.
    fn mark(&mut self, operation: u32) -> Option<&mut (Instant, Instant)> {
        let place = self.marked.binary_search(&operation).ok()?;
        self.metered.marks.get_mut(place)
    }

    /// Attributes the time from the last computation until `now` to operation `last` and the
    /// operations for which it waited in turn.
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
            // Until the message is posted the rank waits for its sender; afterwards the message is
            // under way.
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
