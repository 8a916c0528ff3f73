//! A simulation, which is built from a plan and run once.

use crate::plan::{Fidelity, Plan, PowerProfile, SteadyState};
use tenter_engine::{Clock, Pace};
use tenter_language::units::Instant;
use tenter_results::Sink;

use crate::error::SimulationError;
use crate::flow_level::{FlowDriver, LeftOut, left_out, note_even_spread};
use crate::network::{
    Context, Driver, NodeModel, Recorder, Unwatched, WatchLog, WatchTarget, WindowedDriver, build,
    refusal,
};
use crate::results::{self, HashPath, Ideals, Outcome};

use super::actor::{EdgeActor, End};
use super::actors;
use super::run_loop::RunLoop;
use super::stall;
use super::world::World;

/// Options for running; none of them changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads over which the nodes are partitioned.
    pub threads: u16,
    /// Clock by which the engine sees whether several threads pay. Without one, windows are run on
    /// all threads and on one by turns.
    pub clock: Option<Clock>,
    /// If set, the nodes are partitioned for `threads` but run on one, to measure how evenly the
    /// work is distributed.
    pub alone: bool,
}

impl Options {
    fn pace(self) -> Pace {
        if self.alone {
            Pace::alone()
        } else {
            Pace::new(self.clock)
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threads: 1,
            clock: None,
            alone: false,
        }
    }
}

/// A simulation that is built and not yet run.
#[derive(Debug)]
pub struct Simulation<D: Driver> {
    driver: D,
    ideals: Ideals,
    name: String,
    threads: u16,
    power: Option<PowerProfile>,
    left_out: Vec<LeftOut>,
    /// Reason why nothing is jumped over although the plan asks for jumps, if there is one.
    jumps_refused: Option<&'static str>,
    actors: Vec<Box<dyn EdgeActor<D>>>,
}

impl Simulation<WindowedDriver<Unwatched>> {
    /// Builds a plan's network and schedules for the windowed engine.
    ///
    /// # Errors
    /// If hosts cannot reach each other, a collective cannot be run, or a link has no delay.
    pub fn new(plan: &Plan, options: Options) -> Result<Self, SimulationError> {
        let threads = threads(plan, options);
        let mut driver = build(plan, threads, |_| Unwatched)?;
        driver.pace = options.pace();
        Ok(Simulation::with_driver(driver, plan, threads))
    }
}

impl Simulation<WindowedDriver<Recorder>> {
    /// Builds a plan's network and schedules, with a copy of `recorder` in each partition.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub(crate) fn recording(
        plan: &Plan,
        options: Options,
        recorder: &Recorder,
    ) -> Result<Self, SimulationError> {
        let threads = threads(plan, options);
        let mut driver = build(plan, threads, |_| recorder.clone())?;
        driver.pace = options.pace();
        Ok(Simulation::with_driver(driver, plan, threads))
    }
}

impl Simulation<WindowedDriver<WatchLog>> {
    /// Builds a plan's network and schedules, and observes a flow or a port for its first `limit`
    /// events in each partition.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub(crate) fn watched(
        plan: &Plan,
        options: Options,
        target: impl Fn(&Context) -> WatchTarget,
        limit: usize,
    ) -> Result<Self, SimulationError> {
        let threads = threads(plan, options);
        let mut driver = build(plan, threads, |context| {
            WatchLog::new(target(context), limit)
        })?;
        driver.pace = options.pace();
        Ok(Simulation::with_driver(driver, plan, threads))
    }
}

/// Limits the threads to the number of switches: a thread without one would only wait.
fn threads(plan: &Plan, options: Options) -> u16 {
    let switches = plan.topology.nodes.len() - plan.topology.hosts;
    options
        .threads
        .clamp(1, switches.clamp(1, usize::from(u16::MAX)) as u16)
}

impl<D: Driver> Simulation<D> {
    /// Makes a simulation on the caller's driver, which must be built from the same plan.
    pub fn with_driver(driver: D, plan: &Plan, threads: u16) -> Simulation<D> {
        let ideals = Ideals::new(plan, driver.context());
        Simulation {
            ideals,
            name: plan.name.clone(),
            threads,
            power: plan.power.clone(),
            left_out: match plan.fidelity {
                Fidelity::Packet => Vec::new(),
                Fidelity::Flow => {
                    let mut found = left_out(plan).unwrap_or_default();
                    note_even_spread(driver.context(), &mut found);
                    found
                }
            },
            jumps_refused: match plan.steady_state {
                SteadyState::Simulate => None,
                SteadyState::Jump => refusal(plan),
            },
            actors: actors::of(plan),
            driver,
        }
    }

    /// Returns the driver, with the network's state.
    pub fn driver(&self) -> &D {
        &self.driver
    }

    /// Returns the paths of all transfers in the jobs' sequences, each once, before anything has
    /// run. `None` if the load balancer may choose another port for each packet, or if there are
    /// more than 2²⁰ transfers.
    ///
    /// # Errors
    /// If a collective cannot be run by its ranks.
    pub fn hash_paths(&self) -> Result<Option<Vec<HashPath>>, SimulationError> {
        Ok(results::transfers(&self.driver)?)
    }

    /// Runs until every job is done and the network is empty, or until the time limit or the sink
    /// stops the trial. A limit that is reached when every job is done does not count as a stop.
    ///
    /// # Errors
    /// If the sink fails, or frames are not conserved.
    pub fn run(&mut self, sink: &mut dyn Sink) -> Result<Outcome, SimulationError> {
        let mut run = RunLoop {
            world: World::new(&mut self.driver, sink)?,
            actors: std::mem::take(&mut self.actors),
        };
        let stopped = match run.run()? {
            End::Done | End::Cut => None,
            End::Stopped(stop) => Some(stop),
        };
        let World {
            flow_table,
            now,
            broken,
            moving,
            counts,
            ..
        } = run.world;
        let kept = results::check(&self.driver, &moving.missing);
        kept.map_err(SimulationError::Conservation)?;
        // After the check, in which these frames count as sent and under way.
        stop_sending(&mut self.driver, now);
        self.driver.close();
        let trial = results::Trial {
            name: &self.name,
            threads: self.threads,
            ended: now,
            ideals: &self.ideals,
            stalls: stall::explain(&self.driver, &broken, stopped.as_ref()),
            stopped,
            power: self.power.as_ref(),
            left_out: &self.left_out,
            jumps_refused: self.jumps_refused,
        };
        Ok(results::outcome(&self.driver, &flow_table, counts, trial))
    }
}

/// Removes frames that are assigned to links but have not begun when the trial ends at `now`.
fn stop_sending<D: Driver>(driver: &mut D, now: Instant) {
    for part in 0..driver.parts() {
        for node in &mut driver.fabric_mut(part).nodes {
            if let NodeModel::Switch(switch) = node {
                switch.stop_sending(now);
            }
        }
    }
}

impl Simulation<FlowDriver> {
    /// Builds a plan's hosts, and the links between them, for flow level.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub(crate) fn of_flows(plan: &Plan) -> Result<Self, SimulationError> {
        let driver = FlowDriver::new(plan)?;
        let mut simulation = Simulation::with_driver(driver, plan, 1);
        simulation
            .driver
            .note_shared_rings(&mut simulation.left_out);
        Ok(simulation)
    }
}
