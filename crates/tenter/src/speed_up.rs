//! Estimates the gain from more threads: a model over the measured work in windows.

use std::time::Instant;

use crate::explain::cost_of;
use tenter_language::units::Time;
use tenter_sim::plan::{Fidelity, Plan};
use tenter_sim::{AnySimulation, Options, Simulation, SimulationError};

use crate::Error;
use crate::budget::run_budget;

/// Cost of one meeting at the end of a window, in ns for each thread: a cache line moves from core
/// to core, and each thread looks at what the others have sent. Measured on two threads
/// (`docs/bench.md`).
const MEETING_NS_PER_THREAD: f64 = 700.0;
/// Wall time for which the beginning is run at most, in seconds, as estimated.
const RUN_S: f64 = 2.0;

/// Expected gain from several threads over one.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SpeedUp {
    /// Threads, each on a core of its own. If there are more threads than switches, some are idle.
    pub threads: u16,
    /// Expected wall time on one thread over that on `threads`.
    pub speed_up: f64,
    /// Upper bound on `speed_up`, as if meetings cost nothing: all work over the work that remains,
    /// which is the busiest partition's in shared windows and everything in the others.
    pub balance: f64,
    /// Share of the work that lies in windows with enough work to be shared, in percent.
    pub shared_percent: f64,
    /// Simulated time that was run for the estimate, in ns.
    pub simulated_ns: f64,
}

/// Estimates the gain for each number in `threads`. Each estimate runs the beginning of the trial
/// on one thread, for up to `RUN_S` seconds, and sees how evenly each window's work spreads over as
/// many partitions. The list is empty at flow level, which has one thread.
pub(crate) fn speed_ups(plan: &Plan, threads: &[u16]) -> Result<Vec<SpeedUp>, Error> {
    if plan.fidelity == Fidelity::Flow {
        return Ok(Vec::new());
    }
    let cost = cost_of(plan, &run_budget())?;
    let mut short = plan.clone();
    let part = (RUN_S / cost.wall_s.max(RUN_S)).min(1.0);
    // At least 1 ps: a limit of zero would simulate nothing.
    let simulated = Time::from_ps((cost.simulated_ns * 1e3 * part) as u64 + 1);
    short.time_limit = Some(simulated.min(plan.time_limit.unwrap_or(Time::MAX)));
    // Further runs are not part of the measurement.
    short.baseline = false;
    let found = threads.iter().map(|&threads| of_threads(&short, threads));
    found.collect::<Result<_, _>>().map_err(Error::Unbuildable)
}

fn of_threads(plan: &Plan, threads: u16) -> Result<SpeedUp, SimulationError> {
    let options = Options {
        threads,
        clock: None,
        alone: true,
    };
    // `Plain` records nothing: the rows, captures or events of the plan would cost time in the
    // measurement.
    let mut simulation = AnySimulation::Plain(Simulation::new(plan, options)?);
    let began = Instant::now();
    let outcome = simulation.run(&mut ())?;
    let wall_ns = began.elapsed().as_secs_f64() * 1e9;
    let balance = simulation.balance().unwrap_or_default();
    // The beginning may have no work at all, and shares are taken of it.
    let work = (balance.work + balance.rest).max(1) as f64;
    let meeting_ns = MEETING_NS_PER_THREAD * f64::from(outcome.summary.engine.threads);
    Ok(SpeedUp {
        threads,
        speed_up: balance.speed_up(wall_ns / work, meeting_ns),
        balance: balance.speed_up(1.0, 0.0),
        shared_percent: 100.0 * balance.work as f64 / work,
        simulated_ns: plan.time_limit.unwrap_or(Time::MAX).as_ns(),
    })
}
