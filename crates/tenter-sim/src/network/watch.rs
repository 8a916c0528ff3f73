//! Observes a flow or a port, at no cost for runs that observe nothing.

use crate::plan::CapturePlan;
use tenter_fabric::net::{Event, EventKind, Packet, PacketKind};
use tenter_fabric::topology::{CableEnd, NodeId};
use tenter_language::units::{Instant, Time};
use tenter_results::QueueChangeRow;

use super::context::Context;

/// Observes events that happen to packets.
pub trait Watcher: Send {
    /// True if [`Watcher::note`] does anything; a constant, so that other runs pay nothing for it.
    const WATCHED: bool;
    /// Observes an event that happened to a packet.
    fn note(&mut self, event: Event);

    /// Returns the recorded queue changes, port by port.
    fn queue_changes(&self) -> Vec<PortChanges<'_>> {
        Vec::new()
    }

    /// Returns the captured frames, if frames are captured.
    fn captured(&self) -> Option<Captured<'_>> {
        None
    }
}

/// The recorded queue changes at one port.
#[derive(Clone, Copy, Debug)]
pub struct PortChanges<'a> {
    pub(crate) place: CableEnd,
    pub(crate) rows: &'a [QueueChangeRow],
    /// Changes that were dropped beyond the limit.
    pub(crate) omitted: u64,
}

/// The captured frames of one partition.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    pub(crate) plan: &'a CapturePlan,
    /// Frames that were kept, in no particular order.
    pub(crate) frames: &'a [Seen],
    /// Frames that were dropped beyond the limit.
    pub(crate) omitted: u64,
    /// Flow-control packets, which are not frames and are only counted.
    pub(crate) flow_control: u64,
}

/// A frame as seen at a captured port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Time at which its first bit is there.
    pub(crate) at: Instant,
    /// The port's index in the plan.
    pub(crate) port: u32,
    /// True if the port sends the frame.
    pub(crate) is_outbound: bool,
    pub(crate) packet: Packet,
}

/// A watcher that observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    const WATCHED: bool = false;
    fn note(&mut self, _: Event) {}
}

/// The target that a log observes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchTarget {
    /// All packets with one of these hashes, in ascending order: those of the queue pairs between
    /// two hosts, in both directions. Pause frames belong to no flow.
    Flow(Vec<u32>),
    /// All packets at one port of a node, pause frames included.
    Port {
        /// The node that has the port.
        node: NodeId,
        /// The port's number at the node.
        port: u16,
        /// Time from the arrival of a pause frame's last bit, or of a flow-control packet, to its
        /// effect. The model has one event for both; the log shows two.
        response: Time,
    },
}

impl WatchTarget {
    /// Makes the target for a node's port.
    pub fn port(context: &Context, node: NodeId, port: u16) -> WatchTarget {
        let topology = context.topology();
        // The pauses that take effect at the port were sent by the other end.
        let from = topology.neighbour(node, port);
        WatchTarget::Port {
            node,
            port,
            response: context.mac_latency(from.node, from.port) - topology.cable(node, port).delay,
        }
    }

    fn concerns(&self, event: &Event) -> bool {
        match self {
            WatchTarget::Flow(hashes) => {
                let is_of_link = matches!(
                    event.packet.kind,
                    PacketKind::Pause | PacketKind::FlowControl | PacketKind::LostCredit
                );
                !is_of_link && hashes.binary_search(&event.packet.hash).is_ok()
            }
            WatchTarget::Port { node, port, .. } => (event.node, event.port) == (*node, *port),
        }
    }

    /// Returns the arrival event for a pause frame that takes effect.
    fn arrival(&self, event: &Event) -> Option<Event> {
        match self {
            WatchTarget::Port { response, .. } if event.kind == EventKind::Obeyed => Some(Event {
                at: event.at - *response,
                kind: EventKind::Arrived,
                ..*event
            }),
            _ => None,
        }
    }
}

/// Keeps the earliest events at one target, up to a limit.
#[derive(Clone, Debug)]
pub struct WatchLog {
    target: WatchTarget,
    limit: usize,
    /// Events kept so far, at most twice the limit, in no particular order.
    notes: Vec<Event>,
    /// Events that were dropped beyond the limit.
    omitted: u64,
}

impl WatchLog {
    /// Makes a log for the first `limit` events at `target`.
    pub(crate) fn new(target: WatchTarget, limit: usize) -> WatchLog {
        WatchLog {
            target,
            limit,
            notes: Vec::new(),
            omitted: 0,
        }
    }

    /// Returns the most events that [`WatchLog::first`] returns.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the first events in time order, and the number of later ones.
    pub fn first(&self) -> (Vec<Event>, u64) {
        let mut log = self.clone();
        log.drop_late();
        (log.notes, log.omitted)
    }

    /// Drops events beyond the limit. Ports are lazy, so a node may report a departure after a
    /// later arrival, and only the time decides which events are first.
    fn drop_late(&mut self) {
        self.notes
            .sort_by_key(|event| (event.at, event.node, event.port, event.kind));
        self.omitted += self.notes.len().saturating_sub(self.limit) as u64;
        self.notes.truncate(self.limit);
    }
}

impl Watcher for WatchLog {
    const WATCHED: bool = true;
    fn note(&mut self, event: Event) {
        if !self.target.concerns(&event) {
            return;
        }
        self.notes.extend(self.target.arrival(&event));
        self.notes.push(event);
        // Sorting only when the list has doubled keeps the cost per event low.
        if self.notes.len() > self.limit.saturating_mul(2) {
            self.drop_late();
        }
    }
}

#[cfg(test)]
mod tests {
    use tenter_fabric::topology::HostId;

    use super::*;

    const PORT: WatchTarget = WatchTarget::Port {
        node: NodeId::new(0),
        port: 0,
        response: Time::from_ps(10),
    };

    fn event(at: Instant) -> Event {
        let packet = Packet {
            at,
            queue_pair: 0,
            sequence: 0,
            destination: HostId::new(0),
            hash: 0,
            sent: 0,
            frame_bytes: 78,
            kind: PacketKind::Only,
            flags: 0,
        };
        Event {
            at,
            node: NodeId::new(0),
            port: 0,
            kind: EventKind::Sent,
            packet,
        }
    }

    #[test]
    fn the_earliest_events_are_kept_up_to_any_limit() {
        for (limit, kept) in [(0, 0), (1, 1), (2, 2), (usize::MAX, 5)] {
            let mut log = WatchLog::new(PORT, limit);
            for at in [4, 3, 5, 1, 2] {
                log.note(event(Instant::from_ps(at)));
            }
            let (first, omitted) = log.first();
            let times: Vec<u64> = first.iter().map(|event| event.at.ps()).collect();
            assert_eq!(times, &[1, 2, 3, 4, 5][..kept], "limit {limit}");
            assert_eq!(omitted, 5 - kept as u64, "limit {limit}");
        }
    }

    #[test]
    fn a_pause_frame_arrives_before_it_is_obeyed_and_belongs_to_no_flow() {
        let mut obeyed = event(Instant::from_ps(15));
        obeyed.kind = EventKind::Obeyed;
        obeyed.packet.kind = PacketKind::Pause;
        let mut log = WatchLog::new(PORT, 9);
        log.note(obeyed);
        let (first, _) = log.first();
        let seen: Vec<_> = first
            .iter()
            .map(|event| (event.at.ps(), event.kind))
            .collect();
        assert_eq!(seen, [(5, EventKind::Arrived), (15, EventKind::Obeyed)]);
        // Its hash of 0 may be that of a queue pair.
        let mut log = WatchLog::new(WatchTarget::Flow(vec![0]), 9);
        log.note(obeyed);
        assert_eq!(log.first(), (Vec::new(), 0));
        log.note(event(Instant::from_ps(1)));
        assert_eq!(log.first().0.len(), 1);
    }
}
