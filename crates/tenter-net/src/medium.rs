//! The links onto which a node puts its packets.

use tenter_engine::Output;
use tenter_topology::{CableEnd, NodeId};
use tenter_units::Instant;

use crate::packet::Packet;

/// The links of a node and, in a watched run, the watcher.
///
/// `WATCHED` is a constant so that an unwatched run pays nothing for the events.
pub trait Medium {
    /// Whether [`Medium::note`] does anything.
    const WATCHED: bool;

    /// Puts a packet onto the link behind an output; it reaches the other end at `at`.
    fn send(&mut self, output: Output, at: Instant, packet: &Packet);

    /// Whether nodes leave the cache from one visit to the next, so that prefetching pays off.
    fn is_large(&self) -> bool {
        false
    }

    /// Prefetches the memory that leads to the place of a packet that will reach the other end of
    /// an output at about `at`.
    fn prefetch_way(&self, _output: Output, _at: Instant) {}

    /// Prefetches the memory of that place.
    fn prefetch_room(&self, _output: Output, _at: Instant) {}

    /// Reports an event of a packet to the watcher.
    fn note(&mut self, event: Event);
}

/// The event of a packet.
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
    /// The output queue was full, and its payload has been cut off.
    Trimmed,
    /// It was to wait or waited at a port whose link is down, or at a queue that the PFC watchdog
    /// has closed.
    Lost,
    /// It waited at a port whose circuit changes, and was taken out of the queue to be rerouted.
    Rerouted,
    /// The NIC took it in order.
    Accepted,
    /// The NIC dropped it: out of sequence or received before.
    Discarded,
    /// It is a pause frame, which takes effect now.
    Obeyed,
    /// It was sent and is lost on the wire, by an impairment; it would arrive now.
    LostOnWire,
}

/// One step in the life of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Instant,
    /// At which node of the topology.
    pub node: NodeId,
    /// At which of its ports.
    pub port: u16,
    /// What happened.
    pub kind: EventKind,
    /// To which packet.
    pub packet: Packet,
}

impl Event {
    /// The port at which it was.
    pub fn place(&self) -> CableEnd {
        CableEnd {
            node: self.node,
            port: self.port,
        }
    }
}
