//! Amount of traffic in a random scenario.

/// Traffic limits for all jobs.
pub(super) struct Limits {
    pub(super) hosts: u64,
    /// Data packets that all jobs may send together, without retransmissions.
    pub(super) packets: u64,
    /// Payload bytes in an average packet.
    pub(super) packet_bytes: u64,
}
