//! The loop from sync point to sync point, until the network is empty.

use tenter_engine::RunOutcome;
use tenter_language::units::Instant;

use crate::error::SimulationError;
use crate::network::Driver;
use crate::results::last_event;

use super::actor::{EdgeActor, End};
use super::world::World;

/// A run under way, with its actors.
pub(super) struct RunLoop<'a, D: Driver> {
    pub(super) world: World<'a, D>,
    pub(super) actors: Vec<Box<dyn EdgeActor<D>>>,
}

impl<D: Driver> RunLoop<'_, D> {
    /// Runs to the end; returns how it ended.
    pub(super) fn run(&mut self) -> Result<End, SimulationError> {
        for actor in &mut self.actors {
            actor.begin(&mut self.world);
        }
        let end = self.run_edges()?;
        self.world.collect()?;
        if matches!(end, End::Done) {
            // The sync point that found the network empty says nothing: the trial ends with its
            // last event.
            let of_flows = self.world.flow_table.last_event();
            self.world.now = of_flows.max(last_event(self.world.driver));
        }
        for actor in &mut self.actors {
            actor.end(&mut self.world)?;
        }
        Ok(end)
    }

    /// Repeats running and acting until the trial ends.
    fn run_edges(&mut self) -> Result<End, SimulationError> {
        loop {
            // Before the first window, too: collectives may start at once.
            self.act()?;
            if let Some(stop) = self.world.stopped.take() {
                return Ok(End::Stopped(stop));
            }
            let edge = self.earliest(|actor, world| actor.next(world));
            let outcome = self.run_to(edge)?;
            let world = &mut self.world;
            match outcome {
                RunOutcome::Edge(at) => world.now = at,
                // Nothing moves any more. Only an actor can bring the network back to work: a
                // collective that starts, or a link that comes up.
                RunOutcome::Empty => {
                    self.book();
                    let Some(next) = self.next_if_empty() else {
                        // Frames that wait for credit have no timers, so their deadlock leaves an
                        // empty network.
                        return Ok(self.world.deadlock().map_or(End::Done, End::Stopped));
                    };
                    self.idle_until(next)?;
                }
            }
            self.book();
            for actor in &mut self.actors {
                if let Some(end) = actor.look(&mut self.world)? {
                    return Ok(end);
                }
            }
        }
    }

    /// Runs the network to a sync point, or until it is empty, and collects records on the way.
    fn run_to(&mut self, edge: Instant) -> Result<RunOutcome, SimulationError> {
        let world = &mut self.world;
        loop {
            let progress = &world.context.progress;
            let outcome = world.driver.run(world.now, edge, progress);
            if !world.driver.has_many_records() {
                return Ok(outcome);
            }
            world.collect()?;
        }
    }

    /// Lets all actors take account of the present instant.
    fn book(&mut self) {
        for actor in &mut self.actors {
            actor.book(&mut self.world);
        }
    }

    /// Lets all actors act, and those once more for which another actor has made something due.
    fn act(&mut self) -> Result<(), SimulationError> {
        for actor in &mut self.actors {
            actor.act(&mut self.world)?;
        }
        for actor in &mut self.actors {
            if actor.next(&self.world) <= self.world.now {
                actor.act(&mut self.world)?;
            }
        }
        Ok(())
    }

    fn earliest(&self, of: impl Fn(&dyn EdgeActor<D>, &World<'_, D>) -> Instant) -> Instant {
        let times = self.actors.iter().map(|actor| of(&**actor, &self.world));
        times.min().unwrap_or(Instant::NEVER)
    }

    /// Returns when something next happens in an empty network, if there is any work left.
    fn next_if_empty(&self) -> Option<Instant> {
        let next = self.earliest(|actor, world| actor.next_if_empty(world));
        let is_left = self.world.has_background || !self.world.is_done();
        (is_left && !next.is_never()).then(|| next.min(self.world.limit))
    }

    /// Advances time in an empty network.
    fn idle_until(&mut self, at: Instant) -> Result<(), SimulationError> {
        for actor in &mut self.actors {
            actor.skip(&mut self.world, at)?;
        }
        self.world.now = at;
        Ok(())
    }
}
