//! State of a running trial at the coordinator.

use std::path::PathBuf;

use tenter::report::TrialFolder;
use tenter_results::FlowRow;
use tenter_sim::real_time::RealBooks;

use super::agents::Agents;
use super::jobs::JobRun;
use crate::control::{AgentReport, Offer};

/// Options that a trial is started with.
#[derive(Clone, Debug)]
pub struct LabRun {
    /// Folder to write the trial into.
    pub folder: PathBuf,
    /// The command line, for the trial's manifest.
    pub command: Vec<String>,
}

/// Observer of a running trial, which may end it.
pub trait Observed {
    /// Receives how many collectives have ended, and how many the trial has. Returns false to end
    /// the trial.
    fn collective(&mut self, ended: u32, of: u32) -> bool;
    /// Receives a problem as a sentence.
    fn problem(&mut self, what: &str);
    /// Returns false to end the trial; asked several times a second.
    fn goes_on(&mut self) -> bool {
        true
    }
}

impl Observed for () {
    fn collective(&mut self, _: u32, _: u32) -> bool {
        true
    }
    fn problem(&mut self, _: &str) {}
}

/// A trial while it runs.
pub(super) struct Trial<'a> {
    pub(super) agents: Agents,
    /// The flow table, which joins the halves that hosts record.
    pub(super) books: RealBooks,
    pub(super) jobs: Vec<JobRun>,
    pub(super) folder: TrialFolder,
    /// The agents' last reports, by host.
    pub(super) reports: Vec<Option<AgentReport>>,
    /// The coordinator's clock when the trial started.
    pub(super) epoch_ns: u64,
    /// Recorded halves that fit no flow.
    pub(super) refused: u64,
    /// Problems so far, oldest first; any entry ends the trial, and the first becomes its reason.
    pub(super) problems: Vec<String>,
    pub(super) ended_by_user: bool,
    /// Scratch for flows that both hosts have reported.
    pub(super) rows: Vec<FlowRow>,
    /// Agents that are ready for the trial, by host.
    pub(super) opened: Vec<bool>,
    /// Each agent's offers to its peers, by host, if RDMA hardware carries the data.
    pub(super) offers: Vec<Option<Vec<Offer>>>,
    pub(super) observer: &'a mut dyn Observed,
}

impl Trial<'_> {
    /// Returns the time since the trial started, in ps, by the coordinator's clock.
    pub(super) fn now_ps(&self) -> u64 {
        let since = self.agents.clock.now_ns().saturating_sub(self.epoch_ns);
        since.saturating_mul(1_000)
    }
}
