//! What ranks are told, what they do in consequence, and what is found on the way between.

use std::collections::VecDeque;

use tenter_units::{Instant, Time};

use super::schedule::GraphSchedule;

/// What has happened at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The rank starts.
    Start,
    /// A transfer has arrived whole, perhaps before the start.
    Arrived(u32),
    /// A transfer of the rank has been acknowledged.
    Acknowledged(u32),
    /// The time of an operation on its stream is over.
    Woken(u32),
}

/// What follows from something that has happened at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The rank posts a transfer.
    Post(u32),
    /// It is to be woken for an operation after a time.
    Wake(Time, u32),
    /// All of its operations are done.
    Done,
}

/// What has happened at an instant, and of which the consequences are still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// All that an operation has waited for.
    Ready(u32),
    /// An operation has started.
    Started(u32),
    /// An operation is done.
    Done(u32),
    /// A stream may go on.
    Free(u16),
}

/// The actions that follow from news, and scratch space to find them. All ranks of a partition
/// share one, so that it stays in the cache.
#[derive(Clone, Debug, Default)]
pub struct Consequences {
    /// What is to be done; whoever does it empties the list.
    pub actions: Vec<Action>,
    pub(super) events: VecDeque<Event>,
}

/// One turn of a rank: an instant at which it is told something, and what follows.
pub(super) struct Turn<'a> {
    pub(super) schedule: &'a GraphSchedule,
    /// The instant.
    pub(super) now: Instant,
    pub(super) events: &'a mut VecDeque<Event>,
    pub(super) actions: &'a mut Vec<Action>,
}

impl Turn<'_> {
    /// Something has happened, and has its turn behind what has happened before.
    pub(super) fn happens(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Something is to be done.
    pub(super) fn act(&mut self, action: Action) {
        self.actions.push(action);
    }
}
