//! Facts about the network that all NICs share.

use std::sync::Arc;

use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_language::units::{Rate, Time};

use super::acknowledgement::Acknowledgements;
use super::spec::UltraEthernet;
use crate::congestion_control::Link;

/// Facts about the network that all NICs share.
#[derive(Debug)]
pub struct Network {
    /// The transport's parameters, as the scenario sets them.
    pub spec: UltraEthernet,
    /// Longest round trip through the unloaded fabric.
    pub round_trip: Time,
    /// Time in which a full queue drains.
    pub queue_drain: Time,
    /// Set if switches trim packets rather than drop them.
    pub trims: bool,
    /// The hosts' total rate over the core's; 1 if no tier is oversubscribed.
    pub oversubscription: f64,
    /// XOR mask by which each entropy value changes the hash that switches see.
    pub differences: Box<[u32]>,
    /// Seed for all choices among entropy values.
    pub seed: u64,
    /// Records for the acknowledgement contents that do not fit into packets.
    pub acknowledgements: Arc<Acknowledgements>,
}

impl Network {
    /// Returns the facts that a congestion control needs, for a NIC whose line has rate `line`.
    pub(super) fn link(&self, line: Rate) -> Link {
        let full = u64::from(self.spec.full_frame_bytes() + WIRE_OVERHEAD_BYTES);
        let payload = u64::from(self.spec.payload_bytes);
        let first = self.spec.initial_window;
        Link {
            trims: self.trims,
            oversubscription: self.oversubscription,
            initial_window: first.map(|packets| u64::from(packets) * full),
            ..Link::new(line, self.round_trip(), payload, full)
        }
    }

    /// Returns the longest round trip: the one in the scenario, or else the measured one.
    pub(super) fn round_trip(&self) -> Time {
        self.spec.round_trip.unwrap_or(self.round_trip)
    }

    /// Returns the full packets after which a receiver acknowledges without being asked.
    pub(super) fn answered_together(&self) -> u32 {
        let bytes = self.spec.acknowledge_after.count();
        let packets = bytes.div_ceil(u64::from(self.spec.payload_bytes));
        u32::try_from(packets.max(1)).unwrap_or(u32::MAX)
    }

    /// Returns the time after which an unacknowledged packet is resent.
    pub(super) fn timeout(&self) -> Time {
        // Default of the Ultra Ethernet Consortium's simulator.
        let own = Time::from_us(15) + self.queue_drain * 6;
        self.spec.retransmission_timeout.unwrap_or(own)
    }
}
