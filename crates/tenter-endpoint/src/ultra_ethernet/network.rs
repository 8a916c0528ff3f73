//! What all NICs of a fabric know of it.

use std::sync::Arc;

use tenter_net::WIRE_OVERHEAD_BYTES;
use tenter_units::{Rate, Time};

use super::acknowledgement::Acknowledgements;
use super::congestion::Link;
use super::spec::UltraEthernet;

/// What all NICs of a fabric know of it, and share.
#[derive(Debug)]
pub struct Network {
    /// The transport.
    pub spec: UltraEthernet,
    /// The longest round trip without load.
    pub round_trip: Time,
    /// How long a full queue takes to drain.
    pub queue_drain: Time,
    /// Whether switches trim packets rather than drop them.
    pub trims: bool,
    /// The rate of hosts over that of the core; 1 where no tier is oversubscribed.
    pub oversubscription: f64,
    /// What each entropy value makes of the hash that switches see, by exclusive or.
    pub differences: Box<[u32]>,
    /// From which all entropy values are drawn.
    pub seed: u64,
    /// What acknowledgements say that does not fit into a packet.
    pub acknowledgements: Arc<Acknowledgements>,
}

impl Network {
    /// What a congestion control knows, of a NIC on a line.
    pub(super) fn link(&self, line: Rate) -> Link {
        let full = u64::from(self.spec.full_frame_bytes() + WIRE_OVERHEAD_BYTES);
        Link {
            round_trip: self.round_trip(),
            line: line.bits_per_second(),
            payload: u64::from(self.spec.payload_bytes),
            full,
            trims: self.trims,
            oversubscription: self.oversubscription,
            initial_window: self
                .spec
                .initial_window
                .map(|packets| u64::from(packets) * full),
        }
    }

    /// The longest round trip, measured or given.
    pub(super) fn round_trip(&self) -> Time {
        self.spec.round_trip.unwrap_or(self.round_trip)
    }

    /// Full packets after which a receiver acknowledges unasked.
    pub(super) fn answered_together(&self) -> u32 {
        let bytes = self.spec.acknowledge_after.count();
        let packets = bytes.div_ceil(u64::from(self.spec.payload_bytes));
        u32::try_from(packets.max(1)).unwrap_or(u32::MAX)
    }

    /// For how long a packet may stay unacknowledged.
    pub(super) fn timeout(&self) -> Time {
        let own = Time::from_us(15) + self.queue_drain * 6;
        self.spec.retransmission_timeout.unwrap_or(own)
    }
}
