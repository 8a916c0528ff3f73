//! Events on a connection from which a congestion control learns.

use tenter_units::{Instant, Time};

/// An acknowledgement, as a congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) now: Instant,
    /// Time from the answered packet's first bit to the answer's arrival, or `None` if it is
    /// unknown which transmission is answered.
    pub(crate) round_trip: Option<Time>,
    /// Set if the answered packet was marked.
    pub(crate) marked: bool,
    /// Wire bytes that have reached the receiver since the last answer.
    pub(crate) news: u64,
    /// Wire bytes in flight after this answer.
    pub(crate) in_flight: u64,
}

/// A report that a packet was trimmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trim {
    pub(crate) now: Instant,
    pub(crate) round_trip: Time,
    /// The packet's wire bytes before it was trimmed.
    pub(crate) bytes: u64,
    /// Set if the switch port towards the receiver trimmed it.
    pub(crate) at_last_hop: bool,
    /// Wire bytes in flight, this packet included.
    pub(crate) in_flight: u64,
}
