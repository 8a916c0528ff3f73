//! `tenter run --baseline` and `--interference`: the runs with some of the jobs only.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tenter_record::{
    Control, FlowRow, InterferenceRow, JobRow, Progress, SampleRow, Sink, SinkError, StopKind,
};
use tenter_scenario::Plan;
use tenter_sim::{
    Interference, Options, Outcome, Simulation, interference_rows, interference_runs,
};

use crate::arguments::Run;
use crate::failure::{Failure, say};
use crate::progress::Watched;
use crate::run::{Circumstances, unrunnable};
use crate::threads;

/// What the command and the scenario ask for.
pub(crate) fn asked(arguments: &Run, plan: &Plan) -> Interference {
    if arguments.interference {
        Interference::Pairs
    } else if arguments.baseline || plan.baseline {
        Interference::Alone
    } else {
        Interference::None
    }
}

/// Keeps nothing: what these runs leave is the times of their jobs.
struct Discard;

impl Sink for Discard {
    fn flows(&mut self, _: &[FlowRow]) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, _: &[SampleRow]) -> Result<(), SinkError> {
        Ok(())
    }

    fn progress(&mut self, _: &Progress) -> Result<Control, SinkError> {
        Ok(Control::Continue)
    }
}

/// Runs what is asked for after the run with all jobs, which came out as `outcome`, and adds what
/// comes of it.
pub(crate) fn measure(
    circumstances: &Circumstances<'_>,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let plan = &circumstances.loaded.plan;
    let count = interference_runs(plan, circumstances.interference).len();
    if count > 0 && !circumstances.interrupted.load(Ordering::Relaxed) {
        let (runs, verb) = if count == 1 {
            ("run", "shows")
        } else {
            ("runs", "show")
        };
        say(&format!(
            "{count} more {runs} with some of the jobs only {verb} what jobs cost each other\n"
        ));
    }
    add(
        plan,
        circumstances.interference,
        threads::options(circumstances.threads),
        &circumstances.interrupted,
        outcome,
    )
}

/// The same without a word. A trial whose further runs were interrupted is partial: its folder must
/// not pass for one that has all that was asked for.
pub(crate) fn add(
    plan: &Plan,
    asked: Interference,
    options: Options,
    interrupted: &Arc<AtomicBool>,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let runs = interference_runs(plan, asked);
    if runs.is_empty() || outcome.summary.stopped_by == Some(StopKind::User) {
        return Ok(());
    }
    let rows = run_some(plan, runs, options, interrupted, &outcome.jobs)?;
    let summary = &mut outcome.summary;
    if let Some(rows) = rows {
        summary.interference = rows;
    } else {
        summary.complete = false;
        summary.stopped_by = Some(StopKind::User);
        summary.stopped = Some(STOPPED.to_owned());
    }
    Ok(())
}

/// What a trial says whose own jobs ran to their end.
const STOPPED: &str = "stopped by you during the runs with some of the jobs only";

/// The rows of all these runs; none where they were interrupted.
fn run_some(
    plan: &Plan,
    runs: Vec<Vec<usize>>,
    options: Options,
    interrupted: &Arc<AtomicBool>,
    together: &[JobRow],
) -> Result<Option<Vec<InterferenceRow>>, Failure> {
    let count = runs.len();
    let mut results = Vec::new();
    for (number, jobs) in runs.into_iter().enumerate() {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let title = format!("run {} of {count}", number + 1);
        let mut discard = Discard;
        let part = plan.with_jobs(&jobs);
        let mut sink = Watched::new(&mut discard, &part, Arc::clone(interrupted)).titled(&title);
        let simulation = Simulation::new(&part, options);
        let mut simulation = simulation.map_err(|error| unrunnable(&error))?;
        let outcome = simulation.run(&mut sink);
        let outcome = outcome.map_err(|error| Failure::other(error.to_string()))?;
        if outcome.summary.stopped_by == Some(StopKind::User) {
            return Ok(None);
        }
        results.push((jobs, outcome.jobs));
    }
    Ok(Some(interference_rows(together, &results)))
}
