//! Watching the life of a flow or a port, without cost to a run that watches nothing.

use tenter_net::Event;

/// Takes note of what happens to packets.
pub trait Watcher: Send {
    /// Whether [`Watcher::note`] does anything; a constant, so that an unwatched run pays nothing.
    const WATCHED: bool;
    /// Something happened to a packet.
    fn note(&mut self, event: Event);
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
    /// directions.
    Flow(Vec<u32>),
    /// All packets at one port of a node.
    Port {
        /// The node.
        node: u32,
        /// Its port.
        port: u16,
    },
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

    fn concerns(&self, event: &Event) -> bool {
        match &self.target {
            WatchTarget::Flow(hashes) => hashes.contains(&event.packet.hash),
            WatchTarget::Port { node, port } => (event.node, event.port) == (*node, *port),
        }
    }
}

impl Watcher for WatchLog {
    const WATCHED: bool = true;
    fn note(&mut self, event: Event) {
        if !self.concerns(&event) {
            return;
        }
        self.notes.push(event);
        if self.notes.len() > self.limit.saturating_mul(2) {
            self.drop_late();
        }
    }
}

#[cfg(test)]
mod tests {
    use tenter_net::{EventKind, Packet, PacketKind};

    use super::*;

    fn event(at: u64) -> Event {
        let packet = Packet {
            at,
            queue_pair: 0,
            sequence: 0,
            destination: 0,
            hash: 0,
            sent: 0,
            frame_bytes: 78,
            kind: PacketKind::Only,
            flags: 0,
        };
        Event {
            at,
            node: 0,
            port: 0,
            kind: EventKind::Sent,
            packet,
        }
    }

    #[test]
    fn the_earliest_events_are_kept_up_to_any_limit() {
        for (limit, kept) in [(0, 0), (1, 1), (2, 2), (usize::MAX, 5)] {
            let target = WatchTarget::Port { node: 0, port: 0 };
            let mut log = WatchLog::new(target, limit);
            for at in [4, 3, 5, 1, 2] {
                log.note(event(at));
            }
            let (first, omitted) = log.first();
            let times: Vec<u64> = first.iter().map(|event| event.at).collect();
            assert_eq!(times, &[1, 2, 3, 4, 5][..kept], "limit {limit}");
            assert_eq!(omitted, 5 - kept as u64, "limit {limit}");
        }
    }
}
