//! Events at a rank, and the actions that follow from them.

use std::collections::VecDeque;

use tenter_language::units::{Instant, Time};

use super::schedule::GraphSchedule;

/// Event at a rank, which the caller reports to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The job starts the rank.
    Start,
    /// A transfer to the rank has arrived whole, perhaps before the rank starts.
    Arrived(u32),
    /// A transfer that the rank sent has been acknowledged.
    Acknowledged(u32),
    /// An operation's time on its stream is over.
    Woken(u32),
}

/// Action that the caller carries out for the rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Post the transfer with this number.
    Post(u32),
    /// Send [`News::Woken`] for an operation after a time.
    Wake(Time, u32),
    /// The rank's operations are all done.
    Done,
}

/// Event within one instant whose consequences have not been carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// An operation waits for nothing any more.
    Ready(u32),
    /// An operation has started on its stream.
    Started(u32),
    /// An operation is done, so its followers may become ready.
    Done(u32),
    /// A stream may begin its next task.
    Free(u16),
}

/// Actions that follow from an event, and scratch space. All ranks in a partition share one, so
/// that it stays in the cache.
#[derive(Clone, Debug, Default)]
pub struct Consequences {
    /// Actions in order; the caller drains them.
    pub actions: Vec<Action>,
    pub(super) events: VecDeque<Event>,
}

/// One event at a rank, while it is handled.
pub(super) struct Turn<'a> {
    pub(super) schedule: &'a GraphSchedule,
    /// Time at which the event happens.
    pub(super) now: Instant,
    pub(super) events: &'a mut VecDeque<Event>,
    pub(super) actions: &'a mut Vec<Action>,
}

impl Turn<'_> {
    /// Queues an event behind those that already wait at this instant.
    pub(super) fn happens(&mut self, event: Event) {
        self.events.push_back(event);
    }

    pub(super) fn act(&mut self, action: Action) {
        self.actions.push(action);
    }
}
