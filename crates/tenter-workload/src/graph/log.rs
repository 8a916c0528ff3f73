//! Log for a rank's operations: the times at which each was carried out, and what it waited for
//! last.

use tenter_language::units::Instant;

/// One operation's times; [`Instant::NEVER`] stands for what has not happened yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationLog {
    /// Time at which the last operation or start that it waits for was over.
    pub ready: Instant,
    /// Time at which its stream began with it, or at which a receive asked for its message.
    pub started: Instant,
    /// Time at which a receive matched a rendezvous request, whose clearance then lets the sender
    /// post the message; [`Instant::NEVER`] for messages without a handshake.
    pub requested: Instant,
    /// Time at which a receive got its message, before its overhead on the stream.
    pub matched: Instant,
    /// Time at which it was done; the `eager_bytes` in [`Timing`](super::Timing) say what that
    /// means for a send.
    pub done: Instant,
    /// The operation of its rank whose end or start made it ready; [`OperationLog::NONE`] if
    /// it waits for none.
    pub released_by: u32,
    /// Operation that kept its stream busy until it started; [`OperationLog::NONE`] if the stream
    /// was free.
    pub behind: u32,
    /// Sender of a receive's message, and the place of the send there.
    pub sender: (u32, u32),
}

impl OperationLog {
    /// No operation, or no rank.
    pub const NONE: u32 = u32::MAX;

    /// Entry before the rank starts.
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

/// A rank's log with an entry for each operation, or without any if none is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    entries: Option<Vec<OperationLog>>,
    /// Operation that each stream carried out last.
    last: Vec<u32>,
}

impl Log {
    /// Creates a log for the given operation and stream counts.
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

    /// Records that a receive asks for its message.
    pub(super) fn asked(&mut self, operation: u32, now: Instant) {
        if let Some(entry) = self.entry(operation) {
            entry.started = now;
        }
    }

    /// Records that a stream begins with an operation, or with a receive's overhead after its
    /// message has come.
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
        // If the stream could not begin at once, the operation before this one held it up.
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

    /// Records that a receive matched a rendezvous request.
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

    /// Takes the entries, by place; `None` if no log is kept.
    pub(super) fn take(&mut self) -> Option<Vec<OperationLog>> {
        self.entries.take()
    }

    /// Returns the entries so far; `None` if no log is kept.
    pub(super) fn entries(&self) -> Option<&[OperationLog]> {
        self.entries.as_deref()
    }
}
