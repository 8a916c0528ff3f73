//! The ideal times that completion times are compared with.

use std::collections::BTreeMap;

use tenter_scenario::Plan;
use tenter_scenario::ideal::Ideal;
use tenter_units::Time;
use tenter_workload::CollectiveRun;

use crate::build::Context;

/// The closed forms of as many turns are kept, where the size of each is drawn.
const DRAWN_MAX: u64 = 1_000;

/// For each job the ideal times of its collectives, by their index and size.
#[derive(Debug)]
pub(crate) struct Ideals(Vec<BTreeMap<(u32, u64), Time>>);

impl Ideals {
    pub(crate) fn new(plan: &Plan, context: &Context) -> Ideals {
        let jobs = (0..plan.jobs.len()).map(|job| of_job(plan, context, job));
        Ideals(jobs.collect())
    }

    /// That of a collective; none of what has no completion time, or where more sizes are drawn
    /// than are looked at.
    pub(crate) fn of(&self, job: usize, index: u32, size_bytes: u64) -> Option<Time> {
        self.0[job].get(&(index, size_bytes)).copied()
    }
}

fn of_job(plan: &Plan, context: &Context, number: usize) -> BTreeMap<(u32, u64), Time> {
    let job = &plan.jobs[number];
    let ideal = Ideal::of(plan, &context.routing, job);
    let mut times = BTreeMap::new();
    let mut known: Vec<(&CollectiveRun, Time)> = Vec::new();
    for (index, run) in (0..).zip(&job.sequence) {
        if run.kind.is_endless() || run.kind.flow_workload().is_some() {
            continue;
        }
        if run.drawn_from_bytes.is_some() {
            let length = job.sequence.len() as u64;
            let turns = job.turns().unwrap_or(DRAWN_MAX).min(DRAWN_MAX);
            for turn in (u64::from(index)..turns).step_by(length as usize) {
                let size_bytes = context.jobs[number].size_bytes(turn as u32);
                let drawn = CollectiveRun {
                    size_bytes,
                    ..run.clone()
                };
                times.insert((index, size_bytes), ideal.completion(&drawn));
            }
            continue;
        }
        // Steps of a program repeat what others do.
        let same = known
            .iter()
            .rev()
            .find(|(other, _)| other.size_bytes == run.size_bytes && other.kind == run.kind);
        let time = same.map_or_else(|| ideal.completion(run), |&(_, time)| time);
        if same.is_none() {
            known.push((run, time));
        }
        times.insert((index, run.size_bytes), time);
    }
    times
}
