//! A link whose receiver may pause its sender.

use tenter_language::units::{Rate, Time};

/// Delays and sizes of a link whose receiver may pause its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PausedLink {
    /// Line rate in both directions.
    pub rate: Rate,
    /// Most by which the sender's clock may be fast, in parts per million.
    pub fast_ppm: u32,
    /// Propagation delay in each direction.
    pub cable_delay: Time,
    /// Time from a pause frame's arrival at the sender to the last instant at which the sender
    /// starts a frame in the class, that instant included.
    pub response_time: Time,
    /// Time from a largest frame's start at the sender to its arrival where it is charged.
    pub flight: Time,
    /// Largest frame in the class, in frame bytes; not zero.
    pub frame_bytes: u32,
    /// Largest frame in the other direction, in wire bytes: the pause frame may have to wait for
    /// it.
    pub reverse_wire_bytes: u32,
}
