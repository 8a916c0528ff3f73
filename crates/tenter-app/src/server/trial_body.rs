//! Trials in the interface's form.

use serde::Serialize;
use tenter::report::printed_time;
use tenter::{SweptPlace, Time, WorkspaceTrial};
use utoipa::ToSchema;

use crate::server::state::App;

/// A trial in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct TrialRow {
    /// Number of the trial in the workspace.
    pub(crate) id: i64,
    /// Name that people gave the trial.
    name: String,
    /// State of the trial: queued, running, or how it ended.
    state: StateWord,
    /// Words that people have given it.
    tags: Vec<String>,
    /// When it was queued or found, in seconds since 1970.
    created: f64,
    /// When it began to run.
    started: Option<f64>,
    /// When it ended.
    ended: Option<f64>,
    /// Why it failed or ended early.
    error: Option<String>,
    /// The name of its folder in the workspace; missing before it has run.
    folder: Option<String>,
    /// The fabric in one line.
    fabric: String,
    /// NICs of the fabric.
    hosts: Option<u64>,
    /// Jobs.
    jobs: Option<u64>,
    /// The longest completion time of a measured job in nanoseconds.
    jct_ns: Option<f64>,
    /// The name of that job.
    jct_job: Option<String>,
    /// That time as `tenter run` prints it.
    jct_text: Option<String>,
    /// The collective of the following three: the measured one with the lowest share of its ideal,
    /// or the largest where none has an ideal; with its job where several are measured.
    collective: Option<String>,
    /// Ideal time of the collective over its time, in percent.
    ideal_percent: Option<f64>,
    /// Algorithm bandwidth of the collective in GB/s.
    algbw_gbytes_per_s: Option<f64>,
    /// Bus bandwidth of the collective in GB/s.
    busbw_gbytes_per_s: Option<f64>,
    /// The three as `tenter run` prints them.
    ideal_text: Option<String>,
    algbw_text: Option<String>,
    busbw_text: Option<String>,
    /// The percentages of the first measured collectives in run order, at most 64.
    ideals: Vec<Option<f64>>,
    /// Digest of all results, in hexadecimal.
    digest: Option<String>,
    /// Seed of every random stream, in decimal: it may have 64 bits.
    seed: Option<String>,
    /// Wall time of the simulation in seconds.
    seconds: Option<f64>,
    /// The sweep that it is part of.
    sweep: Option<i64>,
    /// Place in that sweep.
    place: Option<SweptPlaceBody>,
}

/// The place of a trial in the design of its sweep.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SweptPlaceBody {
    /// Indices of variant and point.
    variant: usize,
    point: usize,
    /// A value for each reading; empty for a failed trial.
    readings: Vec<Option<f64>>,
}

impl From<SweptPlace> for SweptPlaceBody {
    fn from(place: SweptPlace) -> SweptPlaceBody {
        SweptPlaceBody {
            variant: place.variant,
            point: place.point,
            readings: place.readings,
        }
    }
}

/// How far a trial is.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StateWord {
    Queued,
    Running,
    Done,
    Incomplete,
    Failed,
    Cancelled,
    Interrupted,
}

impl From<tenter::TrialState> for StateWord {
    fn from(state: tenter::TrialState) -> StateWord {
        match state {
            tenter::TrialState::Queued => StateWord::Queued,
            tenter::TrialState::Running => StateWord::Running,
            tenter::TrialState::Done => StateWord::Done,
            tenter::TrialState::Incomplete => StateWord::Incomplete,
            tenter::TrialState::Failed => StateWord::Failed,
            tenter::TrialState::Cancelled => StateWord::Cancelled,
            tenter::TrialState::Interrupted => StateWord::Interrupted,
        }
    }
}

fn two_decimals(value: f64) -> String {
    format!("{value:.2}")
}

impl From<WorkspaceTrial> for TrialRow {
    fn from(trial: WorkspaceTrial) -> TrialRow {
        let shown = trial.headline;
        let folder = trial
            .folder
            .as_deref()
            .and_then(|folder| folder.file_name());
        TrialRow {
            id: trial.id,
            name: trial.name,
            state: trial.state.into(),
            tags: trial.tags,
            created: trial.created,
            started: trial.started,
            ended: trial.ended,
            error: trial.error,
            folder: folder.map(|name| name.to_string_lossy().into_owned()),
            fabric: shown.fabric,
            hosts: shown.hosts,
            jobs: shown.jobs,
            jct_ns: shown.jct_ns,
            jct_job: shown.jct_job,
            jct_text: shown
                .jct_ns
                .map(|ns| printed_time(Time::from_ps((ns * 1e3).round() as u64))),
            ideal_text: shown.ideal_percent.map(two_decimals),
            algbw_text: shown.algbw_gbytes_per_s.map(two_decimals),
            busbw_text: shown.busbw_gbytes_per_s.map(two_decimals),
            collective: shown.collective,
            ideal_percent: shown.ideal_percent,
            algbw_gbytes_per_s: shown.algbw_gbytes_per_s,
            busbw_gbytes_per_s: shown.busbw_gbytes_per_s,
            ideals: shown.ideals,
            digest: shown.digest,
            seed: shown.seed.map(|seed| seed.to_string()),
            seconds: shown.wall_s,
            sweep: trial.sweep,
            place: trial.place.map(SweptPlaceBody::from),
        }
    }
}

/// Body of a `trial` event.
#[derive(Serialize, ToSchema)]
struct TrialEvent {
    id: i64,
    /// Missing where the trial was removed.
    #[serde(flatten)]
    trial: Option<TrialRow>,
}

/// Sends a `trial` event with the current state of trial `id`, or with its number alone if it was
/// removed.
pub(crate) fn told_trial(app: &App, id: i64) {
    match app.workspace.trial(id) {
        Ok(trial) => app.events.tell("trial", &TrialRow::from(trial)),
        Err(_) => app.events.tell("trial", &TrialEvent { id, trial: None }),
    }
}
