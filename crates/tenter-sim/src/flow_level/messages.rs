//! Messages: shares of transfers on queue pairs, from when they are posted to when they are
//! acknowledged.

use tenter_flow::FlowId;
use tenter_topology::HostId;
use tenter_units::{ById, Instant, id};

use crate::network::FlowKey;

use super::spray::Burst;
use super::ways::WayId;

id! {
    /// A queue pair, among all of the trial.
    pub(super) struct PairId(u32);
}

id! {
    /// A message; the number of one that is acknowledged is given to another.
    pub(super) struct MessageId(u32);
}

/// A message, or none, in the memory of one.
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

/// A message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) key: FlowKey,
    pub(super) turn: u32,
    pub(super) pair: PairId,
    /// Its number among all.
    pub(super) sequence: u64,
    pub(super) bytes: u64,
    pub(super) posted: Instant,
    /// When its first byte was sent; never until then.
    pub(super) first_sent: Instant,
    /// When it has arrived whole; never until then.
    pub(super) received: Instant,
    /// The one that the queue pair sends after it.
    next: MaybeMessage,
    pub(super) frames: u32,
}

// There may be many millions.
const _: () = assert!(size_of::<Message>() == 64 && size_of::<Pair>() == 24);

impl Message {
    /// One of so many bytes in so many frames that is not posted yet.
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

    /// Its packets.
    pub(super) fn burst(&self) -> Burst {
        Burst {
            key: self.key,
            turn: self.turn,
            packets: self.frames,
        }
    }
}

/// A queue pair.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// The message that it sends, and the last that it has.
    sending: MaybeMessage,
    last: MaybeMessage,
    /// Where its messages go, once it has any.
    way: PairWay,
}

impl Pair {
    const NEW: Pair = Pair {
        sending: MaybeMessage::NONE,
        last: MaybeMessage::NONE,
        way: PairWay::NONE,
    };
}

/// The way of a queue pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairWay {
    pub(super) way: WayId,
    /// The hash of its packets.
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

/// All messages under way, and the queue pairs they are in.
#[derive(Debug, Default)]
pub(super) struct Messages {
    all: ById<MessageId, Message>,
    free: Vec<MessageId>,
    pairs: ById<PairId, Pair>,
    posted: u64,
    /// The message of each flow.
    of_flow: ById<FlowId, MaybeMessage>,
}

impl Messages {
    /// So many further queue pairs; the first of them.
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

    /// Takes the ways of all queue pairs that have any.
    pub(super) fn take_ways(&mut self) -> Vec<(PairId, PairWay)> {
        let pairs = self.pairs.numbered_mut();
        let taken = pairs.filter_map(|(pair, of)| {
            let way = std::mem::replace(&mut of.way, PairWay::NONE);
            Some((pair, way.known()?))
        });
        taken.collect()
    }

    /// Posts a message; whether its queue pair sends it at once.
    pub(super) fn post(&mut self, message: Message, at: Instant) -> (MessageId, bool) {
        self.posted += 1;
        let pair = message.pair;
        let message = Message {
            sequence: self.posted,
            posted: at,
            ..message
        };
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

    /// A message is sent from now on, as a flow.
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

    /// The message that is sent with a flow.
    pub(super) fn of_flow(&self, flow: FlowId) -> Option<MessageId> {
        self.of_flow[flow].get()
    }

    /// A flow has ended: its message, and the one that its queue pair sends next.
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

    /// The messages that are sent with their flows, in the order in which they were posted. Each
    /// has to [begin](Messages::begin) anew.
    pub(super) fn take_sending(&mut self) -> Vec<(MessageId, FlowId)> {
        let mut sent: Vec<(MessageId, FlowId)> = self.sending().collect();
        self.of_flow = ById::default();
        sent.sort_unstable_by_key(|(id, _)| self.all[*id].sequence);
        sent
    }

    /// The messages that are sent, with their flows.
    pub(super) fn sending(&self) -> impl Iterator<Item = (MessageId, FlowId)> {
        let sent = self.of_flow.numbered();
        sent.filter_map(|(flow, message)| Some((message.get()?, flow)))
    }

    /// A message has arrived whole.
    pub(super) fn receive(&mut self, id: MessageId, now: Instant) -> Message {
        let message = &mut self.all[id];
        message.received = now;
        *message
    }

    /// A message is acknowledged.
    pub(super) fn close(&mut self, id: MessageId) -> Message {
        self.free.push(id);
        self.all[id]
    }
}
