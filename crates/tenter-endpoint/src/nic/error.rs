//! Queue pairs that gave up.

use tenter_net::SendSlot;
use tenter_topology::HostId;
use tenter_units::Instant;

/// A queue pair that gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePairError {
    /// The send slot.
    pub slot: SendSlot,
    /// When the last retry timed out, in ps.
    pub at: Instant,
    /// The host it was sending to.
    pub destination: HostId,
}
