//! Further runs with some of the jobs only, which measure what jobs cost each other.

use tenter_results::{
    Control, FlowRow, InterferenceRow, JobRow, Progress, SampleRow, Sink, SinkError, StopKind,
};
use tenter_sim::plan::Plan;
use tenter_sim::{AnySimulation, Interference, Outcome, interference_rows, interference_runs};

use crate::Error;
use crate::clock::options;
use crate::observer::{Expected, Observer, Running};

/// Reason that a partial trial states if its own jobs ended but a further run was stopped.
const STOPPED: &str = "stopped by you during the runs with some of the jobs only";

/// Runs the further runs `asked` for after the run with all jobs, which gave `outcome`, and adds
/// their rows to it. If a further run was stopped or failed, the trial becomes partial: its folder
/// must not pass for one that has everything.
pub(crate) fn add(
    plan: &Plan,
    asked: Interference,
    threads: u16,
    observer: &mut dyn Observer,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let runs = interference_runs(plan, asked);
    if runs.is_empty() || outcome.summary.stopped_by == Some(StopKind::User) {
        return Ok(());
    }
    observer.further_runs(runs.len());
    let rows = run_all(plan, runs, threads, observer, &outcome.jobs);
    let summary = &mut outcome.summary;
    match rows {
        Ok(Some(rows)) => summary.interference = rows,
        Ok(None) => {
            summary.complete = false;
            summary.stopped_by = Some(StopKind::User);
            summary.stopped = Some(STOPPED.to_owned());
        }
        Err(error) => {
            summary.complete = false;
            summary.stopped = Some(format!("a run with some of the jobs only failed: {error}"));
            return Err(error);
        }
    }
    Ok(())
}

/// Runs each job set in `runs` and returns the rows; `None` if the observer stopped them.
fn run_all(
    plan: &Plan,
    runs: Vec<Vec<usize>>,
    threads: u16,
    observer: &mut dyn Observer,
    together: &[JobRow],
) -> Result<Option<Vec<InterferenceRow>>, Error> {
    let count = runs.len();
    let mut results = Vec::new();
    for (number, jobs) in runs.into_iter().enumerate() {
        // A short run reports no progress, so the observer could not stop it there.
        if observer.is_cancelled() {
            return Ok(None);
        }
        let part = plan.with_jobs(&jobs);
        let simulation = AnySimulation::new(&part, options(threads));
        let mut simulation = simulation.map_err(Error::Unbuildable)?;
        observer.begins(&format!("run {} of {count}", number + 1));
        let mut times = Times {
            plan: &part,
            observer,
        };
        let outcome = simulation.run(&mut times);
        observer.ends();
        let outcome = outcome.map_err(Error::Simulation)?;
        if outcome.summary.stopped_by == Some(StopKind::User) {
            return Ok(None);
        }
        results.push((jobs, outcome.jobs));
    }
    Ok(Some(interference_rows(together, &results)))
}

/// Sink that keeps no rows: only the job times of further runs are needed.
struct Times<'a> {
    plan: &'a Plan,
    observer: &'a mut dyn Observer,
}

impl Sink for Times<'_> {
    fn flows(&mut self, _: &[FlowRow]) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, _: &[SampleRow]) -> Result<(), SinkError> {
        Ok(())
    }

    fn progress(&mut self, progress: &Progress) -> Result<Control, SinkError> {
        Ok(self.observer.progress(&Running {
            expected: Expected::Of(self.plan),
            progress: *progress,
        }))
    }
}
