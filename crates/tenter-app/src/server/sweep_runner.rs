//! Runs queued sweeps, one after the other.

use std::time::{Duration, Instant};

use tenter::{
    Control, Error, SweepObserver, SweepProgress, Swept, TrialState, WorkspaceSweep, sweep_of,
};

use crate::server::state::{App, Shared};
use crate::server::sweep_body::told_sweep;
use crate::server::trial_body::told_trial;

/// Time after which the thread looks at the queue again unasked.
const PATIENCE: Duration = Duration::from_secs(1);
/// Minimum time between two progress notes for a sweep.
const NOTE_EVERY: Duration = Duration::from_millis(500);

/// Runs queued sweeps until the server ends.
pub(crate) fn run(app: &Shared) {
    while !app.is_closing() {
        match app.take_sweep(PATIENCE) {
            Ok(Some(sweep)) => {
                carry_out(app, &sweep);
                app.left_sweep(sweep.id);
                told_sweep(app, sweep.id);
            }
            Ok(None) => app.workspace.copy_ledger(),
            // The ledger may be locked by another process; the next attempt follows.
            Err(_) => std::thread::sleep(PATIENCE),
        }
    }
}

fn carry_out(app: &Shared, sweep: &WorkspaceSweep) {
    told_sweep(app, sweep.id);
    // A panic fails this sweep; the thread must live for those that follow.
    let simulated = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| simulate(app, sweep)));
    let simulated = simulated
        .unwrap_or_else(|panic| Err(Error::Internal(crate::server::state::message_of(&*panic))));
    let (state, why) = match simulated {
        Ok(state) => (state, None),
        Err(error) => (TrialState::Failed, Some(error.to_string())),
    };
    // If the ledger cannot be written now, the next start continues the sweep.
    let _ = app.workspace.sweep_ended(sweep.id, state, why.as_deref());
}

fn simulate(app: &Shared, sweep: &WorkspaceSweep) -> Result<TrialState, Error> {
    let folder = app.workspace.sweep_folder(sweep)?;
    let run = sweep_of(&sweep.description, &sweep.scenario)?
        .folder(folder)
        .ledger(app.workspace.folder())
        .workers(app.options.jobs.max(1))
        .in_processes(app.options.program.clone())
        .limits(app.turns.limits());
    let mut heard = Heard {
        app,
        sweep,
        noted: None,
        told: None,
    };
    let results = run.run_with(&mut heard)?;
    // The last note may be older than the last trial.
    heard.note(&results.progress);
    Ok(if !results.was_cancelled {
        if results.failures.is_empty() {
            TrialState::Done
        } else {
            TrialState::Incomplete
        }
    } else if app.is_closing() {
        // The next start continues it.
        TrialState::Queued
    } else {
        TrialState::Cancelled
    })
}

/// Observes a running sweep: notes its progress, and stops it on request.
struct Heard<'a> {
    app: &'a App,
    sweep: &'a WorkspaceSweep,
    noted: Option<Instant>,
    /// Time when the last `trial` event was sent.
    told: Option<Instant>,
}

impl Heard<'_> {
    fn note(&self, at: &SweepProgress) {
        let (done, failed) = (at.done as u64, at.failed as u64);
        let id = self.sweep.id;
        let _ = self.app.workspace.sweep_progress(id, done, failed);
        told_sweep(self.app, id);
    }
}

impl SweepObserver for Heard<'_> {
    fn swept(&mut self, trial: &Swept<'_>) {
        // If the ledger cannot be written now, it lacks a row; the results of the sweep have it.
        let Ok(Some(id)) = self.app.workspace.note_swept(self.sweep, trial) else {
            return;
        };
        // Many short trials end in a second. A client that watches reloads the list, so one event
        // for several of them is enough.
        if self.told.is_none_or(|told| told.elapsed() >= NOTE_EVERY) {
            self.told = Some(Instant::now());
            told_trial(self.app, id);
        }
    }

    fn progress(&mut self, at: &SweepProgress) -> Control {
        if self.noted.is_none_or(|noted| noted.elapsed() >= NOTE_EVERY) {
            self.noted = Some(Instant::now());
            self.note(at);
        }
        if self.app.is_sweep_cancelled(self.sweep.id) {
            Control::Stop
        } else {
            Control::Continue
        }
    }
}
