//! Messages (transfers' shares on queue pairs) from posting to acknowledgement.

use crate::fluid::FlowId;
use tenter_fabric::topology::HostId;
use tenter_language::units::{ById, Instant, id};

use crate::network::FlowKey;

use super::spray::Burst;
use super::ways::WayId;

id! {
    /// Index of a queue pair in the whole trial.
    pub(super) struct PairId(u32);
}

id! {
    /// Slot for a message. It is reused after the message has been acknowledged.
    pub(super) struct MessageId(u32);
}

/// A message or none, without the extra word that an `Option` would take.
#[derive(Clone, Copy, Debug)]
struct MaybeMessage(MessageId);

impl MaybeMessage {
    const NONE: MaybeMessage = MaybeMessage(MessageId::new(u32::MAX));

    fn get(self) -> Option<MessageId> {
        (self.0.number() < u32::MAX).then_some(self.0)
    }

    fn take(&mut self) -> Option<MessageId> {
        std::mem::replace(self, MaybeMessage::NONE).get()
    }
}

/// A message: one transfer's share on one queue pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) key: FlowKey,
    pub(super) turn: u32,
    pub(super) pair: PairId,
    /// Number in posting order, unique in the trial. Unlike the slot it does not depend on reuse,
    /// so it decides the order of events.
    pub(super) sequence: u64,
    pub(super) bytes: u64,
    pub(super) posted: Instant,
    /// Instant at which the first byte was sent; never before that.
    pub(super) first_sent: Instant,
    /// Instant at which the last byte arrived; never before that.
    pub(super) received: Instant,
    /// Next message on the queue pair.
    next: MaybeMessage,
    pub(super) frames: u32,
}

// A trial may have many millions of messages and queue pairs.
const _: () = assert!(size_of::<Message>() == 64 && size_of::<Pair>() == 24);

impl Message {
    /// Creates a message that has not been posted yet.
    pub(super) fn new(key: FlowKey, turn: u32, pair: PairId, bytes: u64, frames: u32) -> Message {
        Message {
            key,
            turn,
            pair,
            sequence: 0,
            bytes,
            posted: Instant::START,
            first_sent: Instant::NEVER,
            received: Instant::NEVER,
            next: MaybeMessage::NONE,
            frames,
        }
    }

    /// Describes the message's packets for drawing their links.
    pub(super) fn burst(&self) -> Burst {
        Burst {
            key: self.key,
            turn: self.turn,
            packets: self.frames,
        }
    }
}

/// A queue pair and its queue of messages.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Message being sent, and the last one in the queue behind it; both linked by `next`.
    sending: MaybeMessage,
    last: MaybeMessage,
    /// Path that its messages take; none before the first message.
    way: PairWay,
}

impl Pair {
    const NEW: Pair = Pair {
        sending: MaybeMessage::NONE,
        last: MaybeMessage::NONE,
        way: PairWay::NONE,
    };
}

/// Path that a queue pair's messages take.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairWay {
    pub(super) way: WayId,
    /// Hash over its packets' 5-tuple, by which switches choose ports.
    pub(super) hash: u32,
    pub(super) from: HostId,
    pub(super) to: HostId,
}

impl PairWay {
    const NONE: PairWay = PairWay {
        way: WayId::new(u32::MAX),
        hash: 0,
        from: HostId::new(0),
        to: HostId::new(0),
    };

    fn known(self) -> Option<PairWay> {
        (self.way.number() < u32::MAX).then_some(self)
    }
}

/// All messages under way, and their queue pairs.
#[derive(Debug, Default)]
pub(super) struct Messages {
    all: ById<MessageId, Message>,
    free: Vec<MessageId>,
    pairs: ById<PairId, Pair>,
    posted: u64,
    /// Message that each flow carries.
    of_flow: ById<FlowId, MaybeMessage>,
}

impl Messages {
    /// Adds `count` queue pairs, and returns the first.
    pub(super) fn add_pairs(&mut self, count: usize) -> PairId {
        let first = PairId::new(self.pairs.len() as u32);
        let pairs = self.pairs.len() + count;
        self.pairs.resize(pairs, Pair::NEW);
        first
    }

    pub(super) fn get(&self, id: MessageId) -> &Message {
        &self.all[id]
    }

    pub(super) fn way(&self, pair: PairId) -> Option<PairWay> {
        self.pairs[pair].way.known()
    }

    pub(super) fn set_way(&mut self, pair: PairId, way: PairWay) {
        self.pairs[pair].way = way;
    }

    /// Takes all paths that queue pairs have.
    pub(super) fn take_ways(&mut self) -> Vec<(PairId, PairWay)> {
        let pairs = self.pairs.numbered_mut();
        let taken = pairs.filter_map(|(pair, of)| {
            let way = std::mem::replace(&mut of.way, PairWay::NONE);
            Some((pair, way.known()?))
        });
        taken.collect()
    }

    /// Posts a message. The flag is true if its queue pair has nothing else to send.
    pub(super) fn post(&mut self, message: Message, at: Instant) -> (MessageId, bool) {
        self.posted += 1;
        let pair = message.pair;
        let message = Message {
            sequence: self.posted,
            posted: at,
            ..message
        };
        // Places of closed messages are used again, so memory grows to the most that are open at
        // once.
        let id = if let Some(free) = self.free.pop() {
            self.all[free] = message;
            free
        } else {
            self.all.push(message);
            MessageId::new(self.all.len() as u32 - 1)
        };
        let queue = &mut self.pairs[pair];
        let before = std::mem::replace(&mut queue.last, MaybeMessage(id));
        if queue.sending.get().is_none() {
            queue.sending = MaybeMessage(id);
            return (id, true);
        }
        if let Some(before) = before.get() {
            self.all[before].next = MaybeMessage(id);
        }
        (id, false)
    }

    /// Notes that a message is now sent as a flow. If it restarts over another path, it keeps the
    /// instant at which its first byte was sent.
    pub(super) fn begin(&mut self, id: MessageId, flow: FlowId, now: Instant) {
        let message = &mut self.all[id];
        if message.first_sent.is_never() {
            message.first_sent = now;
        }
        if self.of_flow.len() <= flow.index() {
            self.of_flow.resize(flow.index() + 1, MaybeMessage::NONE);
        }
        self.of_flow[flow] = MaybeMessage(id);
    }

    /// Returns the message that a flow carries.
    pub(super) fn of_flow(&self, flow: FlowId) -> Option<MessageId> {
        self.of_flow[flow].get()
    }

    /// Ends a flow. Returns its message, and the queue pair's next message.
    pub(super) fn ended(&mut self, flow: FlowId) -> Option<(MessageId, Option<MessageId>)> {
        let id = self.of_flow[flow].take()?;
        let message = &mut self.all[id];
        let (pair, next) = (message.pair, message.next);
        let queue = &mut self.pairs[pair];
        queue.sending = next;
        if next.get().is_none() {
            queue.last = MaybeMessage::NONE;
        }
        Some((id, next.get()))
    }

    /// Takes the messages that are being sent, with their flows, in posting order. The caller must
    /// [begin](Messages::begin) each one again.
    pub(super) fn take_sending(&mut self) -> Vec<(MessageId, FlowId)> {
        let mut sent: Vec<(MessageId, FlowId)> = self.sending().collect();
        // Flow numbers are about to be given out anew.
        self.of_flow = ById::default();
        // The order of new flow numbers must not depend on the old ones, which were reused.
        sent.sort_unstable_by_key(|(id, _)| self.all[*id].sequence);
        sent
    }

    /// Returns the messages that are being sent, with their flows.
    pub(super) fn sending(&self) -> impl Iterator<Item = (MessageId, FlowId)> {
        let sent = self.of_flow.numbered();
        sent.filter_map(|(flow, message)| Some((message.get()?, flow)))
    }

    /// Notes that a message has arrived.
    pub(super) fn receive(&mut self, id: MessageId, now: Instant) -> Message {
        let message = &mut self.all[id];
        message.received = now;
        *message
    }

    /// Frees an acknowledged message's slot, and returns the message.
    pub(super) fn close(&mut self, id: MessageId) -> Message {
        self.free.push(id);
        self.all[id]
    }
}
