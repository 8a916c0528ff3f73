//! Runs the trials that wait, one after the other on each thread.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tenter::{
    Control, Error, Observer, QueuedTrial, Resource, Run, Running as At, Trial, check_budget,
    machine_limits, reserve_memory,
};
use tenter_record::{SampleRow, SinkError};
use tenter_report::claim_free_folder;

use crate::resolve::resolve;
use crate::state::{App, ProgressBody, Running, Shared};
use crate::trial_body::told_trial;

/// How long a runner waits for a trial before it looks again: other processes may queue some, too.
const PATIENCE: Duration = Duration::from_secs(1);
/// The least time between two events of a trial.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// How often the ledger is told how far a trial is, and its rows are made readable, for the case
/// that this process is killed.
const NOTE_EVERY: Duration = Duration::from_secs(1);

/// Runs what waits until the server ends.
pub(crate) fn run(app: &Shared) {
    while !app.is_closing() {
        match app.take(PATIENCE) {
            Ok(Some((queued, running))) => {
                carry_out(app, &queued, &running);
                app.left(queued.id);
            }
            Ok(None) => {}
            // The ledger may be locked; it is looked at again.
            Err(_) => std::thread::sleep(PATIENCE),
        }
    }
}

/// Runs one trial and notes what came of it.
fn carry_out(app: &Shared, queued: &QueuedTrial, running: &Arc<Running>) {
    told_trial(app, queued.id);
    let simulated = simulate(app, queued, running).transpose();
    let noted = match simulated {
        // The next server runs it, unless it was cancelled.
        None => app.workspace.put_back(queued.id).and_then(|()| {
            if !app.is_closing() {
                app.workspace.cancel_queued(queued.id)?;
            }
            Ok(())
        }),
        Some(simulated) => ended(app, queued, simulated),
    };
    // A ledger that cannot be written now shows the trial as interrupted after the next start.
    drop(noted);
    app.left(queued.id);
    told_trial(app, queued.id);
}

fn ended(app: &App, queued: &QueuedTrial, simulated: Result<Trial, Error>) -> Result<(), Error> {
    match simulated {
        Ok(trial) if trial.was_cancelled() && app.is_closing() => {
            app.workspace
                .interrupted(queued.id, trial.plan(), trial.summary())
        }
        Ok(trial) => app
            .workspace
            .ended(queued.id, trial.plan(), trial.summary())
            .map(drop),
        Err(error) => app.workspace.failed(queued.id, &error.to_string()),
    }
}

/// Runs a trial once it fits into memory beside the others; nothing where it was cancelled before.
fn simulate(
    app: &Shared,
    queued: &QueuedTrial,
    running: &Arc<Running>,
) -> Result<Option<Trial>, Error> {
    // It was checked before it was queued; what is left is to end where it is cancelled.
    let budget = check_budget(machine_limits(), Arc::clone(&running.is_cancelled));
    let plan = match resolve(&queued.scenario, &budget) {
        Err(_) if budget.refused() == Some(Resource::Cancelled) => return Ok(None),
        resolved => resolved?,
    };
    let is_over = || running.is_cancelled.load(Ordering::Relaxed);
    let Some(_reserved) = reserve_memory(plan.memory_bytes()?, is_over) else {
        return Ok(None);
    };
    running.live.begin(&plan);
    let folder = claim_free_folder(app.workspace.folder(), &queued.name)?;
    app.workspace.began(queued.id, &folder)?;
    let expected = plan.packet_hops().ok().filter(|hops| hops.is_finite());
    let heard = Heard {
        app: Arc::clone(app),
        running: Arc::clone(running),
        id: queued.id,
        expected,
        began: Instant::now(),
        told: None,
        noted: None,
    };
    let run = Run::new(&plan)
        .threads(app.options.threads)
        .folder(folder)
        .checkpoints(NOTE_EVERY);
    match run.observe(heard).start().and_then(tenter::RunHandle::join) {
        Err(Error::NotMeasured { trial, .. }) => Ok(Some(*trial)),
        other => other.map(Some),
    }
}

/// Tells how far a trial is, and ends it where that was asked for.
struct Heard {
    app: Arc<App>,
    running: Arc<Running>,
    id: i64,
    expected: Option<f64>,
    began: Instant,
    told: Option<Instant>,
    noted: Option<Instant>,
}

impl Heard {
    fn body(&self, at: &At<'_>) -> ProgressBody {
        let elapsed_s = self.began.elapsed().as_secs_f64();
        let progress = at.progress;
        let hops = progress.packet_hops as f64;
        let fraction = self.expected.map(|expected| hops / expected);
        let fraction = fraction.filter(|share| (0.0..1.0).contains(share));
        ProgressBody {
            id: self.id,
            fraction,
            simulated_ns: progress.simulated.as_ns(),
            packet_hops: progress.packet_hops,
            expected_packet_hops: self.expected,
            packet_hops_per_s: hops / elapsed_s.max(1e-9),
            elapsed_s,
            eta_s: fraction
                .filter(|share| *share > 0.0)
                .map(|share| elapsed_s * (1.0 - share) / share),
            flows_done: progress.flows_done,
            flows_total: progress.flows_total,
        }
    }
}

impl Observer for Heard {
    fn begins(&mut self, _: &str) {
        self.began = Instant::now();
    }

    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError> {
        self.running.live.samples(rows);
        Ok(())
    }

    fn progress(&mut self, at: &At<'_>) -> Control {
        if self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            self.told = Some(Instant::now());
            let body = self.body(at);
            self.app.events.tell("progress", &body);
            if self.noted.is_none_or(|noted| noted.elapsed() >= NOTE_EVERY)
                && let Ok(text) = serde_json::to_string(&body)
            {
                self.noted = Some(Instant::now());
                // A ledger that is locked is written the next time.
                let _ = self.app.workspace.note_progress(self.id, &text);
            }
            let kept = self.running.progress.lock();
            *kept.unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
        if self.is_cancelled() {
            Control::Stop
        } else {
            Control::Continue
        }
    }

    fn is_cancelled(&self) -> bool {
        self.running.is_cancelled.load(Ordering::Relaxed)
    }
}
