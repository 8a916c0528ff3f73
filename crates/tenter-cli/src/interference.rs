//! `tenter run --baseline` and `--interference`: the runs with some of the jobs only.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tenter_record::{
    Control, FlowRow, InterferenceRow, JobRow, Progress, SampleRow, Sink, SinkError,
};
use tenter_scenario::Plan;
use tenter_sim::{Interference, Options, Simulation, interference_rows, interference_runs};

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

/// Runs what is asked for after the run with all jobs, whose rows are `together`. Nothing comes of
/// an interruption.
pub(crate) fn measure(
    circumstances: &Circumstances<'_>,
    together: &[JobRow],
) -> Result<Vec<InterferenceRow>, Failure> {
    let plan = &circumstances.loaded.plan;
    let interrupted = &circumstances.interrupted;
    let count = interference_runs(plan, circumstances.interference).len();
    if count == 0 || interrupted.load(Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    let (runs, verb) = if count == 1 {
        ("run", "shows")
    } else {
        ("runs", "show")
    };
    say(&format!(
        "{count} more {runs} with some of the jobs only {verb} what jobs cost each other\n"
    ));
    let options = threads::options(circumstances.threads);
    run_some(
        plan,
        circumstances.interference,
        options,
        interrupted,
        together,
    )
}

/// The same without a word.
pub(crate) fn run_some(
    plan: &Plan,
    asked: Interference,
    options: Options,
    interrupted: &Arc<AtomicBool>,
    together: &[JobRow],
) -> Result<Vec<InterferenceRow>, Failure> {
    let runs = interference_runs(plan, asked);
    let count = runs.len();
    let mut results = Vec::new();
    for (number, jobs) in runs.into_iter().enumerate() {
        let title = format!("run {} of {count}", number + 1);
        let mut discard = Discard;
        let part = plan.with_jobs(&jobs);
        let mut sink = Watched::new(&mut discard, &part, Arc::clone(interrupted)).titled(&title);
        let simulation = Simulation::new(&part, options);
        let mut simulation = simulation.map_err(|error| unrunnable(&error))?;
        let outcome = simulation.run(&mut sink);
        let outcome = outcome.map_err(|error| Failure::other(error.to_string()))?;
        if interrupted.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        results.push((jobs, outcome.jobs));
    }
    Ok(interference_rows(together, &results))
}
