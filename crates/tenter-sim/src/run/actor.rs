//! What acts on the whole network at sync points.

use std::fmt::Debug;

use tenter_record::Stop;
use tenter_units::Instant;

use crate::error::SimulationError;
use crate::network::Driver;

use super::world::World;

/// How a trial ends.
#[derive(Debug)]
pub(super) enum End {
    /// All is done: the trial ends with the last thing that has happened.
    Done,
    /// All is done but for what background jobs send, which is cut off here.
    Cut,
    /// The trial ends here with work undone.
    Stopped(Stop),
}

/// One of those that act at sync points, where every node stands at the same instant.
///
/// At each sync point all actors [`book`](EdgeActor::book), then all [`look`](EdgeActor::look),
/// then all [`act`](EdgeActor::act), each time in the order of the list in `actors.rs`. Actors know
/// the [`World`] and not each other.
pub(super) trait EdgeActor<D: Driver>: Debug + Send {
    /// Before anything has happened.
    fn begin(&mut self, _: &mut World<'_, D>) {}

    /// The next sync point that the actor needs.
    fn next(&self, _: &World<'_, D>) -> Instant {
        Instant::NEVER
    }

    /// The next instant at which the actor may let an empty network go on.
    fn next_if_empty(&self, _: &World<'_, D>) -> Instant {
        Instant::NEVER
    }

    /// Nothing happens from now until `to`: the network is empty.
    ///
    /// # Errors
    /// When records cannot be kept.
    fn skip(&mut self, _: &mut World<'_, D>, _to: Instant) -> Result<(), SimulationError> {
        Ok(())
    }

    /// Books what has happened up to now.
    fn book(&mut self, _: &mut World<'_, D>) {}

    /// Looks at the network as it has become; how the trial ends, if it does here.
    ///
    /// # Errors
    /// When records cannot be kept.
    fn look(&mut self, _: &mut World<'_, D>) -> Result<Option<End>, SimulationError> {
        Ok(None)
    }

    /// Changes what is due, before time goes on.
    ///
    /// # Errors
    /// When something cannot be done, or frames are not conserved.
    fn act(&mut self, _: &mut World<'_, D>) -> Result<(), SimulationError> {
        Ok(())
    }

    /// Leaves its last records: the trial is over.
    ///
    /// # Errors
    /// When records cannot be kept.
    fn end(&mut self, _: &mut World<'_, D>) -> Result<(), SimulationError> {
        Ok(())
    }
}
