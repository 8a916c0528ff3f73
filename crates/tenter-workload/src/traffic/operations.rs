//! Graphs of operations as what the ranks of a job send.

use std::sync::Arc;

use tenter_units::Time;

use crate::closed_form::IdealSwitch;
use crate::collective::CollectiveKind;
use crate::graph::{Graph, GraphError, GraphSchedule, Marks, Timing};
use crate::inference::InferenceRun;
use crate::training::TrainingStep;
use crate::{Schedule, WorkloadError};

/// A graph of operations, and what its operations take.
#[derive(Clone, Debug, PartialEq)]
pub struct Operations {
    /// The graph.
    pub graph: Arc<Graph>,
    /// What operations take beside what they are for.
    pub timing: Timing,
    /// What is known of it before it runs, where it is of a model.
    pub known: Option<Known>,
}

/// What is known of a graph that a model and its parallelism have made.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// The step of a training.
    Training(Arc<TrainingStep>),
    /// Requests, and the batches that serve them.
    Inference(Arc<InferenceRun>),
}

impl Known {
    /// The operations whose times are to be kept.
    fn marks(&self) -> Marks {
        match self {
            Known::Training(_) => Marks::default(),
            Known::Inference(run) => Arc::clone(&run.marks),
        }
    }
}

impl Operations {
    /// The step of a training, where it is one.
    pub fn step(&self) -> Option<&TrainingStep> {
        match &self.known {
            Some(Known::Training(step)) => Some(step),
            _ => None,
        }
    }

    /// The requests of an inference, where it is one.
    pub fn inference(&self) -> Option<&InferenceRun> {
        match &self.known {
            Some(Known::Inference(run)) => Some(run),
            _ => None,
        }
    }

    /// One run of the graph.
    pub(super) fn schedule(&self, ranks: u32) -> Result<Box<dyn Schedule>, WorkloadError> {
        let found = self.graph.ranks();
        if found != ranks {
            return Err(WorkloadError::RanksDisagree { ranks, found });
        }
        let schedule = GraphSchedule::new(Arc::clone(&self.graph), self.timing);
        schedule
            .map(|schedule| match &self.known {
                Some(known) => schedule.metered(known.marks()),
                None => schedule,
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
