//! Links that change during a trial.

use crate::fluid::FlowRate;

/// State after a link has changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkState {
    pub(super) is_down: bool,
    /// The degraded rate; `None` while the link has the rate it began with.
    pub(super) rate: Option<FlowRate>,
}
