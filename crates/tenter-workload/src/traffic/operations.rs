//! Operation graphs as the traffic that a job carries out.

use std::sync::Arc;

use tenter_language::units::Time;

use crate::closed_form::IdealSwitch;
use crate::collective::CollectiveKind;
use crate::graph::{Graph, GraphError, GraphSchedule, Marks, Timing};
use crate::inference::InferenceRun;
use crate::training::TrainingStep;
use crate::{Schedule, WorkloadError};

/// An operation graph with its overheads.
#[derive(Clone, Debug, PartialEq)]
pub struct Operations {
    /// Operations that all ranks carry out.
    pub graph: Arc<Graph>,
    /// Overhead, eager limit, rendezvous and computing factor for the operations.
    pub timing: Timing,
    /// Origin in a model, if a training or an inference made the graph.
    pub known: Option<Known>,
}

/// Facts about a graph that a model and its parallelism have made; known before it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// Training step that the graph carries out.
    Training(Arc<TrainingStep>),
    /// Inference requests, and the batches that serve them.
    Inference(Arc<InferenceRun>),
}

impl Known {
    /// Returns the operations whose times the run must keep.
    fn marks(&self) -> Marks {
        match self {
            Known::Training(_) => Marks::default(),
            Known::Inference(run) => Arc::clone(&run.marks),
        }
    }
}

impl Operations {
    /// Returns the training step if the graph carries one out.
    pub fn step(&self) -> Option<&TrainingStep> {
        match &self.known {
            Some(Known::Training(step)) => Some(step),
            _ => None,
        }
    }

    /// Returns the inference run if the graph carries one out.
    pub fn inference(&self) -> Option<&InferenceRun> {
        match &self.known {
            Some(Known::Inference(run)) => Some(run),
            _ => None,
        }
    }

    /// Builds the schedule for one run through the graph.
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

    /// Returns a lower bound: the busiest port's time for all its messages, a group's time for its
    /// collectives in sequence, or the longest computing time of a stream.
    pub(super) fn ideal_time(&self, switch: &IdealSwitch<'_>) -> Time {
        let mut longest = self.computing();
        if self.graph.messages() > 0 {
            let port = (switch.port_time)(self.graph.busiest_bytes());
            longest = longest.max(port.saturating_add(switch.latency));
        }
        longest.max(self.collectives_time(switch))
    }

    /// Returns the longest time that a group's collectives take on an ideal switch.
    fn collectives_time(&self, switch: &IdealSwitch<'_>) -> Time {
        let collectives = self.graph.collectives();
        let mut groups = vec![Time::ZERO; collectives.groups() as usize];
        // Neighbours in the list are often equal, so the last result is kept; closed forms may be
        // costly.
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

    /// Returns the longest time for which any rank's stream computes, or waits for a point in time.
    pub fn computing(&self) -> Time {
        let computing = self.timing.computing(self.graph.longest_stream());
        computing.max(self.graph.longest_wait())
    }
}
