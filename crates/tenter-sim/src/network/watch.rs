//! Watching the life of a flow or a port, without cost to a run that watches nothing.

use tenter_net::{Event, EventKind, Packet, PacketKind};
use tenter_plan::CapturePlan;
use tenter_record::QueueChangeRow;
use tenter_topology::{CableEnd, NodeId};
use tenter_units::{Instant, Time};

use super::context::Context;

/// Takes note of what happens to packets.
pub trait Watcher: Send {
    /// Whether [`Watcher::note`] does anything; a constant, so that an unwatched run pays nothing.
    const WATCHED: bool;
    /// Something happened to a packet.
    fn note(&mut self, event: Event);

    /// What it has recorded of queues, port by port.
    fn queue_changes(&self) -> Vec<PortChanges<'_>> {
        Vec::new()
    }

    /// The frames that it has captured.
    fn captured(&self) -> Option<Captured<'_>> {
        None
    }
}

/// What was recorded of the queues of a port.
#[derive(Clone, Copy, Debug)]
pub struct PortChanges<'a> {
    pub(crate) place: CableEnd,
    pub(crate) rows: &'a [QueueChangeRow],
    /// Changes beyond the limit.
    pub(crate) omitted: u64,
}

/// What was captured of frames.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    pub(crate) plan: &'a CapturePlan,
    /// The frames kept, in no particular order.
    pub(crate) frames: &'a [Seen],
    /// Frames beyond the limit.
    pub(crate) omitted: u64,
    /// Flow-control packets, which are no frames.
    pub(crate) flow_control: u64,
}

/// A frame at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// When its first bit is there.
    pub(crate) at: Instant,
    /// The index of the port among those of the plan.
    pub(crate) port: u32,
    pub(crate) is_outbound: bool,
    pub(crate) packet: Packet,
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    const WATCHED: bool = false;
    fn note(&mut self, _: Event) {}
}

/// What to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchTarget {
    /// All packets with one of these hashes: those of the queue pairs between two hosts, in both
    /// directions. Pause frames belong to no flow.
    Flow(Vec<u32>),
    /// All packets at one port of a node, pause frames among them.
    Port {
        /// The node.
        node: NodeId,
        /// Its port.
        port: u16,
        /// How long after its last bit has arrived a pause frame is obeyed, or a flow-control
        /// packet acts: for the model it is one event, for whoever looks it is two.
        response: Time,
    },
}

impl WatchTarget {
    /// A port of a node.
    pub fn port(context: &Context, node: NodeId, port: u16) -> WatchTarget {
        let topology = context.topology();
        // What the port obeys was sent by the other end.
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

    /// The arrival of a pause frame that is obeyed.
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

/// Keeps the earliest events of one target, up to a limit.
#[derive(Clone, Debug)]
pub struct WatchLog {
    target: WatchTarget,
    limit: usize,
    /// The events kept so far, at most twice the limit, in no particular order.
    notes: Vec<Event>,
    omitted: u64,
}

impl WatchLog {
    /// Watches `target` for its first `limit` events.
    pub fn new(target: WatchTarget, limit: usize) -> WatchLog {
        WatchLog {
            target,
            limit,
            notes: Vec::new(),
            omitted: 0,
        }
    }

    /// The most events that [`WatchLog::first`] gives.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The first events, in the order of time, and how many more there were.
    pub fn first(&self) -> (Vec<Event>, u64) {
        let mut log = self.clone();
        log.drop_late();
        (log.notes, log.omitted)
    }

    /// Ports are lazy, so a node may tell of a departure after a later arrival: only the time says
    /// what is first.
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
        if self.notes.len() > self.limit.saturating_mul(2) {
            self.drop_late();
        }
    }
}

#[cfg(test)]
mod tests {
    use tenter_topology::HostId;

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
