//! Runs queued trials, one after the other on each thread.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tenter::report::claim_free_folder;
use tenter::{
    Control, Error, Observer, Plan, QueuedTrial, Resource, Running as At, TrialAnswer, TrialOrder,
    TrialProcess, check_budget, machine_limits, reserve_memory,
};
use tenter_results::{SampleRow, SinkError};

use crate::server::resolve::resolve;
use crate::server::state::{App, ProgressBody, Running, Shared};
use crate::server::trial_body::told_trial;

/// Time after which a runner looks at the queue again unasked: other processes may queue trials,
/// too.
const PATIENCE: Duration = Duration::from_secs(1);
/// Minimum time between two `progress` events for a trial.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Interval at which the ledger notes a trial's progress and its rows so far become readable, in
/// case this process is killed.
const NOTE_EVERY: Duration = Duration::from_secs(1);

/// Runs queued trials until the server ends.
pub(crate) fn run(app: &Shared) {
    let mut process = app.options.program.clone().map(TrialProcess::new);
    while !app.is_closing() {
        match app.take(PATIENCE) {
            Ok(Some((queued, running))) => {
                carry_out(app, &queued, &running, process.as_mut());
                app.left(queued.id);
            }
            Ok(None) => app.workspace.copy_ledger(),
            // The ledger may be locked by another process; the next attempt follows.
            Err(_) => std::thread::sleep(PATIENCE),
        }
    }
}

/// Runs one trial and notes the outcome in the ledger.
fn carry_out(
    app: &Shared,
    queued: &QueuedTrial,
    running: &Arc<Running>,
    process: Option<&mut TrialProcess>,
) {
    told_trial(app, queued.id);
    let simulated = simulate(app, queued, running, process).transpose();
    let noted = match simulated {
        // A trial that did not start goes back to the queue, and the next server runs it. If the
        // user cancelled it, it is cancelled there.
        None => app.workspace.put_back(queued.id).and_then(|()| {
            if !app.is_closing() {
                app.workspace.cancel_queued(queued.id)?;
            }
            Ok(())
        }),
        Some(simulated) => ended(app, queued, simulated),
    };
    // If the ledger cannot be written now, the next start shows the trial as interrupted.
    drop(noted);
    // Forget the run before the event: a page that asks again must find the new state.
    app.left(queued.id);
    told_trial(app, queued.id);
}

fn ended(
    app: &App,
    queued: &QueuedTrial,
    simulated: Result<(Plan, TrialAnswer), Error>,
) -> Result<(), Error> {
    let (plan, answer) = match simulated {
        Ok(simulated) => simulated,
        Err(error) => return app.workspace.failed(queued.id, &error.to_string()),
    };
    match (answer.summary(), answer.failure()) {
        (Some(summary), _) if answer.was_stopped() && app.is_closing() => {
            app.workspace.interrupted(queued.id, &plan, summary)
        }
        (Some(summary), _) => app.workspace.ended(queued.id, &plan, summary).map(drop),
        (None, Some(why)) => app.workspace.failed(queued.id, why),
        (None, None) => {
            let why = "it did not end when it was stopped, and its process was ended";
            app.workspace.failed(queued.id, why)
        }
    }
}

/// Runs a trial as soon as it fits into memory beside the others. Returns `None` if it was
/// cancelled before it started.
fn simulate(
    app: &Shared,
    queued: &QueuedTrial,
    running: &Arc<Running>,
    process: Option<&mut TrialProcess>,
) -> Result<Option<(Plan, TrialAnswer)>, Error> {
    // The scenario was checked when it was queued, under the limits of requests. Here it may use
    // the whole machine; the budget only lets a cancelled trial end early.
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
    // Claimed only now: a trial that is cancelled while it waits leaves no folder.
    let folder = claim_free_folder(app.workspace.folder(), &queued.name)?;
    app.workspace.began(queued.id, &folder)?;
    let order = TrialOrder::of(&plan, folder, NOTE_EVERY)?;
    let mut heard = Heard {
        app: Arc::clone(app),
        running: Arc::clone(running),
        id: queued.id,
        expected: Some(order.packet_hops).filter(|hops| *hops > 0.0),
        began: Instant::now(),
        told: None,
        noted: None,
    };
    let threads = app.options.threads;
    let answer = match process {
        Some(process) => process.carry_out(&order, threads, &mut heard)?,
        None => order.carry_out(threads, &mut heard),
    };
    Ok(Some((plan, answer)))
}

/// Observes a running trial: reports its progress, and stops it on request.
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
        // The estimate was too low: no fraction is better than one beyond 1.
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

    fn wants_samples(&self) -> bool {
        self.running.live.is_watched()
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
                // If the ledger is locked, progress is noted the next time.
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
