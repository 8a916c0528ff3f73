//! What a node puts its packets onto.

use tenter_engine::Output;

use crate::packet::Packet;

/// The links of a node and, if anybody looks, the watcher.
///
/// `WATCHED` is a constant so that an unwatched run pays nothing for the events.
pub trait Medium {
    /// Whether [`Medium::note`] does anything.
    const WATCHED: bool;

    /// Puts a packet onto the link behind an output; it reaches the other end at `at`.
    fn send(&mut self, output: Output, at: u64, packet: &Packet);

    /// Tells the watcher that something happened to a packet.
    fn note(&mut self, event: Event);
}

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// It came out of the link and the ingress pipeline.
    Arrived,
    /// It was put into an output queue.
    Queued,
    /// Its first bit went onto the wire.
    Sent,
    /// The output queue was full.
    Dropped,
    /// It was to wait or waited at a port whose link is down, or at a queue that the PFC watchdog
    /// has closed.
    Lost,
    /// It waited at a port whose circuit goes, and was taken out of the queue to be routed anew.
    Rerouted,
    /// The NIC took it in order.
    Accepted,
    /// The NIC threw it away: out of sequence or received before.
    Discarded,
    /// It is a pause frame, which acts from now on.
    Obeyed,
}

/// One step in the life of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in ps.
    pub at: u64,
    /// At which node of the topology.
    pub node: u32,
    /// At which of its ports.
    pub port: u16,
    /// What happened.
    pub kind: EventKind,
    /// To which packet.
    pub packet: Packet,
}
