//! What hosts send and accept while a steady state is looked for.

use tenter_engine::LocalNode;
use tenter_net::{Event, EventKind, FlowEnd, ReceiveSlot};
use tenter_topology::HostId;
use tenter_units::{Instant, Time};

use super::numbers::Numbers;
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

impl Logged {
    /// The end of the queue pair at which it arrives.
    pub(super) fn end(&self) -> FlowEnd {
        FlowEnd::Receive(self.host, self.slot)
    }

    /// Makes it the packet that takes its place so many periods later.
    pub(super) fn go_on(&mut self, period: Time, periods: u64, advance: &Numbers) {
        let by = advance.of(self.end()).wrapping_mul(periods as u32);
        self.sequence = self.sequence.wrapping_add(by);
        self.at += period * periods;
    }
}

/// A frame of the host that is listened to: when it was sent, and a number that tells it from
/// frames of other kinds and sizes.
pub(super) type Departure = (Instant, u32);

/// Who is listened to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Hosts {
    None,
    One(LocalNode),
    #[default]
    All,
}

/// All that is sent and accepted while whole steps are compared, but for what is jumped over.
#[derive(Clone, Debug, Default)]
pub(super) struct Travels {
    pub(super) sent: Vec<Logged>,
    pub(super) accepted: Vec<Logged>,
}

/// The log of one part.
#[derive(Clone, Debug, Default)]
pub(crate) struct SteadyLog {
    hosts: Hosts,
    pub(super) departures: Vec<Departure>,
    pub(super) sent: Vec<Logged>,
    pub(super) accepted: Vec<Logged>,
    /// Not forgotten with the rest.
    pub(super) travels: Option<Box<Travels>>,
}

impl SteadyLog {
    /// Listens to one host alone, for when it sends what.
    pub(super) fn of_host(node: LocalNode) -> SteadyLog {
        SteadyLog {
            hosts: Hosts::One(node),
            ..SteadyLog::default()
        }
    }

    /// Listens to all hosts, and on for what travels.
    pub(super) fn of_all(travels: Option<Box<Travels>>) -> SteadyLog {
        SteadyLog {
            travels,
            ..SteadyLog::default()
        }
    }

    /// Listens for what travels alone.
    pub(super) fn of_travels(travels: Box<Travels>) -> SteadyLog {
        SteadyLog {
            hosts: Hosts::None,
            travels: Some(travels),
            ..SteadyLog::default()
        }
    }

    /// Whether it listens to a host.
    #[inline]
    pub(crate) fn wants(&self, node: LocalNode) -> bool {
        let is_listened_to = match self.hosts {
            Hosts::None => false,
            Hosts::One(only) => only == node,
            Hosts::All => true,
        };
        is_listened_to || self.travels.is_some()
    }

    /// Forgets what it has heard.
    pub(super) fn clear(&mut self) {
        let SteadyLog {
            hosts: _,
            departures,
            sent,
            accepted,
            travels: _,
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
        if matches!(self.hosts, Hosts::One(_)) {
            if kind == EventKind::Sent {
                let what = u32::from(packet.frame_bytes) << 8 | packet.kind as u32;
                self.departures.push((at, what));
            }
            return;
        }
        if !packet.kind.is_data() {
            return;
        }
        let travels = self.travels.as_deref_mut();
        let (list, of_travels) = match kind {
            EventKind::Sent => (&mut self.sent, travels.map(|all| &mut all.sent)),
            EventKind::Accepted => (&mut self.accepted, travels.map(|all| &mut all.accepted)),
            _ => return,
        };
        let logged = Logged {
            host: packet.destination,
            slot: packet.receive_slot(),
            sequence: packet.sequence,
            at,
        };
        if self.hosts == Hosts::All {
            list.push(logged);
        }
        if let Some(of_travels) = of_travels {
            of_travels.push(logged);
        }
    }
}
