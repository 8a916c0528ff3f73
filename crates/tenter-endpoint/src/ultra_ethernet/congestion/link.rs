//! The network and the NIC, as a congestion control sees them.

use tenter_units::Time;

/// What a congestion control knows of the network and of its NIC; bytes are those on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// The longest round trip of the network without load.
    pub(crate) round_trip: Time,
    /// The rate of the line, in bits per second.
    pub(crate) line: u64,
    /// Payload bytes of a full packet.
    pub(crate) payload: u64,
    /// Wire bytes of a full packet.
    pub(crate) full: u64,
    /// Whether switches trim packets rather than drop them.
    pub(crate) trims: bool,
    /// The rate of hosts over that of the core; 1 where no tier is oversubscribed.
    pub(crate) oversubscription: f64,
    /// The window of a new connection, where it is given, in bytes.
    pub(crate) initial_window: Option<u64>,
}

impl Link {
    /// The bytes that fill a round trip.
    pub(crate) fn product(&self, round_trip: Time) -> u64 {
        let bits = u128::from(self.line) * u128::from(round_trip.ps());
        (bits / 8_000_000_000_000) as u64
    }

    /// The largest window at this round trip: 1.5 times what fills it.
    pub(crate) fn max_window(&self, round_trip: Time) -> u64 {
        self.product(round_trip) * 3 / 2
    }

    /// A window between a packet and the most; that may be less than a packet where a round trip is
    /// short.
    pub(crate) fn bounded(&self, window: u64, most: u64) -> u64 {
        window.clamp(self.full, most.max(self.full))
    }

    /// The window of a new connection.
    pub(crate) fn first_window(&self) -> u64 {
        let most = self.max_window(self.round_trip);
        self.initial_window.unwrap_or(most).max(self.full)
    }
}
