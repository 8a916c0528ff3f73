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
        if self.notes.len() > 2 * self.limit {
            self.drop_late();
        }
    }
}
