//! The end of background jobs, which would otherwise run for ever.

use tenter_language::units::Instant;
use tenter_workload::JobId;

use crate::error::SimulationError;
use crate::network::{Driver, JobPlan};

use super::actor::{EdgeActor, End};
use super::stall;
use super::world::World;

/// Cuts background jobs off once the measured jobs are done.
#[derive(Debug, Default)]
pub(super) struct Background {
    /// Time at which they are cut off, once it is known.
    stop_at: Option<Instant>,
}

impl<D: Driver> EdgeActor<D> for Background {
    fn next(&self, _: &World<'_, D>) -> Instant {
        self.stop_at.unwrap_or(Instant::NEVER)
    }

    fn next_if_empty(&self, world: &World<'_, D>) -> Instant {
        self.stop_at
            .map_or(Instant::NEVER, |at| at.min(world.limit))
    }

    /// Sets the time at which background jobs are cut off, once the last measured job has ended or
    /// is known to have failed.
    fn book(&mut self, world: &mut World<'_, D>) {
        if !world.has_background || self.stop_at.is_some() {
            return;
        }
        let judged = |plan: &JobPlan| !plan.job.background && plan.has_turn(0);
        let mut last = Instant::START;
        for (plan, state) in world.context.jobs.iter().zip(&world.jobs) {
            if judged(plan) {
                let Some(end) = state.end else { return };
                last = last.max(end);
            }
        }
        self.stop_at = Some(last.saturating_add(world.context.background_delay));
    }

    /// Ends the trial when it is time. Background traffic may delay acknowledgements of measured
    /// jobs; while any of these are under way, background jobs run on.
    fn look(&mut self, world: &mut World<'_, D>) -> Result<Option<End>, SimulationError> {
        if self.stop_at.is_none_or(|at| at > world.now) {
            return Ok(None);
        }
        world.collect()?;
        // A job that was given up has an end but still runs.
        let given_up = |job: JobId| world.jobs[job].running && world.jobs[job].end.is_some();
        let settled = |job| {
            given_up(job)
                || world.flow_table.is_settled(job)
                || stall::has_failed(world.driver, job)
        };
        let is_over = world.judged().all(settled);
        // If acknowledgements are still under way, it is checked again after the same delay.
        self.stop_at = Some(world.now.saturating_add(world.context.background_delay));
        Ok(is_over.then_some(End::Cut))
    }
}
