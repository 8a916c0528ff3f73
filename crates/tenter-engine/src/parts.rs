//! The window loop's arguments and result: partitions, windows, and the control that ends a run.

use tenter_language::units::{Instant, Time};

use crate::lane::{Lane, Nodes};

/// A partition: one thread's share, with the engine's side and the model's.
#[derive(Debug)]
pub struct Part<N: Nodes> {
    /// The engine's side: inboxes, calendar and outboxes.
    pub lane: Lane<N::Item>,
    /// The model's side: the nodes' state.
    pub nodes: N,
}

/// Policy by which the engine divides time into windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Windows {
    /// Each window is one calendar bucket, which is no longer than the lookahead.
    Buckets,
    /// Each window starts when any node has its next event, and lasts at most the lookahead, which
    /// the variant holds. The engine uses these windows for lookaheads so short that most buckets
    /// would be empty.
    Central(Time),
}

/// Decides between windows whether the run must stop at a sync point.
///
/// One thread asks while all others wait, so it sees everything that nodes have published up to the
/// window's end, and nothing later.
pub trait Control: Sync {
    /// Returns the earliest instant, no earlier than `window_end`, at which a sync point has become
    /// necessary; [`Instant::NEVER`] for none.
    fn edge_after(&self, window_end: Instant) -> Instant;
}

/// Reason why [`run_windowed`](crate::run_windowed) returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// A sync point was reached: every node has handled everything before this instant, and nothing
    /// at or after it.
    Edge(Instant),
    /// No event is left, in any node or on any link.
    Empty,
}
