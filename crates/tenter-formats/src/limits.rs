//! What no file may have more of.

/// No message is longer, in bytes.
pub(crate) const MESSAGE_MAX: u64 = 1 << 50;
/// No file has more ranks.
pub(crate) const RANKS_MAX: u64 = 1 << 20;
