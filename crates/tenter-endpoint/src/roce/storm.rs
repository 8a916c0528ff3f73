//! A pause storm that lasts.

use tenter_units::{Instant, Time};

/// A NIC that pauses its leaf whatever it receives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Storm {
    /// When it next says so.
    pub(super) next: Instant,
    pub(super) interval: Time,
}
