//! Trials of a workspace.

use std::path::PathBuf;

/// State of a trial or sweep in a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialState {
    /// It waits to be run.
    Queued,
    /// A process runs it.
    Running,
    /// It has ended, and every job was done.
    Done,
    /// It has ended, but a job was not done, for instance after a deadlock or a time limit.
    Incomplete,
    /// It could not be run, or the run failed.
    Failed,
    /// A person stopped it; the results up to then are kept.
    Cancelled,
    /// The process that ran it is gone.
    Interrupted,
}

impl TrialState {
    /// All states, in the order in which a trial may pass them.
    pub const ALL: [TrialState; 7] = [
        TrialState::Queued,
        TrialState::Running,
        TrialState::Done,
        TrialState::Incomplete,
        TrialState::Failed,
        TrialState::Cancelled,
        TrialState::Interrupted,
    ];

    /// Word for the state in the ledger, on the command line and in the server's answers.
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

    /// Returns the state for a [word](TrialState::word).
    pub fn of_word(word: &str) -> Option<TrialState> {
        TrialState::ALL
            .into_iter()
            .find(|state| state.word() == word)
    }
}

/// A trial's results at a glance, in lists and at the head of its report: the completion time of
/// the measured job that took longest, and the measured collective with the lowest share of its
/// ideal. Both name their job, since these may differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Headline {
    /// The fabric in one line; empty if it is not known.
    pub fabric: String,
    /// NICs in the fabric.
    pub hosts: Option<u64>,
    /// Jobs in the scenario, background jobs included.
    pub jobs: Option<u64>,
    /// Longest completion time among the measured jobs, in ns.
    pub jct_ns: Option<f64>,
    /// Name of that job.
    pub jct_job: Option<String>,
    /// The collective that `ideal_percent`, `algbw_gbytes_per_s` and `busbw_gbytes_per_s` describe:
    /// the measured one with the lowest share of its ideal, or the largest if none has an ideal.
    /// For instance `all-reduce, 256 MiB`, or `train: all-reduce, 256 MiB` if several jobs are
    /// measured.
    pub collective: Option<String>,
    /// Ideal time over completion time, in percent.
    pub ideal_percent: Option<f64>,
    /// Algorithm bandwidth, in GB/s (10⁹ bytes).
    pub algbw_gbytes_per_s: Option<f64>,
    /// Bus bandwidth by the nccl-tests factor, in GB/s (10⁹ bytes).
    pub busbw_gbytes_per_s: Option<f64>,
    /// Ideal percentages for the first measured collectives in run order, at most 64; `None` for
    /// those without an ideal.
    pub ideals: Vec<Option<f64>>,
    /// Digest over all results, in hexadecimal.
    pub digest: Option<String>,
    /// Seed from which every random stream derives.
    pub seed: Option<u64>,
    /// Wall time that the simulation took, in seconds.
    pub wall_s: Option<f64>,
}

/// A trial's place in the design of its sweep, and what was read of it there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweptPlace {
    /// Index of its variant.
    pub variant: usize,
    /// Index of its point.
    pub point: usize,
    /// A value for each reading; empty for a failed trial.
    pub readings: Vec<Option<f64>>,
}

/// A trial of a workspace, as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkspaceTrial {
    /// Number in the workspace; a removed trial's number is not used again.
    pub id: i64,
    /// Name that people gave it; need not be unique.
    pub name: String,
    /// State of the trial.
    pub state: TrialState,
    /// Tags that people gave it, in alphabetical order.
    pub tags: Vec<String>,
    /// Time at which it was queued or found, in seconds since 1970.
    pub created: f64,
    /// Time at which it began to run, in seconds since 1970.
    pub started: Option<f64>,
    /// Time at which it ended, in seconds since 1970.
    pub ended: Option<f64>,
    /// Reason why it failed, was stopped, or has a folder that is refused.
    pub error: Option<String>,
    /// Folder of the trial; `None` before it runs, or if it was refused.
    pub folder: Option<PathBuf>,
    /// Number of the sweep to which it belongs, if any.
    pub sweep: Option<i64>,
    /// Place in that sweep.
    pub place: Option<SweptPlace>,
    /// Results at a glance.
    pub headline: Headline,
}
