//! Receivers that a NIC must not send to.

use std::collections::{BTreeMap, VecDeque};

use tenter_net::{PauseRecord, SendSlot, Signal};
use tenter_topology::HostId;
use tenter_units::{Instant, Time};

use crate::send::SendQueuePair;

/// Receivers that a NIC must not send to, by host and class.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(BTreeMap<(HostId, u8), Hold>);

/// What is known of one of them.
#[derive(Clone, Debug, Default)]
struct Hold {
    until: Instant,
    record: PauseRecord,
    /// The queue pairs that stand still for it, in the order of their turns: so the last ones come
    /// to theirs, however short the times between two signals are. The first has a timer.
    waiting: VecDeque<SendSlot>,
}

/// What a queue pair is held by.
pub(super) fn key(queue_pair: &SendQueuePair) -> (HostId, u8) {
    (queue_pair.destination(), queue_pair.class)
}

impl Held {
    /// Until when a queue pair stands still; in the past when it may send.
    pub(super) fn until(&self, queue_pair: &SendQueuePair) -> Instant {
        let hold = self.0.get(&key(queue_pair));
        hold.map_or(Instant::START, |hold| hold.until)
    }

    /// Lets a queue pair wait behind those that do; whether it is the first, and needs a timer.
    pub(super) fn wait(&mut self, slot: SendSlot, queue_pair: &SendQueuePair) -> bool {
        let hold = self.0.entry(key(queue_pair)).or_default();
        hold.waiting.push_back(slot);
        hold.waiting.len() == 1
    }

    /// Whether a queue pair is the first of those that wait.
    pub(super) fn is_first(&self, slot: SendSlot, queue_pair: &SendQueuePair) -> bool {
        let hold = self.0.get(&key(queue_pair));
        hold.is_some_and(|hold| hold.waiting.front() == Some(&slot))
    }

    /// Takes out all that wait for the same as a queue pair, in the order of their turns.
    pub(super) fn take(&mut self, queue_pair: &SendQueuePair) -> VecDeque<SendSlot> {
        let hold = self.0.get_mut(&key(queue_pair));
        hold.map_or_else(VecDeque::new, |hold| std::mem::take(&mut hold.waiting))
    }

    /// A signal arrives at `now`, which asks for a pause until then; until when it lasts. A signal
    /// never shortens a pause, for another switch may have asked for it.
    pub(super) fn extend(&mut self, signal: &Signal, now: Instant, until: Instant) -> Instant {
        let hold = self.0.entry((signal.receiver, signal.class)).or_default();
        let until = until.max(hold.until);
        hold.record.take(now, hold.until, until);
        hold.until = until;
        until
    }

    /// How long what goes to a host has been held up to `now`, over all classes.
    pub(super) fn held(&self, receiver: HostId, now: Instant) -> Time {
        let of_classes = self.0.range((receiver, 0)..=(receiver, u8::MAX));
        of_classes
            .map(|(_, hold)| hold.record.paused(now, hold.until))
            .sum()
    }
}
