//! A pause storm that lasts.

/// A NIC that pauses its leaf whatever it receives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Storm {
    /// When it next says so.
    pub(super) next: u64,
    pub(super) interval: u64,
}
