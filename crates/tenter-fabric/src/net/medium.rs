//! Links that a node's packets are put onto, and the watcher of their events.

use crate::topology::{CableEnd, NodeId};
use tenter_engine::Output;
use tenter_language::units::Instant;

use crate::net::packet::Packet;

/// A node's links and, in a watched run, the watcher.
///
/// `WATCHED` is a constant so that an unwatched run pays nothing for the events.
pub trait Medium {
    /// True if [`Medium::note`] does anything.
    const WATCHED: bool;

    /// Puts a packet onto the link behind `output`; it reaches the other end at `at`.
    fn send(&mut self, output: Output, at: Instant, packet: &Packet);

    /// Returns true if a node's memory leaves the cache between visits, so that prefetching pays
    /// off.
    fn is_large(&self) -> bool {
        false
    }

    /// Prefetches the pointers that lead to the place of a packet which will reach the other end of
    /// `output` at about `at`.
    fn prefetch_way(&self, _output: Output, _at: Instant) {}

    /// Prefetches the place itself, after [`Medium::prefetch_way`] in an earlier step.
    fn prefetch_room(&self, _output: Output, _at: Instant) {}

    /// Reports a packet's event to the watcher.
    fn note(&mut self, event: Event);
}

/// Step in a packet's life that an event reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// The packet came out of the link and the ingress pipeline.
    Arrived,
    /// The packet was put into an output queue.
    Queued,
    /// The packet's first bit went onto the wire.
    Sent,
    /// The packet found no room in the buffer, and was dropped.
    Dropped,
    /// The packet found no room in the buffer, and its payload was cut off.
    Trimmed,
    /// The packet waited, or was to wait, at a port whose link is down, or at a queue that the PFC
    /// watchdog has closed.
    Lost,
    /// The packet waited at a port whose circuit changes, and was taken out of the queue to be
    /// rerouted.
    Rerouted,
    /// The NIC accepted the packet in order.
    Accepted,
    /// The NIC dropped the packet: out of sequence, or received before.
    Discarded,
    /// A control frame took effect: a pause, a notice, or credit.
    Obeyed,
    /// An impairment lost the packet on the wire; the event has the time of its arrival.
    LostOnWire,
}

/// An event in a packet's life, with its place and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Instant at which it happened, in ps since the start.
    pub at: Instant,
    /// Node in the topology at which it happened.
    pub node: NodeId,
    /// Port of the node at which it happened.
    pub port: u16,
    /// Step in the packet's life.
    pub kind: EventKind,
    /// The packet as it was at that instant.
    pub packet: Packet,
}

impl Event {
    /// Returns the port at which the event happened, as a cable's end.
    pub fn place(&self) -> CableEnd {
        CableEnd {
            node: self.node,
            port: self.port,
        }
    }
}
