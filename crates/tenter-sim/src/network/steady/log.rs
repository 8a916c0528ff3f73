//! What hosts send and accept while a steady state is looked for.

use tenter_engine::LocalNode;
use tenter_net::{Event, EventKind, ReceiveSlot};
use tenter_topology::HostId;
use tenter_units::Instant;

use crate::network::watch::Watcher;

/// A data packet, and when it was sent or accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Logged {
    /// The host it goes to.
    pub(super) host: HostId,
    /// The queue pair there.
    pub(super) slot: ReceiveSlot,
    pub(super) sequence: u32,
    pub(super) at: Instant,
}

/// A frame of the host that is listened to: when it was sent, and a number that tells it from
/// frames of other kinds and sizes.
pub(super) type Departure = (Instant, u32);

/// The log of one part.
#[derive(Clone, Debug, Default)]
pub(crate) struct SteadyLog {
    /// The only host that is listened to; without it all are.
    only: Option<LocalNode>,
    pub(super) departures: Vec<Departure>,
    pub(super) sent: Vec<Logged>,
    pub(super) accepted: Vec<Logged>,
}

impl SteadyLog {
    /// Listens to one host alone, for when it sends what.
    pub(super) fn of_host(node: LocalNode) -> SteadyLog {
        SteadyLog {
            only: Some(node),
            ..SteadyLog::default()
        }
    }

    /// Whether it listens to a host.
    #[inline]
    pub(crate) fn wants(&self, node: LocalNode) -> bool {
        self.only.is_none_or(|only| only == node)
    }

    /// Forgets what it has heard.
    pub(super) fn clear(&mut self) {
        let SteadyLog {
            only: _,
            departures,
            sent,
            accepted,
        } = self;
        departures.clear();
        sent.clear();
        accepted.clear();
    }
}

impl Watcher for SteadyLog {
    const WATCHED: bool = true;

    fn note(&mut self, event: Event) {
        let Event {
            at, kind, packet, ..
        } = event;
        if self.only.is_some() {
            if kind == EventKind::Sent {
                let what = u32::from(packet.frame_bytes) << 8 | packet.kind as u32;
                self.departures.push((at, what));
            }
            return;
        }
        if !packet.kind.is_data() {
            return;
        }
        let list = match kind {
            EventKind::Sent => &mut self.sent,
            EventKind::Accepted => &mut self.accepted,
            _ => return,
        };
        list.push(Logged {
            host: packet.destination,
            slot: packet.receive_slot(),
            sequence: packet.sequence,
            at,
        });
    }
}
