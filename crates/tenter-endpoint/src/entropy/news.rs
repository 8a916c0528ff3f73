//! Outcomes of packets, from which senders learn about paths.

/// Outcome of a packet, as a statement about its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathNews {
    /// The packet was acknowledged without a mark.
    Good,
    /// The packet was acknowledged with a mark.
    Marked,
    /// A switch before the last hop trimmed the packet.
    Trimmed,
    /// The packet was lost; the receiver asked for it again.
    Lost,
    /// The retransmission timeout passed without an answer.
    TimedOut,
}
