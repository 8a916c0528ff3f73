//! Sweeps in the interface's form.

use serde::Serialize;
use tenter::WorkspaceSweep;
use tenter::studies::SweepRecord;
use utoipa::ToSchema;

use crate::server::state::App;
use crate::server::trial_body::StateWord;

/// A sweep in a list.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct SweepRow {
    /// Number of the sweep in the workspace.
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) state: StateWord,
    /// Trials that the sweep has.
    pub(crate) total: u64,
    /// Trials that have run.
    pub(crate) done: u64,
    /// Trials that have failed.
    pub(crate) failed: u64,
    /// When it was queued, in seconds since 1970.
    pub(crate) created: f64,
    /// Instant at which it ended, in seconds since 1970.
    pub(crate) ended: Option<f64>,
    /// Why it failed.
    pub(crate) error: Option<String>,
}

impl SweepRow {
    /// Makes a finished sweep's row from its record alone, as a report has it.
    pub(crate) fn of_record(id: i64, name: String, record: &SweepRecord) -> SweepRow {
        let trials = record.trials.len() as u64;
        SweepRow {
            id,
            name,
            state: StateWord::Done,
            total: trials,
            done: trials,
            failed: 0,
            created: 0.0,
            ended: None,
            error: None,
        }
    }
}

impl From<&WorkspaceSweep> for SweepRow {
    fn from(sweep: &WorkspaceSweep) -> SweepRow {
        SweepRow {
            id: sweep.id,
            name: sweep.name.clone(),
            state: sweep.state.into(),
            total: sweep.trials,
            done: sweep.done,
            failed: sweep.failed,
            created: sweep.created,
            ended: sweep.ended,
            error: sweep.error.clone(),
        }
    }
}

/// Sends a `sweep` event with the current state of sweep `id`.
pub(crate) fn told_sweep(app: &App, id: i64) {
    if let Ok(Some(sweep)) = app.workspace.sweep(id) {
        app.events.tell("sweep", &SweepRow::from(&sweep));
    }
}
