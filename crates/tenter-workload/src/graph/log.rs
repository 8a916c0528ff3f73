//! When the operations of a rank were carried out, and what each waited for last.

use tenter_units::Instant;

/// What one operation went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationLog {
    /// When all that it waits for was over; [`Instant::NEVER`] before.
    pub ready: Instant,
    /// When its stream began with it; when a receive asked for its message.
    pub started: Instant,
    /// When a receive had the request to send its message, which then is sent;
    /// [`Instant::NEVER`] where the message is sent without.
    pub requested: Instant,
    /// When a receive had its message, before its overhead.
    pub matched: Instant,
    /// When it was done.
    pub done: Instant,
    /// The operation of its rank that it waited for last; [`OperationLog::NONE`] without any.
    pub released_by: u32,
    /// The operation that kept its stream busy until it started.
    pub behind: u32,
    /// Who sent the message of a receive, and the place of the send there.
    pub sender: (u32, u32),
}

impl OperationLog {
    /// Stands for no operation and no rank.
    pub const NONE: u32 = u32::MAX;

    /// Before the start of the rank.
    pub(super) const NEW: OperationLog = OperationLog {
        ready: Instant::NEVER,
        started: Instant::NEVER,
        requested: Instant::NEVER,
        matched: Instant::NEVER,
        done: Instant::NEVER,
        released_by: OperationLog::NONE,
        behind: OperationLog::NONE,
        sender: (OperationLog::NONE, OperationLog::NONE),
    };
}

/// The log of a rank, where one is kept: an entry for each operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    entries: Option<Vec<OperationLog>>,
    /// The operation that each stream carried out last.
    last: Vec<u32>,
}

impl Log {
    /// A log of so many operations and streams.
    pub(super) fn new(operations: usize, streams: usize) -> Log {
        Log {
            entries: Some(vec![OperationLog::NEW; operations]),
            last: vec![OperationLog::NONE; streams],
        }
    }

    fn entry(&mut self, operation: u32) -> Option<&mut OperationLog> {
        self.entries.as_mut()?.get_mut(operation as usize)
    }

    pub(super) fn ready(&mut self, operation: u32, now: Instant) {
        if let Some(entry) = self.entry(operation) {
            entry.ready = now;
        }
    }

    pub(super) fn released_by(&mut self, operation: u32, other: u32) {
        if let Some(entry) = self.entry(operation) {
            entry.released_by = other;
        }
    }

    /// A receive asks for its message.
    pub(super) fn asked(&mut self, operation: u32, now: Instant) {
        if let Some(entry) = self.entry(operation) {
            entry.started = now;
        }
    }

    /// A stream begins with an operation, or with what is left of a receive.
    pub(super) fn on_stream(&mut self, operation: u32, stream: u16, now: Instant) {
        let Some(entries) = &mut self.entries else {
            return;
        };
        let before = std::mem::replace(&mut self.last[usize::from(stream)], operation);
        let entry = &mut entries[operation as usize];
        let since = if entry.matched.is_never() {
            entry.started = now;
            entry.ready
        } else {
            entry.matched
        };
        if now > since {
            entry.behind = before;
        }
    }

    pub(super) fn matched(&mut self, operation: u32, sender: (u32, u32), now: Instant) {
        if let Some(entry) = self.entry(operation) {
            entry.matched = now;
            entry.sender = sender;
        }
    }

    /// A receive has the request to send its message.
    pub(super) fn requested(&mut self, operation: u32, now: Instant) {
        if let Some(entry) = self.entry(operation) {
            entry.requested = now;
        }
    }

    pub(super) fn done(&mut self, operation: u32, now: Instant) {
        if let Some(entry) = self.entry(operation) {
            entry.done = now;
        }
    }

    /// The entries, by place; none where no log is kept.
    pub(super) fn take(&mut self) -> Option<Vec<OperationLog>> {
        self.entries.take()
    }

    /// A copy of the entries.
    pub(super) fn entries(&self) -> Option<&[OperationLog]> {
        self.entries.as_deref()
    }
}
