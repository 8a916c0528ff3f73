//! Transfers that an NPU has under way into its scale-up domain.

use std::collections::VecDeque;

use tenter_language::units::Instant;

/// An NPU's port into its domain.
#[derive(Debug, Default)]
pub(crate) struct ScaleUpPort {
    /// Time at which the last queued transfer has been sent entirely.
    pub(super) free_at: Instant,
    /// Transfers whose end has not been sent, in sending order.
    pub(super) sending: VecDeque<Carried>,
    /// Transfers whose end is under way.
    pub(super) under_way: VecDeque<Carried>,
}

/// A transfer within a domain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    /// The sending rank's number on its host.
    pub(super) number: u16,
    pub(super) id: u32,
    pub(super) posted: Instant,
    pub(super) first_sent: Instant,
}
