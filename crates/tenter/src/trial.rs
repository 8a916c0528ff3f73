//! Trials: the results of runs.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use tenter_fabric::net::Event;
use tenter_results::{
    CollectiveRow, Counts, FlowRow, JobRow, Names, PortRow, QueueRow, Results, SampleRow, StopKind,
    Summary, SwitchRow, Table,
};

use crate::Plan;
use tenter_sim::names;

/// Results from a run that has ended or was stopped; a stopped trial has the results up to then.
///
/// Trials from an [`Experiment`](crate::Experiment) with a folder keep no rows for ports, queues,
/// switches, flows and samples in memory: [`Trial::open`] reads them.
#[derive(Clone, Debug)]
pub struct Trial {
    pub(crate) plan: Plan,
    pub(crate) summary: Summary,
    pub(crate) counts: Counts,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) flows: Vec<FlowRow>,
    pub(crate) samples: Vec<SampleRow>,
    pub(crate) watched: Watched,
}

/// Recorded events at a [watched](crate::Run::watch) port, or between a watched pair of hosts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    /// The first events, in time order.
    pub events: Vec<Event>,
    /// Later events that were counted and not kept.
    pub omitted: u64,
}

impl Trial {
    /// The plan that was run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The summary, as in `summary.json`.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// True if every job ended and all further runs were done.
    pub fn is_complete(&self) -> bool {
        self.summary.complete
    }

    /// True if the trial's observer or handle stopped it.
    pub fn was_cancelled(&self) -> bool {
        self.summary.stopped_by == Some(StopKind::User)
    }

    /// Digest over all results, in hexadecimal: equal trials have equal digests.
    pub fn digest(&self) -> &str {
        &self.summary.engine.digest
    }

    /// The trial's folder, if one was asked for.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Borrows all results in the form from which tables are made.
    pub(crate) fn results(&self) -> Results<'_> {
        Results {
            summary: &self.summary,
            counts: &self.counts,
            flows: &self.flows,
            samples: &self.samples,
        }
    }

    /// Returns any table's rows, for instance `trial.rows::<SwitchRow>()`. The list is empty if the
    /// scenario has nothing of the kind, or if the run did not keep its flows or samples.
    pub fn rows<R: Table>(&self) -> Cow<'_, [R]> {
        R::rows(&self.results())
    }

    /// Iterates over the jobs, one row each.
    pub fn jobs(&self) -> impl Iterator<Item = &JobRow> {
        self.summary.jobs.iter().map(|job| &job.job)
    }

    /// Iterates over the collectives, job by job, with one row for each iteration.
    pub fn collectives(&self) -> impl Iterator<Item = &CollectiveRow> {
        self.summary.jobs.iter().flat_map(|job| &job.collectives)
    }

    /// Counters, one row for each port.
    pub fn ports(&self) -> &[PortRow] {
        &self.counts.ports
    }

    /// Counters, one row for each queue.
    pub fn queues(&self) -> &[QueueRow] {
        &self.counts.queues
    }

    /// Counters, one row for each switch.
    pub fn switches(&self) -> &[SwitchRow] {
        &self.counts.switches
    }

    /// One row for each flow, if [`Run::keep_flows`](crate::Run::keep_flows) asked for them;
    /// otherwise empty.
    pub fn flows(&self) -> &[FlowRow] {
        &self.flows
    }

    /// Port samples, if [`Run::keep_samples`](crate::Run::keep_samples) asked for them; otherwise
    /// empty.
    pub fn samples(&self) -> &[SampleRow] {
        &self.samples
    }

    /// Job and node names, to which rows refer by index.
    pub fn names(&self) -> Names {
        names(self.plan.resolved())
    }

    /// Keeps the summary alone: on a large fabric, many trials' tables would fill the memory.
    pub(crate) fn without_tables(self) -> Trial {
        Trial {
            counts: Counts::default(),
            flows: Vec::new(),
            samples: Vec::new(),
            ..self
        }
    }

    /// Drops flows and samples, which take most of the memory.
    #[must_use]
    pub fn without_rows(self) -> Trial {
        Trial {
            flows: Vec::new(),
            samples: Vec::new(),
            ..self
        }
    }

    /// Events that were recorded; empty unless the run was [watched](crate::Run::watch).
    pub fn watched(&self) -> &Watched {
        &self.watched
    }

    /// Counters for ports, queues and switches.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}
