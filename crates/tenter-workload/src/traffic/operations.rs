//! Graphs of operations as what the ranks of a job send.

use std::sync::Arc;

use tenter_units::Time;

use crate::closed_form::IdealSwitch;
use crate::graph::{Graph, GraphError, GraphSchedule, Timing};
use crate::{Schedule, WorkloadError};

/// A graph of operations, and what its operations take.
#[derive(Clone, Debug, PartialEq)]
pub struct Operations {
    /// The graph.
    pub graph: Arc<Graph>,
    /// What operations take beside what they are for.
    pub timing: Timing,
}

impl Operations {
    /// One run of the graph.
    pub(super) fn schedule(&self, ranks: u32) -> Result<Box<dyn Schedule>, WorkloadError> {
        let found = self.graph.ranks();
        if found != ranks {
            return Err(WorkloadError::RanksDisagree { ranks, found });
        }
        let schedule = GraphSchedule::new(Arc::clone(&self.graph), self.timing);
        schedule
            .map(|schedule| Box::new(schedule) as Box<dyn Schedule>)
            .map_err(|error| match error {
                GraphError::Collective(error) => error,
                error => WorkloadError::Operations(error.to_string()),
            })
    }

    /// A lower bound: what the busiest port takes for all of its messages, or the longest that a
    /// stream computes.
    pub(super) fn ideal_time(&self, switch: &IdealSwitch<'_>) -> Time {
        if self.graph.messages() == 0 && self.graph.collectives().is_empty() {
            return self.computing();
        }
        let port = (switch.port_time)(switch.size_bytes);
        self.computing().max(port.saturating_add(switch.latency))
    }

    /// The longest that a stream of any rank computes.
    pub fn computing(&self) -> Time {
        self.timing.computing(self.graph.longest_stream())
    }
}
