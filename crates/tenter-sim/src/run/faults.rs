//! Faults and their repairs, which happen at sync points.

use std::collections::VecDeque;

use crate::plan::{Fault, FaultEvent, Plan};
use tenter_fabric::net::WatchdogSpec;
use tenter_fabric::topology::{CableEnd, HostId};
use tenter_language::units::{Instant, Rate, Time};

use crate::error::SimulationError;
use crate::network::{Change, Context, Driver};

use super::actor::{EdgeActor, End};
use super::node_changes::{change, lose};
use super::world::World;

/// Faults to come, and the PFC watchdog, which reacts to storms.
#[derive(Debug)]
pub(super) struct Faults {
    events: VecDeque<FaultEvent>,
    convergence: Time,
    /// Changes that routing will learn: (time, cable, true if the cable is out).
    news: VecDeque<(Instant, u32, bool)>,
    watchdog: Option<WatchdogSpec>,
    next_look: Instant,
}

impl Faults {
    pub(super) fn new(plan: &Plan) -> Faults {
        Faults {
            events: plan.faults.events.iter().copied().collect(),
            convergence: plan.faults.convergence,
            news: VecDeque::new(),
            watchdog: plan.watchdog,
            next_look: plan
                .watchdog
                .map_or(Instant::NEVER, |spec| Instant::at(spec.poll_interval)),
        }
    }

    /// Returns the next event that may bring a network at rest back to work. The watchdog finds
    /// nothing to do in such a network, so it does not count.
    fn next_event(&self) -> Instant {
        let event = self
            .events
            .front()
            .map_or(Instant::NEVER, |event| Instant::at(event.at));
        let news = self.news.front().map_or(Instant::NEVER, |news| news.0);
        event.min(news)
    }

    fn apply_fault<D: Driver>(&mut self, world: &mut World<'_, D>, fault: Fault) {
        let now = world.now;
        match fault {
            Fault::LinkDown(cable) => {
                let down = &mut world.broken.down[cable as usize];
                *down += 1;
                // Overlapping faults of one cable count; only the first and the last change it.
                if *down == 1 {
                    world.broken.since[cable as usize] = now;
                    take_down(world.driver, cable, now);
                    self.news.push_back((now + self.convergence, cable, true));
                }
            }
            Fault::LinkUp(cable) => {
                let down = &mut world.broken.down[cable as usize];
                *down -= 1;
                if *down == 0 {
                    for end in ends(world.driver, cable) {
                        change(world.driver, end.node, now, &Change::Up(end.port));
                    }
                    self.news.push_back((now + self.convergence, cable, false));
                }
            }
            Fault::LinkRate(cable, rate) => set_rate(world.driver, cable, rate, now),
            Fault::StormBegins(host) => {
                world.broken.storms_to_come -= 1;
                world.broken.storms.push(host);
                change(world.driver, host, now, &Change::StormBegins);
            }
            Fault::StormEnds(host) => end_storm(world, host),
        }
    }

    /// Makes routing learn the changes that are due.
    fn converge<D: Driver>(&mut self, world: &mut World<'_, D>) {
        let now = world.now;
        while let Some((_, cable, is_out)) = self.news.front().copied().filter(|n| n.0 <= now) {
            self.news.pop_front();
            world.routes.set_out(cable, is_out);
        }
        world.routes.publish(world.driver, now);
    }
}

impl<D: Driver> EdgeActor<D> for Faults {
    fn begin(&mut self, world: &mut World<'_, D>) {
        let begins = |event: &&FaultEvent| matches!(event.fault, Fault::StormBegins(_));
        world.broken.storms_to_come = self.events.iter().filter(begins).count();
        world.broken.is_more_to_come = !self.events.is_empty();
        if !self.events.is_empty() {
            let cables = world.context.topology.cables.len();
            world.broken.down = vec![0; cables];
            world.broken.since = vec![Instant::START; cables];
        }
    }

    fn next(&self, _: &World<'_, D>) -> Instant {
        self.next_event().min(self.next_look)
    }

    fn next_if_empty(&self, _: &World<'_, D>) -> Instant {
        self.next_event()
    }

    /// Ends all storms and drops the remaining faults, once no measured job is left that they could
    /// affect.
    fn look(&mut self, world: &mut World<'_, D>) -> Result<Option<End>, SimulationError> {
        if !world.broken.storms.is_empty() && world.is_done() {
            self.events.clear();
            world.broken.storms_to_come = 0;
            world.broken.is_more_to_come = !self.next_event().is_never();
            for host in world.broken.storms.clone() {
                end_storm(world, host);
            }
        }
        Ok(None)
    }

    fn act(&mut self, world: &mut World<'_, D>) -> Result<(), SimulationError> {
        let now = world.now;
        if EdgeActor::<D>::next(self, world) > now {
            return Ok(());
        }
        while let Some(event) = self.events.front().copied() {
            if Instant::at(event.at) > now {
                break;
            }
            self.events.pop_front();
            self.apply_fault(world, event.fault);
        }
        // After the faults: without convergence time routing learns of them at once.
        self.converge(world);
        world.broken.is_more_to_come = !self.next_event().is_never();
        if let Some(spec) = self.watchdog.filter(|_| self.next_look <= now) {
            // Strictly later than `now`, which may itself be a multiple.
            self.next_look = (now + Time::LEAST).next_multiple_of(spec.poll_interval);
            for node in world.context.topology.switch_nodes() {
                change(world.driver, node, now, &Change::Watch(spec));
            }
        }
        Ok(())
    }
}

fn end_storm<D: Driver>(world: &mut World<'_, D>, host: HostId) {
    let storms = &mut world.broken.storms;
    if storms.contains(&host) {
        storms.retain(|other| *other != host);
        change(world.driver, host, world.now, &Change::StormEnds);
    }
}

fn ends<D: Driver>(driver: &D, cable: u32) -> [CableEnd; 2] {
    driver.context().topology().cables[cable as usize].ends
}

/// Takes both directions of a link down; the frames under way on it are lost.
fn take_down<D: Driver>(driver: &mut D, cable: u32, now: Instant) {
    let ends = ends(driver, cable);
    for (sender, receiver) in [(ends[0], ends[1]), (ends[1], ends[0])] {
        let losses = lose(driver, receiver);
        let down = Change::Down(sender.port, losses);
        change(driver, sender.node, now, &down);
    }
}

fn set_rate<D: Driver>(driver: &mut D, cable: u32, rate: Rate, now: Instant) {
    for end in ends(driver, cable) {
        let context: &Context = driver.context();
        let peer = context.topology.neighbour(end.node, end.port).node;
        // A cut-through switch cannot forward a frame faster than it arrives, so it may have to
        // store it now.
        let whole = context.arrives_whole_at(peer, rate);
        let serialisation = context.serialisation_at(end.node, rate);
        let slower = Change::Rate(end.port, serialisation, whole);
        change(driver, end.node, now, &slower);
    }
}
