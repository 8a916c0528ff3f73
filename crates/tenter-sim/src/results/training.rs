//! The steps of trainings: computing, exposed communication by parallelism, bubble.

use std::collections::BTreeMap;

use tenter_record::{TrainingRankRow, TrainingStepRow};
use tenter_units::Time;
use tenter_workload::Operations;
use tenter_workload::graph::{GraphSchedule, Metered};
use tenter_workload::training::{Parallelism, Stream, TrainingStep};

use crate::network::Driver;

use super::flow_table::FlowTable;
use super::metered::{Volumes, metered};
use super::outcome::Outcome;

/// Brings together what all ranks of trainings have measured.
pub(crate) fn collect<D: Driver>(driver: &D, flow_table: &FlowTable, outcome: &mut Outcome) {
    let context = driver.context();
    let mut volumes: BTreeMap<u16, Volumes> = BTreeMap::new();
    for ((job, turn), ranks) in metered(driver) {
        let number = usize::from(job);
        let plan = &context.jobs[number];
        let operations = plan.run(turn).traffic.operations();
        let Some(step) = operations.and_then(Operations::step) else {
            continue;
        };
        let tally = &flow_table.tallies[number][turn as usize];
        let whole = ranks.len() == plan.job.hosts.len();
        let (Some(end), Some(schedule)) = (
            tally.end.filter(|_| whole),
            GraphSchedule::of(&*tally.schedule),
        ) else {
            continue;
        };
        let hosts = &plan.job.hosts;
        let volumes = volumes.entry(job);
        let volumes = volumes.or_insert_with(|| Volumes::new(context, job, schedule));
        let turn = plan.turn(turn);
        let of = (u32::from(job), turn.iteration);
        let whole = end - tally.start;
        let times: Vec<Times> = ranks.values().map(|of| Times::of(of, whole)).collect();
        let rows = (0..).zip(&times).zip(hosts);
        let rows = rows.map(|((rank, times), &host)| times.row(of, rank, host));
        outcome.counts.training_ranks.extend(rows);
        let row = TrainingStepRow {
            job_name: plan.job.name.clone(),
            warm_up: turn.warm_up,
            ..step_row((step, volumes), of, (&times, whole))
        };
        outcome.summary.training_steps.push(row);
    }
}

/// What the time of a rank went by with, in ps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    end: u64,
    compute: u64,
    exposed: [u64; Parallelism::ALL.len()],
    bubble: u64,
}

impl Times {
    fn of(metered: &Metered, whole: u64) -> Times {
        let mut exposed = [0; Parallelism::ALL.len()];
        for &(label, with, waiting) in &metered.streams {
            let parallelism = Stream::of_label(label).and_then(Stream::parallelism);
            let Some(parallelism) = parallelism else {
                continue;
            };
            // What a stage waits for before it is sent is the bubble.
            let waiting = if parallelism == Parallelism::Pipeline {
                0
            } else {
                waiting
            };
            exposed[parallelism as usize] += with + waiting;
        }
        let known = metered.computing + exposed.iter().sum::<u64>();
        Times {
            end: metered.end,
            compute: metered.computing,
            exposed,
            bubble: whole.saturating_sub(known),
        }
    }

    fn row(&self, (job, iteration): (u32, u32), rank: u32, host: u32) -> TrainingRankRow {
        let [tensor, expert, context, pipeline, data, ..] = self.exposed.map(Time::from_ps);
        TrainingRankRow {
            job,
            iteration,
            rank,
            host,
            end: Time::from_ps(self.end),
            compute: Time::from_ps(self.compute),
            tensor,
            expert,
            context,
            pipeline,
            bubble: Time::from_ps(self.bubble),
            data,
        }
    }
}

fn step_row(
    (step, volumes): (&TrainingStep, &Volumes),
    (job, iteration): (u32, u32),
    (times, whole): (&[Times], u64),
) -> TrainingStepRow {
    let ranks = times.len().max(1) as u128;
    let mean = |of: &dyn Fn(&Times) -> u64| {
        let sum: u128 = times.iter().map(|times| u128::from(of(times))).sum();
        (sum / ranks) as u64
    };
    let compute = mean(&|of| of.compute);
    let exposed = Parallelism::ALL.map(|of| mean(&|times| times.exposed[of as usize]));
    let bubble = whole.saturating_sub(compute + exposed.iter().sum::<u64>());
    let [tensor, expert, context, pipeline, data, ..] = exposed.map(Time::from_ps);
    let computed = step.computed;
    let share = |seconds: f64| Time::from_ps((seconds * 1e12 / f64::from(step.ranks)) as u64);
    let seconds = Time::from_ps(whole).as_ns().max(f64::MIN_POSITIVE) / 1e9;
    let flops = step.model_flops / seconds / f64::from(step.ranks);
    let bytes = Parallelism::ALL.map(|of| volumes.of(of));
    TrainingStepRow {
        job,
        job_name: String::new(),
        iteration,
        warm_up: false,
        step: Time::from_ps(whole),
        compute: Time::from_ps(compute),
        forward: share(computed.forward),
        backward: share(computed.backward),
        recompute: share(computed.recomputed),
        optimizer: share(computed.optimizer),
        tensor,
        expert,
        context,
        pipeline,
        bubble: Time::from_ps(bubble),
        data,
        tokens: step.tokens,
        tokens_per_second: step.tokens as f64 / seconds,
        tflops: flops / 1e12,
        mfu: 100.0 * flops / step.peak_flops,
        memory: step.memory.all() as u64,
        tensor_within: bytes[0][0],
        tensor_network: bytes[0][1],
        expert_within: bytes[1][0],
        expert_network: bytes[1][1],
        context_within: bytes[2][0],
        context_network: bytes[2][1],
        pipeline_within: bytes[3][0],
        pipeline_network: bytes[3][1],
        data_within: bytes[4][0],
        data_network: bytes[4][1],
    }
}
