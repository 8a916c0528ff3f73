//! Changes of a link during a trial.

use tenter_flow::FlowRate;

/// State of a link that has changed since the trial began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkState {
    pub(super) is_down: bool,
    /// The degraded rate; `None` while the link has the rate it began with.
    pub(super) rate: Option<FlowRate>,
}
