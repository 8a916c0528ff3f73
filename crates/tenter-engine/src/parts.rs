//! What the window loop is given: parts, windows, and what stops it.

use tenter_units::{Instant, Time};

use crate::lane::{Lane, Nodes};

/// One thread's share of the simulation: the engine's side and the model's.
#[derive(Debug)]
pub struct Part<N: Nodes> {
    /// Inboxes, calendar and outboxes.
    pub lane: Lane<N::Item>,
    /// The nodes.
    pub nodes: N,
}

/// How windows are laid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Windows {
    /// Windows as long as a calendar bucket, which is no longer than the lookahead.
    Buckets,
    /// Each window starts at the very next thing that happens and lasts no longer than the
    /// lookahead: for lookaheads so short that fixed windows would mostly be empty.
    Central(Time),
}

/// What decides between windows whether to stop.
///
/// It is asked by one thread while all others wait, so everything the nodes have published up to
/// the end of the window is there, and nothing later.
pub trait Control: Sync {
    /// The earliest instant, no earlier than `window_end`, at which an edge has become necessary;
    /// [`Instant::NEVER`] for none.
    fn edge_after(&self, window_end: Instant) -> Instant;
}

/// Why a run came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// Every node stands at exactly this instant: all that happens before it has happened.
    Edge(Instant),
    /// Nothing is left to happen.
    Empty,
}
