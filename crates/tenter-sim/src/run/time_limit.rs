//! The end of a trial at its time limit.

use crate::plan::{Plan, SIMULATED_MAX};
use tenter_language::units::Instant;
use tenter_results::{Stop, StopKind};

use crate::error::SimulationError;
use crate::network::Driver;

use super::actor::{EdgeActor, End};
use super::world::World;

/// Ends a trial at a given instant. If all jobs are done by then, nothing counts as stopped.
#[derive(Debug)]
pub(super) struct TimeLimit {
    limit: Instant,
    /// Name of the limit for the message.
    kind: &'static str,
}

impl TimeLimit {
    pub(super) fn new(plan: &Plan) -> TimeLimit {
        let own = plan.time_limit.filter(|own| *own <= SIMULATED_MAX);
        TimeLimit {
            limit: Instant::at(own.unwrap_or(SIMULATED_MAX)),
            kind: match own {
                Some(_) => "time limit",
                None => "longest simulation",
            },
        }
    }
}

impl<D: Driver> EdgeActor<D> for TimeLimit {
    fn begin(&mut self, world: &mut World<'_, D>) {
        world.limit = self.limit;
    }

    fn next(&self, _: &World<'_, D>) -> Instant {
        self.limit
    }

    fn look(&mut self, world: &mut World<'_, D>) -> Result<Option<End>, SimulationError> {
        if world.now < self.limit {
            return Ok(None);
        }
        world.collect()?;
        // Whatever still happens changes no result, so the trial counts as complete.
        if world.is_settled() {
            let end = if world.has_background {
                End::Cut
            } else {
                End::Done
            };
            return Ok(Some(end));
        }
        Ok(Some(End::Stopped(Stop {
            by: StopKind::TimeLimit,
            why: format!("the {} of {} was reached", self.kind, self.limit),
        })))
    }
}
