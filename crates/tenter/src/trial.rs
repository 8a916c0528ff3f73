//! A trial: what a run has left.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use tenter_net::Event;
use tenter_record::{
    CollectiveRow, Counts, FlowRow, JobRow, Names, PortRow, QueueRow, Results, SampleRow, StopKind,
    Summary, SwitchRow, Table,
};

use crate::Plan;
use tenter_sim::names;

/// A trial that has come to its end, or was stopped: then it has what was done until that.
///
/// The trials of an [`Experiment`](crate::Experiment) with a folder have no rows of ports, queues,
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

/// What was seen of a flow or a port that was watched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    /// Its first events, in the order of time.
    pub events: Vec<Event>,
    /// How many more there were.
    pub omitted: u64,
}

impl Trial {
    /// What was run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Everything about the trial at a glance, as `summary.json` has it.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Whether every job was done.
    pub fn is_complete(&self) -> bool {
        self.summary.complete
    }

    /// Whether its caller has stopped it.
    pub fn was_cancelled(&self) -> bool {
        self.summary.stopped_by == Some(StopKind::User)
    }

    /// Digest of all results, in hexadecimal: equal trials have equal digests.
    pub fn digest(&self) -> &str {
        &self.summary.engine.digest
    }

    /// Its folder, where it was asked for.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// All of it, from which tables are made.
    pub(crate) fn results(&self) -> Results<'_> {
        Results {
            summary: &self.summary,
            counts: &self.counts,
            flows: &self.flows,
            samples: &self.samples,
        }
    }

    /// The rows of any table, for instance `trial.rows::<SwitchRow>()`: none where its scenario has
    /// nothing of the kind, and none of flows and samples that the run did not keep.
    pub fn rows<R: Table>(&self) -> Cow<'_, [R]> {
        R::rows(&self.results())
    }

    /// One row for each job.
    pub fn jobs(&self) -> impl Iterator<Item = &JobRow> {
        self.summary.jobs.iter().map(|job| &job.job)
    }

    /// One row for each collective and iteration, job by job.
    pub fn collectives(&self) -> impl Iterator<Item = &CollectiveRow> {
        self.summary.jobs.iter().flat_map(|job| &job.collectives)
    }

    /// One row for each port.
    pub fn ports(&self) -> &[PortRow] {
        &self.counts.ports
    }

    /// One row for each queue.
    pub fn queues(&self) -> &[QueueRow] {
        &self.counts.queues
    }

    /// One row for each switch.
    pub fn switches(&self) -> &[SwitchRow] {
        &self.counts.switches
    }

    /// One row for each chunk on its queue pair, where [`Run::keep_flows`](crate::Run::keep_flows)
    /// asked for them; otherwise none.
    pub fn flows(&self) -> &[FlowRow] {
        &self.flows
    }

    /// Samples of the ports, where [`Run::keep_samples`](crate::Run::keep_samples) asked for them;
    /// otherwise none.
    pub fn samples(&self) -> &[SampleRow] {
        &self.samples
    }

    /// The names that rows refer to by index: of jobs and of nodes.
    pub fn names(&self) -> Names {
        names(self.plan.resolved())
    }

    /// The same with its summary alone: on a large fabric many trials fill the memory.
    pub(crate) fn without_tables(self) -> Trial {
        Trial {
            counts: Counts::default(),
            flows: Vec::new(),
            samples: Vec::new(),
            ..self
        }
    }

    /// The same without its flows and samples, which take most of the memory.
    #[must_use]
    pub fn without_rows(self) -> Trial {
        Trial {
            flows: Vec::new(),
            samples: Vec::new(),
            ..self
        }
    }

    /// What was watched.
    pub fn watched(&self) -> &Watched {
        &self.watched
    }

    /// What ports, queues and switches have counted.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}
