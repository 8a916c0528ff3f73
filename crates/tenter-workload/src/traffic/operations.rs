//! Graphs of operations as what the ranks of a job send.

use std::sync::Arc;

use tenter_units::Time;

use crate::closed_form::IdealSwitch;
use crate::collective::CollectiveKind;
use crate::graph::{Graph, GraphError, GraphSchedule, Timing};
use crate::training::TrainingStep;
use crate::{Schedule, WorkloadError};

/// A graph of operations, and what its operations take.
#[derive(Clone, Debug, PartialEq)]
pub struct Operations {
    /// The graph.
    pub graph: Arc<Graph>,
    /// What operations take beside what they are for.
    pub timing: Timing,
    /// What is known of the step of a training, where it is one.
    pub step: Option<Arc<TrainingStep>>,
}

impl Operations {
    /// One run of the graph.
    pub(super) fn schedule(&self, ranks: u32) -> Result<Box<dyn Schedule>, WorkloadError> {
        let found = self.graph.ranks();
        if found != ranks {
            return Err(WorkloadError::RanksDisagree { ranks, found });
        }
        let schedule = GraphSchedule::new(Arc::clone(&self.graph), self.timing);
        let is_metered = self.step.is_some();
        schedule
            .map(|schedule| {
                if is_metered {
                    schedule.metered()
                } else {
                    schedule
                }
            })
            .map(|schedule| Box::new(schedule) as Box<dyn Schedule>)
            .map_err(|error| match error {
                GraphError::Collective(error) => error,
                error => WorkloadError::Operations(error.to_string()),
            })
    }

    /// A lower bound: what the busiest port takes for all of its messages, what a group takes for
    /// its collectives one after the other, or the longest that a stream computes.
    pub(super) fn ideal_time(&self, switch: &IdealSwitch<'_>) -> Time {
        let mut longest = self.computing();
        if self.graph.messages() > 0 {
            let port = (switch.port_time)(self.graph.busiest_bytes());
            longest = longest.max(port.saturating_add(switch.latency));
        }
        longest.max(self.collectives_time(switch))
    }

    /// The longest that the collectives of a group take on an ideal switch.
    fn collectives_time(&self, switch: &IdealSwitch<'_>) -> Time {
        let collectives = self.graph.collectives();
        let mut groups = vec![Time::ZERO; collectives.groups() as usize];
        // Collectives of a group are often alike.
        let mut last: Option<((u32, &CollectiveKind, u64), Time)> = None;
        for number in 0..collectives.len() as u32 {
            let of = collectives.get(number);
            let time = match last {
                Some((before, time)) if before == of => time,
                _ => of.1.ideal_completion(&IdealSwitch {
                    ranks: collectives.ranks_of(of.0).len() as u32,
                    size_bytes: of.2,
                    ..*switch
                }),
            };
            last = Some((of, time));
            let sum = &mut groups[of.0 as usize];
            *sum = sum.saturating_add(time);
        }
        groups.into_iter().max().unwrap_or_default()
    }

    /// The longest that a stream of any rank computes or waits for a time to come.
    pub fn computing(&self) -> Time {
        let computing = self.timing.computing(self.graph.longest_stream());
        computing.max(self.graph.longest_wait())
    }
}
