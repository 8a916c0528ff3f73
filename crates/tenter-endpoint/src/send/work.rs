//! Work that queue pairs are given, and its end.

use tenter_net::SendSlot;
use tenter_units::Instant;

use crate::nic::held_by_rate::HeldByRate;

/// What the workload asks a queue pair to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkRequest {
    /// The workload's name for it.
    pub tag: u64,
    /// The workload's name for the requests it belongs with.
    pub group: u32,
    /// Payload bytes.
    pub bytes: u64,
    /// When it is posted, in ps.
    pub posted: Instant,
}

/// A work request whose last packet has been acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// The send slot.
    pub slot: SendSlot,
    /// The request.
    pub request: WorkRequest,
    /// When its first bit left, in ps.
    pub first_sent: Instant,
    /// When the acknowledgement arrived, in ps.
    pub at: Instant,
    /// Frames sent for it, retransmissions included.
    pub sent_frames: u64,
    /// Their frame bytes.
    pub sent_bytes: u64,
    /// How many of the frames had been sent before.
    pub retransmitted_frames: u64,
    /// How long congestion control held it back.
    pub held: HeldByRate,
}
