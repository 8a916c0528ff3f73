//! Starts and ends of the collectives of jobs.

use std::ops::ControlFlow;
use std::sync::Arc;

use tenter_language::units::{Instant, Time};
use tenter_workload::flow_workload::FlowSchedule;
use tenter_workload::graph::GraphSchedule;
use tenter_workload::{JobId, Schedule};

use crate::error::SimulationError;
use crate::flow_level::RingsTaken;
use crate::network::{Driver, NodeModel};
use crate::results::packet_hops;

use super::actor::EdgeActor;
use super::world::{JobState, World, tell};

/// Starts collectives, and records their ends.
#[derive(Debug)]
pub(super) struct Jobs;

impl<D: Driver> EdgeActor<D> for Jobs {
    fn next(&self, world: &World<'_, D>) -> Instant {
        let starts = world.jobs.iter().filter_map(|job| job.next_start);
        starts.min().unwrap_or(Instant::NEVER)
    }

    fn next_if_empty(&self, world: &World<'_, D>) -> Instant {
        let is_left = |job: &JobState| job.overdue || job.next_start.is_some();
        if world.jobs.iter().any(is_left) {
            // A start after the trial's limit still keeps the trial going until the limit.
            self.next(world).min(world.limit)
        } else {
            Instant::NEVER
        }
    }

    /// Records every collective that has ended, and schedules the job's next one. A collective
    /// whose end within hosts is after the trial's limit counts as running.
    fn book(&mut self, world: &mut World<'_, D>) {
        // This is the sync point that ended collectives have asked for.
        world.context.progress.take_edge();
        let mut ended = Vec::new();
        for (index, state) in world.jobs.numbered_mut() {
            if !state.running || world.context.progress.missing(index) > 0 {
                continue;
            }
            let plan = &world.context.jobs[index];
            let within = plan.within_hosts(state.turn);
            let last_arrival = world.context.progress.last_arrival(index);
            let end = last_arrival.saturating_add(within);
            if !within.is_zero() && end > world.limit {
                state.overdue = true;
                continue;
            }
            state.running = false;
            if let Some(taken) = world.driver.take_rings(index) {
                world.flow_table.set_rings(index, taken);
            }
            world.flow_table.end(index, state.turn as usize, end);
            if plan.has_turn(state.turn + 1) {
                state.turn += 1;
                let pause = plan.job.gap.saturating_add(plan.compute(state.turn));
                state.next_start = Some(end.saturating_add(pause));
            } else {
                state.end = Some(end);
                ended.push((index, end));
            }
        }
        for (job, end) in ended {
            start_followers(world, job, end);
        }
    }

    /// Starts every collective that is due.
    fn act(&mut self, world: &mut World<'_, D>) -> Result<(), SimulationError> {
        for index in world.jobs.ids() {
            let is_due = world.jobs[index].next_start == Some(world.now);
            // While rings ran, the sink may have stopped the trial.
            if is_due && world.stopped.is_none() {
                world.jobs[index].next_start = None;
                world.jobs[index].running = true;
                start_collective(world, index)?;
            }
        }
        Ok(())
    }
}

/// Schedules the jobs that wait for the end of `job`.
fn start_followers<D: Driver>(world: &mut World<'_, D>, job: JobId, end: Instant) {
    for &next in world.followers.of(job) {
        let plan = &world.context.jobs[next];
        let start = end.saturating_add(plan.job.start);
        world.context.progress.set_start(next, start);
        world.jobs[next].next_start = Some(plan.first_start(end));
    }
}

/// Runs rings as a whole, if the driver supports that. The sink receives progress meanwhile, and
/// may stop the trial.
fn run_rings<D: Driver>(
    world: &mut World<'_, D>,
    job: JobId,
    begin: Instant,
    schedule: &dyn Schedule,
) -> Result<Option<RingsTaken>, SimulationError> {
    if world.context.has_packets() || schedule.rings().is_none() {
        return Ok(None);
    }
    let progress = world.progress(packet_hops(world.driver));
    let (driver, sink) = (&mut *world.driver, &mut *world.sink);
    let mut told = Ok(None);
    let mut goes_on = || {
        // A sink that has stopped the trial is not asked again.
        if matches!(told, Ok(None)) {
            told = tell(sink, &progress);
        }
        match told {
            Ok(None) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    };
    let taken = driver.run_rings(job, begin, schedule, &mut goes_on);
    world.stopped = told?;
    Ok(taken)
}

/// Starts a job's current collective on all its hosts.
fn start_collective<D: Driver>(
    world: &mut World<'_, D>,
    job: JobId,
) -> Result<(), SimulationError> {
    let context = Arc::clone(&world.context);
    let plan = &context.jobs[job];
    let number = world.jobs[job].turn;
    let schedule = plan.schedule(number)?;
    // Hierarchical algorithms begin and end with a phase within hosts, outside the network.
    let within = plan.within_hosts(number);
    let begin = world
        .now
        .saturating_add(within)
        .saturating_add(schedule.start_up());
    if let Some(taken) = run_rings(world, job, begin, &*schedule)? {
        // Rings count as one unit of work, which ends with their last arrival.
        let trigger = trigger_after(world, job, number);
        context.progress.begin(job, 1, trigger);
        world
            .flow_table
            .begin_rings(job, world.now, schedule, taken);
        return Ok(());
    }
    let sources = schedule.flow_workload().map(FlowSchedule::sources);
    let operations = GraphSchedule::of(&*schedule).map(GraphSchedule::things_to_do);
    let things = sources.or(operations);
    context.progress.begin(
        job,
        things.unwrap_or(u64::from(schedule.transfer_count())),
        trigger_after(world, job, number),
    );
    // Endless streams have no rows, so there are no statistics to begin.
    if !plan.is_endless() {
        let schedule = Arc::clone(&schedule);
        world.flow_table.begin(&context, job, world.now, schedule);
    }
    // Each partition has its own schedules, so that threads share nothing while they look them up.
    for part in 0..world.driver.parts() {
        let schedules = &mut world.driver.fabric_mut(part).schedules;
        schedules.set(job, number, Arc::clone(&schedule));
    }
    for (rank, &host) in plan.job.hosts.numbered() {
        // A host starts all its ranks of a job at once.
        if !context.is_first_there(host, job, rank) {
            continue;
        }
        let home = context.home(host);
        let NodeModel::Host(host) = world.driver.node_mut(host) else {
            continue;
        };
        // Before its first collective a job has left no state to reset.
        if number > 0 {
            host.reset(&context, job);
        }
        if let Some(at) = host.start(&context, job, begin) {
            world.driver.wake(home, at);
        }
    }
    Ok(())
}

/// Returns the time from a collective's last arrival to the sync point that it needs: for the next
/// collective, for a job that waits for this one, or for the end of background jobs. `None` if
/// nothing depends on it.
fn trigger_after<D: Driver>(world: &World<'_, D>, job: JobId, number: u32) -> Option<Time> {
    let plan = &world.context.jobs[job];
    let delay = if plan.has_turn(number + 1) {
        plan.job.gap.saturating_add(plan.compute(number + 1))
    } else {
        let background = world.context.background_delay;
        let background = world.has_background.then_some(background);
        // A pause storm keeps the network busy for ever, so the end of the jobs that it affects
        // must be a sync point. Steering also needs one, because circuits follow the remaining
        // jobs.
        let storms = world.broken.has_storms().then_some(plan.job.gap);
        let follower = world.followers.soonest(job, &world.context.jobs);
        let own = background.or(storms).into_iter();
        own.chain(follower).chain(world.steered_after).min()?
    };
    Some(delay.saturating_add(plan.within_hosts(number)))
}
