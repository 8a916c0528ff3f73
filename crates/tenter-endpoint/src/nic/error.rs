//! Queue pairs that have given up.

use tenter_fabric::net::SendSlot;
use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;

/// A queue pair that has given up after its last retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePairError {
    /// Send queue pair at this NIC.
    pub slot: SendSlot,
    /// Instant at which the last retry timed out.
    pub at: Instant,
    /// Host to which it was sending.
    pub destination: HostId,
}
