//! Messages: shares of transfers on queue pairs, from when they are posted to when they are
//! acknowledged.

use tenter_flow::FlowId;
use tenter_topology::HostId;
use tenter_units::{ById, Instant, id};

use crate::network::FlowKey;

use super::ways::WayId;

id! {
    /// A queue pair, among all of the trial.
    pub(super) struct PairId(u32);
}

id! {
    /// A message; the number of one that is acknowledged is given to another.
    pub(super) struct MessageId(u32);
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
    pub(super) first_sent: Instant,
    /// The one that the queue pair sends after it.
    next: Option<MessageId>,
    /// Its flow, while it is sent.
    pub(super) flow: Option<FlowId>,
    /// Frames and frame bytes.
    pub(super) frames: u32,
    pub(super) frame_bytes: u64,
}

impl Message {
    /// One that is not posted yet.
    pub(super) fn new(key: FlowKey, turn: u32, pair: PairId, size: Size) -> Message {
        Message {
            key,
            turn,
            pair,
            sequence: 0,
            bytes: size.bytes,
            posted: Instant::START,
            first_sent: Instant::START,
            next: None,
            flow: None,
            frames: size.frames,
            frame_bytes: size.frame_bytes,
        }
    }
}

/// A queue pair.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// The message that it sends, and the last that it has.
    sending: Option<MessageId>,
    last: Option<MessageId>,
    /// Where its messages go, once it has any.
    way: Option<PairWay>,
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

/// All messages under way, and the queue pairs they are in.
#[derive(Debug, Default)]
pub(super) struct Messages {
    all: ById<MessageId, Message>,
    free: Vec<MessageId>,
    pairs: ById<PairId, Pair>,
    posted: u64,
    /// The message of each flow.
    of_flow: ById<FlowId, Option<MessageId>>,
}

impl Messages {
    /// So many further queue pairs; the first of them.
    pub(super) fn add_pairs(&mut self, count: usize) -> PairId {
        let first = PairId::new(self.pairs.len() as u32);
        let pairs = self.pairs.len() + count;
        self.pairs.resize(pairs, Pair::default());
        first
    }

    pub(super) fn get(&self, id: MessageId) -> &Message {
        &self.all[id]
    }

    pub(super) fn way(&self, pair: PairId) -> Option<PairWay> {
        self.pairs[pair].way
    }

    pub(super) fn set_way(&mut self, pair: PairId, way: PairWay) {
        self.pairs[pair].way = Some(way);
    }

    /// Takes the ways of all queue pairs that have any.
    pub(super) fn take_ways(&mut self) -> Vec<(PairId, PairWay)> {
        let pairs = self.pairs.numbered_mut();
        let taken = pairs.map(|(pair, of)| of.way.take().map(|way| (pair, way)));
        taken.flatten().collect()
    }

    /// Posts a message; whether its queue pair sends it at once.
    pub(super) fn post(
        &mut self,
        key: FlowKey,
        turn: u32,
        pair: PairId,
        at: Instant,
        size: Size,
    ) -> (MessageId, bool) {
        self.posted += 1;
        let message = Message {
            sequence: self.posted,
            posted: at,
            ..Message::new(key, turn, pair, size)
        };
        let id = if let Some(free) = self.free.pop() {
            self.all[free] = message;
            free
        } else {
            self.all.push(message);
            MessageId::new(self.all.len() as u32 - 1)
        };
        let queue = &mut self.pairs[pair];
        let before = queue.last.replace(id);
        if queue.sending.is_none() {
            queue.sending = Some(id);
            return (id, true);
        }
        if let Some(before) = before {
            self.all[before].next = Some(id);
        }
        (id, false)
    }

    /// A message is sent from now on, as a flow.
    pub(super) fn begin(&mut self, id: MessageId, flow: FlowId, now: Instant) {
        let message = &mut self.all[id];
        if message.flow.is_none() {
            message.first_sent = now;
        }
        message.flow = Some(flow);
        if self.of_flow.len() <= flow.index() {
            self.of_flow.resize(flow.index() + 1, None);
        }
        self.of_flow[flow] = Some(id);
    }

    /// A flow has ended: its message, and the one that its queue pair sends next.
    pub(super) fn ended(&mut self, flow: FlowId) -> Option<(MessageId, Option<MessageId>)> {
        let id = self.of_flow[flow].take()?;
        let message = &mut self.all[id];
        message.flow = None;
        let (pair, next) = (message.pair, message.next);
        let queue = &mut self.pairs[pair];
        queue.sending = next;
        if next.is_none() {
            queue.last = None;
        }
        Some((id, next))
    }

    /// The messages that are sent, in the order in which they were posted.
    pub(super) fn sending(&self) -> Vec<MessageId> {
        let all = self.all.numbered();
        let sent = all.filter(|(_, message)| message.flow.is_some());
        let mut sent: Vec<MessageId> = sent.map(|(id, _)| id).collect();
        sent.sort_unstable_by_key(|id| self.all[*id].sequence);
        sent
    }

    /// A message is acknowledged.
    pub(super) fn close(&mut self, id: MessageId) -> Message {
        self.free.push(id);
        self.all[id]
    }
}

/// The size of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) bytes: u64,
    pub(super) frames: u32,
    pub(super) frame_bytes: u64,
}
