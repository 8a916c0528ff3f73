//! Retransmission timers for a NIC's queue pairs.

mod steady;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tenter_fabric::net::SendSlot;
use tenter_language::units::Instant;

/// Deadlines with their queue pairs, ordered by both.
///
/// All timeouts at a NIC are equally long, so nearly every deadline is later than those set before
/// and is appended to a list. The others, set to less than a full timeout or to the same instant,
/// go to a heap.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// Earliest deadline in both lists, or [`Instant::NEVER`].
    next_at: Instant,
    ascending: VecDeque<(Instant, SendSlot)>,
    /// Deadlines that did not fit at the list's end.
    others: BinaryHeap<Reverse<(Instant, SendSlot)>>,
}

impl Timers {
    pub(crate) fn new() -> Timers {
        Timers {
            next_at: Instant::NEVER,
            ascending: VecDeque::new(),
            others: BinaryHeap::new(),
        }
    }

    /// Returns the earliest deadline, or [`Instant::NEVER`] without any.
    #[inline]
    pub(crate) fn next_at(&self) -> Instant {
        self.next_at
    }

    /// Adds a deadline for a queue pair.
    pub(crate) fn push(&mut self, at: Instant, slot: SendSlot) {
        self.next_at = self.next_at.min(at);
        // An equal instant goes to the heap, which orders by queue pair as well.
        if self.ascending.back().is_none_or(|&(last, _)| last < at) {
            self.ascending.push_back((at, slot));
        } else {
            self.others.push(Reverse((at, slot)));
        }
    }

    /// Takes out the first deadline and returns its queue pair.
    pub(crate) fn pop(&mut self) -> Option<SendSlot> {
        let listed = self.ascending.front().copied();
        let heaped = self.others.peek().map(|&Reverse(first)| first);
        let from_list = match (listed, heaped) {
            (Some(listed), Some(heaped)) => listed < heaped,
            (listed, _) => listed.is_some(),
        };
        let popped = if from_list {
            self.ascending.pop_front()
        } else {
            self.others.pop().map(|Reverse(first)| first)
        };
        let listed = self.ascending.front().map_or(Instant::NEVER, |&(at, _)| at);
        let heaped = self
            .others
            .peek()
            .map_or(Instant::NEVER, |&Reverse((at, _))| at);
        self.next_at = listed.min(heaped);
        popped.map(|(_, slot)| slot)
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Instant;

    use super::{SendSlot, Timers};

    #[test]
    fn deadlines_come_in_order_of_time_and_slot_however_they_were_set() {
        let mut timers = Timers::new();
        let set = [(5, 9), (5, 3), (8, 1), (6, 4), (8, 0), (12, 2), (1, 7)];
        let set = set.map(|(at, slot)| (Instant::from_ps(at), SendSlot::new(slot)));
        for (at, slot) in set {
            timers.push(at, slot);
        }
        let mut popped = Vec::new();
        while !timers.next_at().is_never() {
            popped.push((timers.next_at(), timers.pop().unwrap()));
        }
        let mut sorted = set.to_vec();
        sorted.sort_unstable();
        assert_eq!(popped, sorted);
        assert_eq!(timers.pop(), None);
    }
}
