//! A trial under way.

use std::path::PathBuf;

use tenter_record::FlowRow;
use tenter_report::TrialFolder;
use tenter_sim::real_time::RealBooks;

use super::agents::Agents;
use super::jobs::JobRun;
use crate::control::{AgentReport, Offer};

/// How to run a trial.
#[derive(Clone, Debug)]
pub struct LabRun {
    /// Where its folder is written.
    pub folder: PathBuf,
    /// The command, as it was typed.
    pub command: Vec<String>,
}

/// What is told while a trial runs; it may end it by answering `false`.
pub trait Observed {
    /// A collective has ended: which of how many.
    fn collective(&mut self, ended: u32, of: u32) -> bool;
    /// Something that went wrong, a sentence.
    fn problem(&mut self, what: &str);
    /// Whether to go on.
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

/// A trial under way.
pub(super) struct Trial<'a> {
    pub(super) agents: Agents,
    pub(super) books: RealBooks,
    pub(super) jobs: Vec<JobRun>,
    pub(super) folder: TrialFolder,
    pub(super) reports: Vec<Option<AgentReport>>,
    pub(super) epoch_ns: u64,
    pub(super) refused: u64,
    pub(super) problems: Vec<String>,
    pub(super) ended_by_user: bool,
    pub(super) rows: Vec<FlowRow>,
    pub(super) opened: Vec<bool>,
    /// What each agent has offered to its peers, where data goes by hardware.
    pub(super) offers: Vec<Option<Vec<Offer>>>,
    pub(super) observer: &'a mut dyn Observed,
}

impl Trial<'_> {
    /// The time of the trial, in ps.
    pub(super) fn now_ps(&self) -> u64 {
        let since = self.agents.clock.now_ns().saturating_sub(self.epoch_ns);
        since.saturating_mul(1_000)
    }
}
