//! What is kept of a rank while it runs, where anything is: a log, what its time went by with, or
//! both.

use tenter_units::Instant;

use super::log::{Log, OperationLog};
use super::meter::{Meter, Metered};
use super::schedule::GraphSchedule;

/// What is kept of a rank while it runs.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    rank: u32,
    log: Log,
    meter: Option<Meter>,
}

impl Recorder {
    /// Of a rank before its start; `None` where nothing is kept of it.
    pub(super) fn new(
        schedule: &GraphSchedule,
        rank: u32,
        keeps_log: bool,
    ) -> Option<Box<Recorder>> {
        let graph = schedule.graph();
        let (of, operations) = (graph.rank(rank), graph.stored_of(rank).len());
        let log = if keeps_log {
            Log::new(operations, of.streams.len())
        } else {
            Log::default()
        };
        let marked = schedule.marks_of(rank);
        let meter = marked.map(|marked| Meter::new(of, operations, marked));
        let keeps = keeps_log || meter.is_some();
        keeps.then(|| Box::new(Recorder { rank, log, meter }))
    }

    /// The rank starts.
    pub(super) fn start(&mut self, now: Instant) {
        if let Some(meter) = &mut self.meter {
            meter.start(now);
        }
    }

    /// An operation waits for no other one any more.
    pub(super) fn ready(&mut self, operation: u32, now: Instant) {
        self.log.ready(operation, now);
        if let Some(meter) = &mut self.meter {
            meter.ready(operation, now);
        }
    }

    /// A receive asks for its message.
    pub(super) fn asked(&mut self, operation: u32, now: Instant) {
        self.log.asked(operation, now);
    }

    /// A receive has the request to send its message.
    pub(super) fn requested(&mut self, operation: u32, now: Instant) {
        self.log.requested(operation, now);
    }

    /// A receive has its message, which a rank has sent by an operation of its own.
    pub(super) fn matched(&mut self, operation: u32, sender: (u32, u32), now: Instant) {
        self.log.matched(operation, sender, now);
    }

    /// Takes the log, an entry for each operation; `None` where none is kept.
    pub(super) fn take_log(&mut self) -> Option<Vec<OperationLog>> {
        self.log.take()
    }

    /// The log so far.
    pub(super) fn log(&self) -> Option<&[OperationLog]> {
        self.log.entries()
    }

    /// What the time of the rank went by with, where that is measured.
    pub(super) fn metered(&self) -> Option<&Metered> {
        self.meter.as_ref().map(Meter::metered)
    }

    /// What an operation has waited for last.
    pub(super) fn released_by(&mut self, operation: u32, other: u32) {
        self.log.released_by(operation, other);
        if let Some(meter) = &mut self.meter {
            meter.released_by(operation, other);
        }
    }

    /// A stream begins with an operation, or with what is left of a receive.
    pub(super) fn begin(
        &mut self,
        schedule: &GraphSchedule,
        operation: u32,
        stream: u16,
        now: Instant,
    ) {
        self.log.on_stream(operation, stream, now);
        if let Some(meter) = &mut self.meter {
            let operations = schedule.graph().stored_of(self.rank);
            let sent = |receive| posted_at(schedule, self.rank, receive);
            meter.begin(operation, stream, now, sent, operations);
        }
    }

    /// An operation is done, the last one where `is_last`.
    pub(super) fn done(
        &mut self,
        schedule: &GraphSchedule,
        operation: u32,
        now: Instant,
        is_last: bool,
    ) {
        self.log.done(operation, now);
        if let Some(meter) = &mut self.meter {
            let operations = schedule.graph().stored_of(self.rank);
            let stream = operations[operation as usize].stream;
            let sent = |receive| posted_at(schedule, self.rank, receive);
            meter.done(operation, stream, now, is_last, sent, operations);
        }
    }
}

/// When the message of a receive was posted, where that is known.
fn posted_at(schedule: &GraphSchedule, rank: u32, receive: u32) -> Option<Instant> {
    let transfer = schedule.graph().stored(rank, receive).taken()?;
    schedule.posted_at(transfer)
}
