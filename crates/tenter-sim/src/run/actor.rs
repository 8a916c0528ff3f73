//! The interface of actors, which act on the whole network at sync points.

use std::fmt::Debug;

use tenter_language::units::Instant;
use tenter_results::Stop;

use crate::error::SimulationError;
use crate::network::Driver;

use super::world::World;

/// The way in which a trial ends.
#[derive(Debug)]
pub(super) enum End {
    /// All work is done; the trial ends with its last event.
    Done,
    /// All work is done, except that background jobs still send; they are cut off now.
    Cut,
    /// The trial ends now with work undone.
    Stopped(Stop),
}

/// An actor acts at sync points, where every node stands at the same instant.
///
/// At each sync point all actors [`book`](EdgeActor::book), then all [`look`](EdgeActor::look),
/// then all [`act`](EdgeActor::act), each time in the order of the list in `actors.rs`. Actors
/// share the [`World`] and do not know each other.
pub(super) trait EdgeActor<D: Driver>: Debug + Send {
    /// Prepares the actor before anything has happened.
    fn begin(&mut self, _: &mut World<'_, D>) {}

    /// Returns the next sync point that the actor needs.
    fn next(&self, _: &World<'_, D>) -> Instant {
        Instant::NEVER
    }

    /// Returns the next instant at which the actor may bring an empty network back to work.
    fn next_if_empty(&self, _: &World<'_, D>) -> Instant {
        Instant::NEVER
    }

    /// Notes that nothing happens until `to`, because the network is empty.
    ///
    /// # Errors
    /// If records cannot be kept.
    fn skip(&mut self, _: &mut World<'_, D>, _to: Instant) -> Result<(), SimulationError> {
        Ok(())
    }

    /// Takes account of what has happened up to now.
    fn book(&mut self, _: &mut World<'_, D>) {}

    /// Examines the network in its new state; returns the trial's end, if it ends now.
    ///
    /// # Errors
    /// If records cannot be kept.
    fn look(&mut self, _: &mut World<'_, D>) -> Result<Option<End>, SimulationError> {
        Ok(None)
    }

    /// Makes the changes that are due before time advances.
    ///
    /// # Errors
    /// If a change is impossible, or frames are not conserved.
    fn act(&mut self, _: &mut World<'_, D>) -> Result<(), SimulationError> {
        Ok(())
    }

    /// Hands over the actor's last records at the trial's end.
    ///
    /// # Errors
    /// If records cannot be kept.
    fn end(&mut self, _: &mut World<'_, D>) -> Result<(), SimulationError> {
        Ok(())
    }
}
