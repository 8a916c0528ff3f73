//! What senders hear of paths.

/// News of the path of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathNews {
    /// It was acknowledged and not marked.
    Good,
    /// It was marked.
    Marked,
    /// It was trimmed before the last hop.
    Trimmed,
    /// It was lost, and its receiver has said so.
    Lost,
    /// It was not answered in time.
    TimedOut,
}
