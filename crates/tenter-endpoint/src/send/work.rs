//! Work requests of the workload, and their completion.

use tenter_fabric::net::SendSlot;
use tenter_language::units::Instant;

use crate::nic::held_by_rate::HeldByRate;

/// One work request: data that the workload posts to a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkRequest {
    /// Identifies the request to the workload; the NIC passes it back.
    pub tag: u64,
    /// Identifies the workload's group of requests; the NIC passes it back.
    pub group: u32,
    /// Payload bytes that are to be sent.
    pub bytes: u64,
    /// Instant at which it is posted.
    pub posted: Instant,
}

/// A work request that is fully acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// Send queue pair at this NIC.
    pub slot: SendSlot,
    /// The request as it was posted.
    pub request: WorkRequest,
    /// Departure of the request's first bit.
    pub first_sent: Instant,
    /// Arrival of the last acknowledgement.
    pub at: Instant,
    /// Frames sent for the request, retransmissions included.
    pub sent_frames: u64,
    /// Frame bytes of the sent frames.
    pub sent_bytes: u64,
    /// Frames among them that were retransmissions.
    pub retransmitted_frames: u64,
    /// Time for which congestion control held the request back.
    pub held: HeldByRate,
}
