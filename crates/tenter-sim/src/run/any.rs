//! A simulation of any kind. The generic code is instantiated once, here, for all callers.

use crate::plan::{Fidelity, Plan};
use tenter_engine::Balance;
use tenter_results::Sink;

use crate::error::SimulationError;
use crate::flow_level::FlowDriver;
use crate::network::{Context, Driver, Recorder, Unwatched, WatchLog, WatchTarget, WindowedDriver};
use crate::results::Outcome;

use super::simulation::{Options, Simulation};

/// A simulation that is built and not yet run. There is a variant for each kind of recording, so
/// that a simulation that records nothing pays nothing for it.
#[derive(Debug)]
pub enum AnySimulation {
    /// Simulates packets, and records none of them.
    Plain(Simulation<WindowedDriver<Unwatched>>),
    /// Simulates packets, and records queues or captures frames.
    Recording(Simulation<WindowedDriver<Recorder>>),
    /// Simulates packets, and observes a flow or a port.
    Watching(Simulation<WindowedDriver<WatchLog>>),
    /// Simulates flows instead of packets.
    OfFlows(Box<Simulation<FlowDriver>>),
}

impl AnySimulation {
    /// Builds a plan at the level that it chooses.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn new(plan: &Plan, options: Options) -> Result<AnySimulation, SimulationError> {
        if plan.fidelity == Fidelity::Flow {
            let of_flows = Simulation::of_flows(plan)?;
            return Ok(AnySimulation::OfFlows(Box::new(of_flows)));
        }
        Ok(match Recorder::of(plan) {
            None => AnySimulation::Plain(Simulation::new(plan, options)?),
            Some(recorder) => {
                AnySimulation::Recording(Simulation::recording(plan, options, &recorder)?)
            }
        })
    }

    /// Builds a plan at packet level with an observer, as [`Simulation::watched`] does.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn watched(
        plan: &Plan,
        options: Options,
        target: impl Fn(&Context) -> WatchTarget,
        limit: usize,
    ) -> Result<AnySimulation, SimulationError> {
        let watched = Simulation::watched(plan, options, target, limit)?;
        Ok(AnySimulation::Watching(watched))
    }

    /// Runs the simulation, as [`Simulation::run`] does.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn run(&mut self, sink: &mut dyn Sink) -> Result<Outcome, SimulationError> {
        match self {
            AnySimulation::Plain(simulation) => simulation.run(sink),
            AnySimulation::Recording(simulation) => simulation.run(sink),
            AnySimulation::Watching(simulation) => simulation.run(sink),
            AnySimulation::OfFlows(simulation) => simulation.run(sink),
        }
    }

    /// Returns how evenly the work was distributed over threads, as [`Driver::balance`] does.
    pub fn balance(&self) -> Option<Balance> {
        match self {
            AnySimulation::Plain(simulation) => simulation.driver().balance(),
            AnySimulation::Recording(simulation) => simulation.driver().balance(),
            AnySimulation::Watching(simulation) => simulation.driver().balance(),
            AnySimulation::OfFlows(simulation) => simulation.driver().balance(),
        }
    }
}

/// Builds and runs a plan at the level that it chooses.
///
/// # Errors
/// Those of [`Simulation::new`] and [`Simulation::run`].
pub fn run(plan: &Plan, options: Options, sink: &mut dyn Sink) -> Result<Outcome, SimulationError> {
    AnySimulation::new(plan, options)?.run(sink)
}
