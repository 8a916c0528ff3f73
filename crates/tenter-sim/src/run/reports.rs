//! Periodic reports: rows, progress, and the search for deadlocks and for jobs that will never end.

use std::ops::{Range, RangeInclusive};

use tenter_language::units::{Instant, Time};
use tenter_workload::JobId;

use crate::error::SimulationError;
use crate::network::{Driver, HOPS_PER_RUN, RECORDS_PER_JUMP};
use crate::results::packet_hops;

use super::actor::{EdgeActor, End};
use super::stall;
use super::world::{World, tell};

/// Packet-hops between two reports; the interval is adapted to stay in this range.
const HOPS_PER_REPORT: Range<u64> = 500_000..HOPS_PER_RUN;
/// Simulated time until the first report.
const FIRST_REPORT: Time = Time::from_us(10);
/// Shortest and longest simulated time between two reports.
const REPORTS_APART: RangeInclusive<Time> = Time::from_us(1)..=Time::from_us(10_000);
/// Shortest and longest time between two reports if steady states are jumped over. A run that does
/// not jump returns earlier anyway.
const OF_JUMPS_APART: RangeInclusive<Time> = Time::from_us(1)..=Time::from_us(1_000_000);
/// Shortest and longest time between two reports at flow level, where packet-hops take no time.
const OF_FLOWS_APART: RangeInclusive<Time> = Time::from_us(1)..=Time::from_us(1_000_000_000);
/// Packet-hops that take as long as an event at flow level, when thousands of flows share links.
const HOPS_PER_EVENT: u64 = 100;

/// Number of waiting records from which they are collected before a report is due: jumps add many
/// at once.
const RECORDS_OF_JUMPS: usize = RECORDS_PER_JUMP as usize / 2;

/// Hands rows and progress to the sink, which may stop the trial.
#[derive(Debug)]
pub(super) struct Reports {
    next: Instant,
    interval: Time,
    hops: u64,
    events: u64,
}

impl Default for Reports {
    fn default() -> Self {
        Reports {
            next: Instant::at(FIRST_REPORT),
            interval: FIRST_REPORT,
            hops: 0,
            events: 0,
        }
    }
}

impl<D: Driver> EdgeActor<D> for Reports {
    fn next(&self, _: &World<'_, D>) -> Instant {
        self.next
    }

    fn look(&mut self, world: &mut World<'_, D>) -> Result<Option<End>, SimulationError> {
        let jumped = world.driver.stats().jumped.packet_hops;
        let may_jump = jumped > 0 && !may_end_trials(world);
        if world.now < self.next && !may_jump {
            return Ok(None);
        }
        let hops = packet_hops(world.driver);
        let counted = if may_jump { hops - jumped } else { hops };
        // Jumps end at instants of their own, so reports may come before their time.
        let is_early = world.now < self.next && counted - self.hops < HOPS_PER_REPORT.end;
        if is_early && waiting_records(world) < RECORDS_OF_JUMPS {
            return Ok(None);
        }
        world.collect()?;
        let done = counted - std::mem::replace(&mut self.hops, counted);
        let (apart, done) = if may_jump {
            (OF_JUMPS_APART, done)
        } else if world.context.has_packets() {
            (REPORTS_APART, done)
        } else {
            let events = world.driver.stats().node_visits * HOPS_PER_EVENT;
            let done = events - std::mem::replace(&mut self.events, events);
            (OF_FLOWS_APART, done)
        };
        let few = if may_jump {
            HOPS_PER_REPORT.end
        } else {
            HOPS_PER_REPORT.start
        };
        // Few or many packet-hops since the last report lengthen or shorten the interval.
        if done < few {
            self.interval = (self.interval * 2).min(*apart.end());
        } else if done > HOPS_PER_REPORT.end {
            self.interval = (self.interval / 2).max(*apart.start());
        }
        self.next = world.now.saturating_add(self.interval);
        if world.context.has_packets()
            && let Some(deadlock) = world.deadlock()
        {
            return Ok(Some(End::Stopped(deadlock)));
        }
        give_up(world);
        let progress = world.progress(hops);
        Ok(tell(world.sink, &progress)?.map(End::Stopped))
    }
}

/// Returns the number of records that have not been collected.
fn waiting_records<D: Driver>(world: &World<'_, D>) -> usize {
    let parts = (0..world.driver.parts()).map(|part| world.driver.fabric(part));
    let records = parts.map(|fabric| &fabric.partition_records);
    records
        .map(|of| of.delivered.len() + of.acknowledged.len())
        .sum()
}

/// Returns true if a report may end the trial, by a deadlock or by giving jobs up. Then its time
/// must not depend on jumps, or a jump would change the result.
fn may_end_trials<D: Driver>(world: &World<'_, D>) -> bool {
    let lossless = |class: &tenter_fabric::net::ClassSpec| class.lossless.is_some();
    world.has_background || world.context.switches.any_class(lossless)
}

/// Gives up measured jobs that will never end, if background jobs would otherwise run on for them.
fn give_up<D: Driver>(world: &mut World<'_, D>) {
    if !world.has_background {
        return;
    }
    let runs = |&job: &JobId| world.jobs[job].running;
    let failed = world.judged().filter(runs);
    let failed = failed.filter(|&job| {
        stall::has_failed(world.driver, job)
            || stall::stands_still(world.driver, job, &world.broken)
    });
    let mut failed: Vec<JobId> = failed.collect();
    // Jobs that wait for a failed one will not end either.
    while let Some(job) = failed.pop() {
        world.jobs[job].end.get_or_insert(world.now);
        failed.extend(world.followers.of(job));
    }
}
