//! A trial of a workspace.

use std::path::PathBuf;

/// How far a trial of a workspace is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialState {
    /// It waits to be run.
    Queued,
    /// A process runs it.
    Running,
    /// Every job was done.
    Done,
    /// It has ended, and a job was not done: a deadlock, a time limit.
    Incomplete,
    /// It could not be run, or failed.
    Failed,
    /// A person has stopped it; what it had until then is kept.
    Cancelled,
    /// The process that ran it is gone.
    Interrupted,
}

impl TrialState {
    /// All of them.
    pub const ALL: [TrialState; 7] = [
        TrialState::Queued,
        TrialState::Running,
        TrialState::Done,
        TrialState::Incomplete,
        TrialState::Failed,
        TrialState::Cancelled,
        TrialState::Interrupted,
    ];

    /// What it is called in the ledger, on the command line and by the server.
    pub fn word(self) -> &'static str {
        match self {
            TrialState::Queued => "queued",
            TrialState::Running => "running",
            TrialState::Done => "done",
            TrialState::Incomplete => "incomplete",
            TrialState::Failed => "failed",
            TrialState::Cancelled => "cancelled",
            TrialState::Interrupted => "interrupted",
        }
    }

    /// The state of that name.
    pub fn of_word(word: &str) -> Option<TrialState> {
        TrialState::ALL
            .into_iter()
            .find(|state| state.word() == word)
    }
}

/// What a list shows of the results of a trial, as the head of its report does: the completion time
/// of the measured job that took longest, and the measured collective with the lowest share of its
/// ideal. Both name their job, for they may be of different ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Headline {
    /// The fabric in one line; empty where it is not known.
    pub fabric: String,
    /// NICs of the fabric.
    pub hosts: Option<u64>,
    /// Jobs.
    pub jobs: Option<u64>,
    /// The longest completion time of a measured job in nanoseconds.
    pub jct_ns: Option<f64>,
    /// The name of that job.
    pub jct_job: Option<String>,
    /// The collective that the following three are of: the measured one with the lowest share of
    /// its ideal, or the largest where none has an ideal. For instance `all-reduce, 256 MiB`; where
    /// several jobs are measured, `train: all-reduce, 256 MiB`.
    pub collective: Option<String>,
    /// Its ideal time over its time, in percent.
    pub ideal_percent: Option<f64>,
    /// Its algorithm bandwidth in GB/s.
    pub algbw_gbytes_per_s: Option<f64>,
    /// Its bus bandwidth in GB/s.
    pub busbw_gbytes_per_s: Option<f64>,
    /// The percentages of the first measured collectives in run order, at most 64.
    pub ideals: Vec<Option<f64>>,
    /// Digest of all results, in hexadecimal.
    pub digest: Option<String>,
    /// Seed of every random stream.
    pub seed: Option<u64>,
    /// Wall time of the simulation in seconds.
    pub wall_s: Option<f64>,
}

/// A trial of a workspace, as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkspaceTrial {
    /// Its number in the workspace; it is never given to another one.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// How far it is.
    pub state: TrialState,
    /// Words that people have given it, in the order of the alphabet.
    pub tags: Vec<String>,
    /// When it was queued or found, in seconds since 1970.
    pub created: f64,
    /// When it began to run.
    pub started: Option<f64>,
    /// When it ended.
    pub ended: Option<f64>,
    /// Why it failed.
    pub error: Option<String>,
    /// Its folder; none before it has run.
    pub folder: Option<PathBuf>,
    /// The sweep that it is part of.
    pub sweep: Option<i64>,
    /// Its results at a glance.
    pub headline: Headline,
}
