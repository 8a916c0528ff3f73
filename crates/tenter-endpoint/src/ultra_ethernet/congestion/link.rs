//! Facts about the network and the NIC that congestion controls use.

use tenter_units::Time;

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
    /// Set if switches trim packets rather than drop them.
    pub(crate) trims: bool,
    /// The hosts' total rate over the core's; 1 if no tier is oversubscribed.
    pub(crate) oversubscription: f64,
    /// Window for a new connection in wire bytes, if the scenario sets it.
    pub(crate) initial_window: Option<u64>,
}

impl Link {
    /// Returns the bandwidth-delay product in bytes, for a round trip.
    pub(crate) fn product(&self, round_trip: Time) -> u64 {
        let bits = u128::from(self.line) * u128::from(round_trip.ps());
        (bits / 8_000_000_000_000) as u64
    }

    /// Returns the largest window for a round trip: 1.5 times the bandwidth-delay product.
    pub(crate) fn max_window(&self, round_trip: Time) -> u64 {
        self.product(round_trip) * 3 / 2
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
}
