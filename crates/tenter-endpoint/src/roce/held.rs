//! Receivers that congestion signals forbid to send to.

use std::collections::{BTreeMap, VecDeque};

use tenter_fabric::net::{PauseRecord, SendSlot, Signal};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};

use crate::send::SendQueuePair;

/// Pauses by congestion signals, by receiver and class.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(BTreeMap<(HostId, u8), Hold>);

/// The pause towards one receiver in one class.
#[derive(Clone, Debug, Default)]
struct Hold {
    until: Instant,
    record: PauseRecord,
    /// Paused queue pairs in the order of their turns, which they keep when the pause ends.
    /// Otherwise frequent signals could starve the last ones. Only the first has a timer, on behalf
    /// of all.
    waiting: VecDeque<SendSlot>,
}

/// Returns the receiver and class whose pause applies to a queue pair.
pub(super) fn key(queue_pair: &SendQueuePair) -> (HostId, u8) {
    (queue_pair.destination(), queue_pair.class)
}

impl Held {
    /// Returns the end of the pause for a queue pair; in the past if it may send.
    pub(super) fn until(&self, queue_pair: &SendQueuePair) -> Instant {
        let hold = self.0.get(&key(queue_pair));
        hold.map_or(Instant::START, |hold| hold.until)
    }

    /// Appends a queue pair to those that wait. Returns true if it is the first and needs the
    /// timer.
    pub(super) fn wait(&mut self, slot: SendSlot, queue_pair: &SendQueuePair) -> bool {
        let hold = self.0.entry(key(queue_pair)).or_default();
        hold.waiting.push_back(slot);
        hold.waiting.len() == 1
    }

    /// Returns true if a queue pair is the first of those that wait.
    pub(super) fn is_first(&self, slot: SendSlot, queue_pair: &SendQueuePair) -> bool {
        let hold = self.0.get(&key(queue_pair));
        hold.is_some_and(|hold| hold.waiting.front() == Some(&slot))
    }

    /// Takes out all queue pairs that wait for the same receiver and class, in the order of their
    /// turns.
    pub(super) fn take(&mut self, queue_pair: &SendQueuePair) -> VecDeque<SendSlot> {
        let hold = self.0.get_mut(&key(queue_pair));
        hold.map_or_else(VecDeque::new, |hold| std::mem::take(&mut hold.waiting))
    }

    /// Applies a signal that arrives at `now` and asks for a pause until `until`. Returns the end
    /// of the pause. A signal never shortens a pause, since another switch may have asked for it.
    pub(super) fn extend(&mut self, signal: &Signal, now: Instant, until: Instant) -> Instant {
        let hold = self.0.entry((signal.receiver, signal.class)).or_default();
        let until = until.max(hold.until);
        hold.record.take(now, hold.until, until);
        hold.until = until;
        until
    }

    /// Returns the total time up to `now` for which packets to a receiver were paused, over all
    /// classes.
    pub(super) fn held(&self, receiver: HostId, now: Instant) -> Time {
        let of_classes = self.0.range((receiver, 0)..=(receiver, u8::MAX));
        of_classes
            .map(|(_, hold)| hold.record.paused(now, hold.until))
            .sum()
    }
}
