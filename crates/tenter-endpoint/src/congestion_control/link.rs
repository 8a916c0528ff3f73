//! Facts about the network and the NIC that congestion controls use.

use tenter_language::units::{Rate, Time};

use super::{SECOND, part_of};

/// Facts about the network and the NIC. Sizes are wire bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Longest round trip through the unloaded network.
    pub(crate) round_trip: Time,
    /// Line rate, in bits per second.
    pub(crate) line: u64,
    /// A full packet's payload bytes.
    pub(crate) payload: u64,
    /// A full packet's wire bytes.
    pub(crate) full: u64,
    /// Bytes that fill `round_trip` at the line rate.
    pub(crate) product: u64,
    /// Set if switches trim packets rather than drop them.
    pub(crate) trims: bool,
    /// The hosts' total rate over the core's; 1 if no tier is oversubscribed.
    pub(crate) oversubscription: f64,
    /// Window for a new connection in wire bytes, if the scenario sets it.
    pub(crate) initial_window: Option<u64>,
}

impl Link {
    /// Creates the facts for a NIC on a network without trimming or oversubscription. `payload` and
    /// `full` are the payload bytes and the wire bytes of a full packet.
    pub(crate) fn new(line: Rate, round_trip: Time, payload: u64, full: u64) -> Link {
        let mut link = Link {
            round_trip,
            line: line.bits_per_second(),
            payload,
            full,
            product: 0,
            trims: false,
            oversubscription: 1.0,
            initial_window: None,
        };
        link.product = link.filling(round_trip);
        link
    }

    /// Returns the bytes that the line carries in a round trip.
    fn filling(&self, round_trip: Time) -> u64 {
        part_of(self.line, round_trip.ps(), 8 * SECOND.ps())
    }

    /// Returns the largest window for a round trip: 1.5 times the bandwidth-delay product.
    pub(crate) fn max_window(&self, round_trip: Time) -> u64 {
        self.filling(round_trip) * 3 / 2
    }

    /// Clamps a window between one packet and `most`. `most` may be less than a packet if the round
    /// trip is short.
    pub(crate) fn bounded(&self, window: u64, most: u64) -> u64 {
        window.clamp(self.full, most.max(self.full))
    }

    /// Returns the window for a new connection.
    pub(crate) fn first_window(&self) -> u64 {
        let most = self.max_window(self.round_trip);
        self.initial_window.unwrap_or(most).max(self.full)
    }

    /// Returns a link of `gbps` for tests: a round trip of 10 us, and packets of 4,096 bytes.
    #[cfg(test)]
    pub(crate) fn of_gbps(gbps: u64) -> Link {
        Link::new(Rate::from_gbps(gbps), Time::from_us(10), 4_096, 4_178)
    }
}
