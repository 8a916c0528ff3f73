//! Logs what hosts send and accept while a steady state is being searched.

use tenter_engine::LocalNode;
use tenter_fabric::net::{Event, EventKind, FlowEnd, ReceiveSlot};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};

use super::numbers::Numbers;
use crate::network::watch::Watcher;

/// A data packet with the time at which it was sent or accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Logged {
    /// The host that receives it.
    pub(super) host: HostId,
    /// The receiving queue pair at that host.
    pub(super) slot: ReceiveSlot,
    pub(super) sequence: u32,
    pub(super) at: Instant,
}

impl Logged {
    /// Returns the receiving end of its queue pair.
    pub(super) fn end(&self) -> FlowEnd {
        FlowEnd::Receive(self.host, self.slot)
    }

    /// Replaces it by the packet that has its role `periods` periods later.
    pub(super) fn go_on(&mut self, period: Time, periods: u64, advance: &Numbers) {
        let by = advance.of(self.end()).wrapping_mul(periods as u32);
        self.sequence = self.sequence.wrapping_add(by);
        self.at += period * periods;
    }
}

/// A frame from the logged host: its send time, and a number for its kind and size.
pub(super) type Departure = (Instant, u32);

/// The hosts that a log observes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Hosts {
    None,
    One(LocalNode),
    #[default]
    All,
}

/// All data packets that are sent and accepted while whole steps are compared, except those that
/// are jumped over.
#[derive(Clone, Debug, Default)]
pub(super) struct Travels {
    pub(super) sent: Vec<Logged>,
    pub(super) accepted: Vec<Logged>,
}

/// The log of one partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct SteadyLog {
    hosts: Hosts,
    pub(super) departures: Vec<Departure>,
    pub(super) sent: Vec<Logged>,
    pub(super) accepted: Vec<Logged>,
    /// Packets for the comparison of whole steps; kept when the rest is cleared.
    pub(super) travels: Option<Box<Travels>>,
}

impl SteadyLog {
    /// Makes a log of one host's departures.
    pub(super) fn of_host(node: LocalNode) -> SteadyLog {
        SteadyLog {
            hosts: Hosts::One(node),
            ..SteadyLog::default()
        }
    }

    /// Makes a log of all hosts, which continues `travels`.
    pub(super) fn of_all(travels: Option<Box<Travels>>) -> SteadyLog {
        SteadyLog {
            travels,
            ..SteadyLog::default()
        }
    }

    /// Makes a log that only continues `travels`.
    pub(super) fn of_travels(travels: Box<Travels>) -> SteadyLog {
        SteadyLog {
            hosts: Hosts::None,
            travels: Some(travels),
            ..SteadyLog::default()
        }
    }

    /// Returns true if the log observes this host.
    #[inline]
    pub(crate) fn wants(&self, node: LocalNode) -> bool {
        let is_listened_to = match self.hosts {
            Hosts::None => false,
            Hosts::One(only) => only == node,
            Hosts::All => true,
        };
        is_listened_to || self.travels.is_some()
    }

    /// Clears all lists except `travels`.
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
        // A period is guessed from departures alone, control packets included.
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
