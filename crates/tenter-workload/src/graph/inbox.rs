//! Matches arrived messages with waiting receives by source and tag, as MPI does.

use std::collections::{BTreeMap, VecDeque};

use super::operation::Operation;

/// A message's source and tag, or those that a receive asks for. In a receive [`Operation::ANY`]
/// accepts all ranks or all tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Envelope {
    pub(super) peer: u32,
    pub(super) tag: u32,
}

impl Envelope {
    /// Accepts any rank or any tag.
    const ANY: u32 = Operation::ANY;

    fn asks_for_any(self) -> bool {
        self.peer == Envelope::ANY || self.tag == Envelope::ANY
    }

    /// Lists the envelopes under which a receive takes this message without naming both source and
    /// tag.
    fn open(self) -> [Envelope; 3] {
        let Envelope { peer, tag } = self;
        let any = Envelope::ANY;
        [(any, tag), (peer, any), (any, any)].map(|(peer, tag)| Envelope { peer, tag })
    }
}

/// Queues by envelope. Each item has its arrival number, which orders it against other queues.
type Queues<T> = BTreeMap<Envelope, VecDeque<(u64, T)>>;

/// Returns the arrival number of the first item with an envelope.
fn first<T>(queues: &Queues<T>, envelope: Envelope) -> Option<u64> {
    let queue = queues.get(&envelope)?;
    queue.front().map(|&(came, _)| came)
}

fn pop<T>(queues: &mut Queues<T>, envelope: Envelope) -> Option<T> {
    let queue = queues.get_mut(&envelope)?;
    let (_, item) = queue.pop_front()?;
    if queue.is_empty() {
        queues.remove(&envelope);
    }
    Some(item)
}

/// Arrived messages that no receive has asked for, each with the place of its send.
#[derive(Clone, Debug, Default)]
struct Unexpected {
    messages: Queues<u32>,
    count: usize,
    /// Index of the messages by the envelopes under which receives that accept any rank or tag ask.
    /// It is built when the first such receive asks, since most graphs have none. Entries whose
    /// message was taken by its exact envelope stay until they reach the front.
    open: Option<Queues<Envelope>>,
    open_count: usize,
}

impl Unexpected {
    /// Each message has three index entries. The index is built anew once it has more than six per
    /// message plus this constant, since most are stale by then. The cost is thus spread over at
    /// least as many arrivals.
    const GONE_MAX: usize = 1_024;

    fn push(&mut self, message: Envelope, came: u64, place: u32) {
        let queue = self.messages.entry(message).or_default();
        queue.push_back((came, place));
        self.count += 1;
        if let Some(open) = &mut self.open {
            for asked in message.open() {
                open.entry(asked).or_default().push_back((came, message));
            }
            // One entry for each of the three envelopes.
            self.open_count += 3;
            if self.open_count > 6 * self.count + Unexpected::GONE_MAX {
                self.index();
            }
        }
    }

    /// Takes the message that arrived first among those that `asked` accepts.
    fn take(&mut self, asked: Envelope) -> Option<(Envelope, u32)> {
        let message = if asked.asks_for_any() {
            self.earliest(asked)?
        } else {
            asked
        };
        let place = pop(&mut self.messages, message)?;
        self.count -= 1;
        Some((message, place))
    }

    fn earliest(&mut self, asked: Envelope) -> Option<Envelope> {
        if self.open.is_none() {
            self.index();
        }
        let queue = self.open.as_mut()?.get_mut(&asked)?;
        while let Some((came, message)) = queue.pop_front() {
            self.open_count -= 1;
            // Messages with one envelope leave in order of arrival. If the first that is left came
            // later, this entry's message has been taken by its exact envelope.
            if first(&self.messages, message).is_some_and(|earliest| earliest <= came) {
                return Some(message);
            }
        }
        None
    }

    /// Builds the index for receives that accept any rank or tag, in arrival order.
    fn index(&mut self) {
        let messages = self.messages.iter();
        let all = messages.flat_map(|(&of, queue)| queue.iter().map(move |&(came, _)| (came, of)));
        let mut all: Vec<(u64, Envelope)> = all.collect();
        all.sort_unstable();
        let mut open: Queues<Envelope> = BTreeMap::new();
        for &(came, message) in &all {
            for asked in message.open() {
                open.entry(asked).or_default().push_back((came, message));
            }
        }
        self.open = Some(open);
        self.open_count = 3 * all.len();
    }
}

/// Messages without a receive, and receives without a message.
///
/// A message goes to the receive that asked first among those that accept it. A receive gets the
/// message that arrived first among those that it accepts.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox {
    came: u64,
    unexpected: Unexpected,
    /// Waiting receives, by the envelope that they ask for.
    receives: Queues<u32>,
}

impl Inbox {
    fn number(&mut self) -> u64 {
        self.came += 1;
        self.came
    }

    /// Handles an arriving message whose send is at `place`. Returns the receive that takes it;
    /// without one the message is kept.
    pub(super) fn arrived(&mut self, message: Envelope, place: u32) -> Option<u32> {
        let [by_tag, by_peer, any] = message.open();
        let asked = [message, by_tag, by_peer, any].into_iter();
        // The earliest request wins; ties cannot occur, since each has its own number.
        let asked = asked.filter_map(|asked| Some((first(&self.receives, asked)?, asked)));
        if let Some((_, asked)) = asked.min() {
            return pop(&mut self.receives, asked);
        }
        let came = self.number();
        self.unexpected.push(message, came, place);
        None
    }

    /// Handles a receive that asks for a message. Returns the sender and its send's place if the
    /// message has arrived; otherwise the receive waits.
    pub(super) fn asked(&mut self, asked: Envelope, operation: u32) -> Option<(u32, u32)> {
        if let Some((message, place)) = self.unexpected.take(asked) {
            return Some((message.peer, place));
        }
        let came = self.number();
        let queue = self.receives.entry(asked).or_default();
        queue.push_back((came, operation));
        None
    }

    /// Iterates over the waiting receives, grouped by envelope rather than sorted by time.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (Envelope, u32)> + '_ {
        let queues = self.receives.iter();
        queues.flat_map(|(&envelope, queue)| queue.iter().map(move |&(_, of)| (envelope, of)))
    }
}

#[cfg(test)]
mod tests {
    use tenter_engine::Stream;

    use super::*;

    const ANY: u32 = Operation::ANY;

    fn of(peer: u32, tag: u32) -> Envelope {
        Envelope { peer, tag }
    }

    #[test]
    fn a_message_waits_for_its_receive_and_a_receive_for_its_message() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.arrived(of(1, 7), 40), None);
        assert_eq!(inbox.asked(of(1, 8), 0), None);
        assert_eq!(inbox.asked(of(2, 7), 1), None);
        assert!(inbox.asked(of(1, 7), 2).is_some());
        assert_eq!(inbox.asked(of(1, 7), 3), None);
        assert_eq!(inbox.arrived(of(1, 7), 40), Some(3));
        assert_eq!(inbox.waiting().count(), 2);
    }

    #[test]
    fn the_receive_that_asked_first_gets_the_message() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.asked(of(ANY, 7), 0), None);
        assert_eq!(inbox.asked(of(2, 7), 1), None);
        assert_eq!(inbox.asked(of(2, ANY), 2), None);
        assert_eq!(inbox.arrived(of(2, 8), 40), Some(2));
        assert_eq!(inbox.arrived(of(2, 7), 40), Some(0));
        assert_eq!(inbox.arrived(of(2, 7), 40), Some(1));
        assert_eq!(inbox.arrived(of(2, 7), 40), None);
    }

    #[test]
    fn a_receive_from_anyone_gets_what_came_first() {
        let mut inbox = Inbox::default();
        for peer in [3, 1, 3] {
            assert_eq!(inbox.arrived(of(peer, 0), 40), None);
        }
        assert_eq!(inbox.asked(of(ANY, 1), 9), None);
        // The first of rank 3: what is left is that of 1, and one of 3.
        assert!(inbox.asked(of(ANY, 0), 0).is_some());
        assert!(inbox.asked(of(3, ANY), 1).is_some());
        assert_eq!(inbox.asked(of(3, 0), 2), None);
        assert!(inbox.asked(of(ANY, ANY), 3).is_some());
    }

    #[test]
    fn a_receive_gets_what_came_first_of_all_that_it_takes() {
        // Against a list of messages in the order of their coming, all of which are looked at.
        let mut stream = Stream::new(7, "graph", "inbox");
        let mut draw = |bound: u64| stream.below(bound) as u32;
        let mut inbox = Inbox::default();
        let (mut messages, mut receives): (Vec<_>, Vec<_>) = Default::default();
        let takes = |asked: Envelope, message: Envelope| {
            let is = |asked: u32, given: u32| asked == ANY || asked == given;
            is(asked.peer, message.peer) && is(asked.tag, message.tag)
        };
        for number in 0..20_000 {
            let envelope = of(draw(4), draw(3));
            if draw(2) == 0 {
                let place = receives
                    .iter()
                    .position(|&(asked, _)| takes(asked, envelope));
                let expected = place.map(|place| receives.remove(place).1);
                assert_eq!(inbox.arrived(envelope, number), expected);
                if expected.is_none() {
                    messages.push((envelope, number));
                }
                continue;
            }
            let any = |given: u32, share: u32| if share == 0 { ANY } else { given };
            let asked = of(any(envelope.peer, draw(3)), any(envelope.tag, draw(3)));
            let place = messages
                .iter()
                .position(|&(message, _)| takes(asked, message));
            let expected = place.map(|place| messages.remove(place));
            let found = inbox.asked(asked, number);
            assert_eq!(
                found,
                expected.map(|(message, place)| (message.peer, place))
            );
            if found.is_none() {
                receives.push((asked, number));
            }
        }
    }
}
