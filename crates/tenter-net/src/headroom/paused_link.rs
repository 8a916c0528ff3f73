//! A link whose receiver may pause its sender.

use tenter_units::{Rate, Time};

/// A link whose receiver may pause its sender, in the terms of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PausedLink {
    /// Line rate of both directions.
    pub rate: Rate,
    /// By how many parts per million the sender's clock may be fast.
    pub fast_ppm: u32,
    /// Propagation delay of each direction.
    pub cable_delay: Time,
    /// From the arrival of a pause frame at the sender to the last instant at which it starts a
    /// frame of the class, that instant included.
    pub response_time: Time,
    /// From the start of a largest frame at the sender to its arrival where it is charged.
    pub flight: Time,
    /// The largest frame of the class, in frame bytes; not zero.
    pub frame_bytes: u32,
    /// The largest frame of the other direction, in wire bytes: the pause frame may have to wait
    /// for it.
    pub reverse_wire_bytes: u32,
}
