//! What has arrived at a rank and what it waits for, matched by source and tag as MPI does.

use std::collections::{BTreeMap, VecDeque};

use super::operation::Operation;

/// Who has sent something and under which tag, or whom a receive asks for: [`Operation::ANY`] in a
/// receive stands for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Envelope {
    pub(super) peer: u32,
    pub(super) tag: u32,
}

impl Envelope {
    fn asks_for_any(self) -> bool {
        self.peer == Operation::ANY || self.tag == Operation::ANY
    }

    /// Whether a receive of this envelope takes a message of the other.
    fn takes(self, message: Envelope) -> bool {
        let is = |asked: u32, given: u32| asked == Operation::ANY || asked == given;
        is(self.peer, message.peer) && is(self.tag, message.tag)
    }
}

/// Things in the order in which they came, by envelope.
#[derive(Clone, Debug, Default)]
struct Queues {
    queues: BTreeMap<Envelope, VecDeque<(u64, u32)>>,
}

impl Queues {
    fn push(&mut self, envelope: Envelope, came: u64, item: u32) {
        self.queues
            .entry(envelope)
            .or_default()
            .push_back((came, item));
    }

    /// When the first of an envelope came.
    fn first(&self, envelope: Envelope) -> Option<u64> {
        let queue = self.queues.get(&envelope)?;
        queue.front().map(|&(came, _)| came)
    }

    fn pop(&mut self, envelope: Envelope) -> Option<u32> {
        let queue = self.queues.get_mut(&envelope)?;
        let (_, item) = queue.pop_front()?;
        if queue.is_empty() {
            self.queues.remove(&envelope);
        }
        Some(item)
    }

    /// The envelope of the first that came, of those that suit.
    fn earliest(&self, suits: impl Fn(Envelope) -> bool) -> Option<(u64, Envelope)> {
        let suitable = self.queues.iter().filter(|(envelope, _)| suits(**envelope));
        let first = suitable.filter_map(|(&envelope, queue)| {
            let &(came, _) = queue.front()?;
            Some((came, envelope))
        });
        first.min()
    }
}

/// What has arrived and nobody has asked for, and who has asked for what has not arrived.
///
/// A message goes to the receive that asked first of those that take it; a receive gets the message
/// that came first of those that it takes.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox {
    came: u64,
    /// Messages, of which nothing but the envelope matters.
    messages: Queues,
    /// Receives that name their sender and tag.
    exact: Queues,
    /// Those that do not.
    open: Queues,
}

impl Inbox {
    fn number(&mut self) -> u64 {
        self.came += 1;
        self.came
    }

    /// A message has arrived; gives the receive that it goes to.
    pub(super) fn arrived(&mut self, message: Envelope) -> Option<u32> {
        let exact = self.exact.first(message).map(|came| (came, message));
        let open = self.open.earliest(|asked| asked.takes(message));
        let of_open = match (exact, open) {
            (Some((exact, _)), Some((open, _))) => open < exact,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        let taken = if of_open {
            open.and_then(|(_, envelope)| self.open.pop(envelope))
        } else {
            exact.and_then(|(_, envelope)| self.exact.pop(envelope))
        };
        if taken.is_none() {
            let came = self.number();
            self.messages.push(message, came, 0);
        }
        taken
    }

    /// A receive asks; whether its message is there already.
    pub(super) fn asked(&mut self, asked: Envelope, operation: u32) -> bool {
        let envelope = if asked.asks_for_any() {
            let earliest = self.messages.earliest(|message| asked.takes(message));
            earliest.map(|(_, envelope)| envelope)
        } else {
            Some(asked)
        };
        if envelope.is_some_and(|envelope| self.messages.pop(envelope).is_some()) {
            return true;
        }
        let came = self.number();
        let queues = if asked.asks_for_any() {
            &mut self.open
        } else {
            &mut self.exact
        };
        queues.push(asked, came, operation);
        false
    }

    /// The receives that wait, in no order of time.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (Envelope, u32)> + '_ {
        let queues = self.exact.queues.iter().chain(&self.open.queues);
        queues.flat_map(|(&envelope, queue)| queue.iter().map(move |&(_, of)| (envelope, of)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: u32 = Operation::ANY;

    fn of(peer: u32, tag: u32) -> Envelope {
        Envelope { peer, tag }
    }

    #[test]
    fn a_message_waits_for_its_receive_and_a_receive_for_its_message() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.arrived(of(1, 7)), None);
        assert!(!inbox.asked(of(1, 8), 0));
        assert!(!inbox.asked(of(2, 7), 1));
        assert!(inbox.asked(of(1, 7), 2));
        assert!(!inbox.asked(of(1, 7), 3));
        assert_eq!(inbox.arrived(of(1, 7)), Some(3));
        assert_eq!(inbox.waiting().count(), 2);
    }

    #[test]
    fn the_receive_that_asked_first_gets_the_message() {
        let mut inbox = Inbox::default();
        assert!(!inbox.asked(of(ANY, 7), 0));
        assert!(!inbox.asked(of(2, 7), 1));
        assert!(!inbox.asked(of(2, ANY), 2));
        assert_eq!(inbox.arrived(of(2, 8)), Some(2));
        assert_eq!(inbox.arrived(of(2, 7)), Some(0));
        assert_eq!(inbox.arrived(of(2, 7)), Some(1));
        assert_eq!(inbox.arrived(of(2, 7)), None);
    }

    #[test]
    fn a_receive_from_anyone_gets_what_came_first() {
        let mut inbox = Inbox::default();
        for peer in [3, 1, 3] {
            assert_eq!(inbox.arrived(of(peer, 0)), None);
        }
        assert!(!inbox.asked(of(ANY, 1), 9));
        // The first of rank 3: what is left is that of 1, and one of 3.
        assert!(inbox.asked(of(ANY, 0), 0));
        assert!(inbox.asked(of(3, ANY), 1));
        assert!(!inbox.asked(of(3, 0), 2));
        assert!(inbox.asked(of(ANY, ANY), 3));
    }
}
