//! Whether a link is down, and its present rate.

use tenter_flow::FlowRate;

/// A link that has changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkState {
    pub(super) is_down: bool,
    /// Its rate where that is not the one it began with.
    pub(super) rate: Option<FlowRate>,
}
