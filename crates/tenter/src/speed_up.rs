//! What more cores would bring: a model over the work of windows that was measured.

use std::time::Instant;

use tenter_explain::cost_of;
use tenter_plan::{Fidelity, Plan};
use tenter_sim::{AnySimulation, Options, Simulation, SimulationError};
use tenter_units::Time;

use crate::Error;
use crate::budget::run_budget;

/// What the meeting of all threads at a window takes, for each of them: a line of cache that goes
/// from one core to the next, and a look at what the others have sent. Measured on two threads
/// (`docs/bench.md`).
const MEETING_NS_PER_THREAD: f64 = 700.0;
/// So long a trial is run for it at most, as estimated.
const RUN_S: f64 = 2.0;

/// How much faster some threads would be than one.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SpeedUp {
    /// Threads, each on a core of its own; no more than there are switches have work.
    pub threads: u16,
    /// How many times faster than one they are expected to be.
    pub speed_up: f64,
    /// How many times as fast the busiest part alone would be done as all parts: the bound without
    /// any cost of meeting.
    pub balance: f64,
    /// The share of the work that is in windows with enough of it to be shared, in percent.
    pub shared_percent: f64,
    /// The time that was simulated to see it.
    pub simulated_ns: f64,
}

/// What so many threads would gain for a plan, from how evenly the work of its windows is spread
/// over as many parts: the beginning of the trial is run on one thread, for some seconds.
pub(crate) fn speed_ups(plan: &Plan, threads: &[u16]) -> Result<Vec<SpeedUp>, Error> {
    if plan.fidelity == Fidelity::Flow {
        return Ok(Vec::new());
    }
    let cost = cost_of(plan, &run_budget())?;
    let mut short = plan.clone();
    let part = (RUN_S / cost.wall_s.max(RUN_S)).min(1.0);
    let simulated = Time::from_ps((cost.simulated_ns * 1e3 * part) as u64 + 1);
    short.time_limit = Some(simulated.min(plan.time_limit.unwrap_or(Time::MAX)));
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
    // What a plan records would take its time.
    let mut simulation = AnySimulation::Plain(Simulation::new(plan, options)?);
    let began = Instant::now();
    let outcome = simulation.run(&mut ())?;
    let wall_ns = began.elapsed().as_secs_f64() * 1e9;
    let balance = simulation.balance().unwrap_or_default();
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
