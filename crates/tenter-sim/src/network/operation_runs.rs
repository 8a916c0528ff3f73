//! Where the ranks of a host stand in their graphs of operations.

use std::collections::BTreeMap;

use tenter_workload::Countdown;
use tenter_workload::graph::{Action, RankRun};

/// Where the ranks of a host with a graph of operations stand.
#[derive(Debug, Default)]
pub(crate) struct OperationRuns {
    /// By the number of the rank on its host.
    pub(crate) runs: BTreeMap<u16, RankRun>,
    /// Queue pairs that have not acknowledged their share of a transfer that is done once it is
    /// acknowledged, by the number of the rank and transfer.
    pub(crate) unacknowledged: Countdown<(u16, u32)>,
    /// Scratch space.
    pub(crate) actions: Vec<Action>,
}

impl OperationRuns {
    /// Forgets the ranks of some numbers.
    pub(crate) fn forget(&mut self, is_over: impl Fn(u16) -> bool) {
        self.runs.retain(|number, _| !is_over(*number));
        self.unacknowledged.forget(|(number, _)| is_over(*number));
    }
}
