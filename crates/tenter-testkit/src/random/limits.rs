//! How much a random scenario sends.

/// How much the jobs may send.
pub(super) struct Limits {
    pub(super) hosts: u64,
    /// Data packets of all jobs together, not counting those that are sent again.
    pub(super) packets: u64,
    /// Payload of a packet.
    pub(super) packet_bytes: u64,
}
