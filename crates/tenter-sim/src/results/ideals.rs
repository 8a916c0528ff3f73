//! Ideal times, with which completion times are compared.

use std::collections::BTreeMap;

use crate::plan::Plan;
use crate::plan::ideal::Ideal;
use tenter_language::units::{ById, Time};
use tenter_workload::{CollectiveRun, Job, JobId};

use crate::network::Context;

/// A job's ideal times for its collectives, by index in the sequence and size in bytes.
pub(crate) type Times = BTreeMap<(u32, u64), Time>;

/// All jobs' ideal times, by collective.
#[derive(Debug)]
pub(crate) struct Ideals {
    /// Each job's ideal times for the sizes that are known beforehand.
    fixed: ById<JobId, Times>,
    /// The plan, if some sizes are drawn: their ideal times are computed when they are known.
    drawn: Option<Box<Plan>>,
}

impl Ideals {
    pub(crate) fn new(plan: &Plan, context: &Context) -> Ideals {
        let mut runs = plan.jobs.iter().flat_map(|job| &job.sequence);
        let any = runs.any(|run| run.drawn_from_bytes.is_some());
        Ideals {
            fixed: plan
                .jobs
                .iter()
                .map(|job| of_job(plan, context, job))
                .collect(),
            drawn: any.then(|| Box::new(plan.clone())),
        }
    }

    /// Returns the ideal times of a job that has begun these collectives. Collectives without a
    /// closed form for their completion time have none.
    pub(crate) fn of(
        &self,
        context: &Context,
        job: JobId,
        begun: impl Iterator<Item = (u32, u64)>,
    ) -> Times {
        let mut times = self.fixed[job].clone();
        let Some(plan) = &self.drawn else {
            return times;
        };
        let job = &plan.jobs[job.index()];
        let mut ideal = Ideal::without_latency(plan, job);
        for (index, size_bytes) in begun {
            let run = &job.sequence[index as usize];
            if run.drawn_from_bytes.is_none() || !has_time(run) {
                continue;
            }
            times.entry((index, size_bytes)).or_insert_with(|| {
                let drawn = CollectiveRun {
                    size_bytes,
                    ..run.clone()
                };
                // Drawn sizes have their own latencies, which were not computed beforehand.
                ideal.look_at(&context.routing, &drawn);
                ideal.completion(&drawn)
            });
        }
        times
    }
}

/// Returns true if a closed form predicts the collective's completion time.
fn has_time(run: &CollectiveRun) -> bool {
    !run.traffic.is_endless() && run.traffic.flow_workload().is_none()
}

fn of_job(plan: &Plan, context: &Context, job: &Job) -> Times {
    let ideal = Ideal::of(plan, &context.routing, job);
    let mut times = Times::new();
    let mut known: Vec<(&CollectiveRun, Time)> = Vec::new();
    for (index, run) in (0..).zip(&job.sequence) {
        if !has_time(run) || run.drawn_from_bytes.is_some() {
            continue;
        }
        // Steps of a program repeat earlier ones, most likely recent ones; the closed form may be
        // expensive.
        let same = known
            .iter()
            .rev()
            .find(|(other, _)| other.size_bytes == run.size_bytes && other.traffic == run.traffic);
        let time = same.map_or_else(|| ideal.completion(run), |&(_, time)| time);
        if same.is_none() {
            known.push((run, time));
        }
        times.insert((index, run.size_bytes), time);
    }
    times
}
