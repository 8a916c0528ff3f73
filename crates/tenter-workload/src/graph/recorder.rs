//! Recorder for a running rank: a log, a meter, or both.

use tenter_language::units::Instant;

use super::log::{Log, OperationLog};
use super::meter::{Meter, Metered};
use super::schedule::GraphSchedule;

/// One rank's log and meter. A run without either has no recorder, so events cost one test.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    rank: u32,
    log: Log,
    meter: Option<Meter>,
}

impl Recorder {
    /// Creates the recorder for a rank before its start; `None` if neither log nor meter is wanted.
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

    /// Begins the rank's time for the meter.
    pub(super) fn start(&mut self, now: Instant) {
        if let Some(meter) = &mut self.meter {
            meter.start(now);
        }
    }

    /// Records that an operation waits for no other operation any more.
    pub(super) fn ready(&mut self, operation: u32, now: Instant) {
        self.log.ready(operation, now);
        if let Some(meter) = &mut self.meter {
            meter.ready(operation, now);
        }
    }

    /// Records that a receive asks for its message.
    pub(super) fn asked(&mut self, operation: u32, now: Instant) {
        self.log.asked(operation, now);
    }

    /// Records that a receive matched a rendezvous request.
    pub(super) fn requested(&mut self, operation: u32, now: Instant) {
        self.log.requested(operation, now);
    }

    /// Records that a receive got its message; `sender` has the rank and the send's place.
    pub(super) fn matched(&mut self, operation: u32, sender: (u32, u32), now: Instant) {
        self.log.matched(operation, sender, now);
    }

    /// Takes the log, an entry for each operation; `None` if none is kept.
    pub(super) fn take_log(&mut self) -> Option<Vec<OperationLog>> {
        self.log.take()
    }

    /// Returns the log so far.
    pub(super) fn log(&self) -> Option<&[OperationLog]> {
        self.log.entries()
    }

    /// Returns the attributed times, if they are measured.
    pub(super) fn metered(&self) -> Option<&Metered> {
        self.meter.as_ref().map(Meter::metered)
    }

    /// Records that `operation` waited for `other` last.
    pub(super) fn released_by(&mut self, operation: u32, other: u32) {
        self.log.released_by(operation, other);
        if let Some(meter) = &mut self.meter {
            meter.released_by(operation, other);
        }
    }

    /// Records that a stream begins with an operation, or with a receive's overhead.
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

    /// Records that an operation is done; `is_last` is set if it is the rank's last one.
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
            let sent = |receive| posted_at(schedule, self.rank, receive);
            meter.done(operation, now, is_last, sent, operations);
        }
    }
}

/// Returns when a receive's message was posted, if that is known.
fn posted_at(schedule: &GraphSchedule, rank: u32, receive: u32) -> Option<Instant> {
    let transfer = schedule.graph().stored(rank, receive).taken()?;
    schedule.posted_at(transfer)
}
