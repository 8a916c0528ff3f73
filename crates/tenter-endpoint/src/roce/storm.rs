//! Pause storms: a NIC that pauses its leaf without end.

use tenter_language::units::{Instant, Time};

/// A NIC that pauses its leaf again and again, whatever it receives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Storm {
    /// Instant of the next pause frame.
    pub(super) next: Instant,
    /// Time between pause frames, half the duration of a pause.
    pub(super) interval: Time,
}
