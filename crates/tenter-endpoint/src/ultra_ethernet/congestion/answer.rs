//! What a congestion control hears of the packets of its connection.

use tenter_units::{Instant, Time};

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) now: Instant,
    /// From the first bit of the packet that is answered to the answer; `None` where it is unknown
    /// which of its transmissions is.
    pub(crate) round_trip: Option<Time>,
    /// Whether that packet was marked.
    pub(crate) marked: bool,
    /// Bytes that the receiver has got since the last answer.
    pub(crate) news: u64,
    /// Bytes under way now.
    pub(crate) in_flight: u64,
}

/// What the report of a trimmed packet says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trim {
    pub(crate) now: Instant,
    pub(crate) round_trip: Time,
    /// Bytes of the packet before it was trimmed.
    pub(crate) bytes: u64,
    /// Whether it was trimmed at the port of its receiver.
    pub(crate) at_last_hop: bool,
    /// Bytes under way, with this packet.
    pub(crate) in_flight: u64,
}
