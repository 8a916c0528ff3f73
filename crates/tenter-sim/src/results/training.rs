//! Training steps: computing, exposed communication by parallelism, and bubble.

use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};
use tenter_results::{TrainingRankRow, TrainingStepRow};
use tenter_workload::graph::Metered;
use tenter_workload::training::TrainingStep;
use tenter_workload::transformer::Parallelism;

use super::iteration_id::IterationId;
use super::metered::{Iteration, Volumes, exposed};
use super::outcome::Outcome;

/// Makes all training jobs' rows from what their ranks have measured.
pub(crate) fn collect(iterations: &[Iteration<'_>], outcome: &mut Outcome) {
    for iteration in iterations {
        let Some(step) = iteration.operations.step() else {
            continue;
        };
        let (of, whole) = (iteration.of, iteration.duration);
        let job = &iteration.plan.job;
        let ranks = iteration.ranks.values();
        let times: Vec<Times> = ranks.map(|of| Times::of(of, whole)).collect();
        let rows = (0..).zip(&times).zip(&job.hosts);
        let rows = rows.map(|((rank, times), &host)| times.row(of, rank, host));
        outcome.counts.training_ranks.extend(rows);
        let row = TrainingStepRow {
            job_name: job.name.clone(),
            warm_up: iteration.warm_up,
            ..step_row(step, &iteration.volumes, of, &times, whole)
        };
        outcome.summary.training_steps.push(row);
    }
}

/// The ways in which a rank spent its time in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    end: Instant,
    compute: Time,
    exposed: [Time; Parallelism::ALL.len()],
    bubble: Time,
}

impl Times {
    fn of(metered: &Metered, whole: Time) -> Times {
        let exposed = exposed_communication(metered);
        let known = metered.computing + exposed.iter().copied().sum();
        Times {
            end: metered.end,
            compute: metered.computing,
            exposed,
            bubble: whole.saturating_sub(known),
        }
    }

    fn row(&self, of: IterationId, rank: u32, host: HostId) -> TrainingRankRow {
        // In the order of `Parallelism::ALL`.
        let [tensor, expert, context, pipeline, data, ..] = self.exposed;
        TrainingRankRow {
            job: of.job_number(),
            iteration: of.iteration,
            rank,
            host: host.number(),
            end: self.end.since_start(),
            compute: self.compute,
            tensor,
            expert,
            context,
            pipeline,
            bubble: self.bubble,
            data,
        }
    }
}

/// Returns the communication for which a rank's computing waited, by parallelism.
pub(super) fn exposed_communication(metered: &Metered) -> [Time; Parallelism::ALL.len()] {
    let [mut exposed, waiting] =
        [0, 1].map(|part: usize| exposed(metered).map(|times| times[part]));
    for parallelism in Parallelism::ALL {
        // A stage that waits for a message that has not been sent is in the bubble; other waits
        // count as exposed.
        if parallelism != Parallelism::Pipeline {
            exposed[parallelism as usize] += waiting[parallelism as usize];
        }
    }
    exposed
}

fn step_row(
    step: &TrainingStep,
    volumes: &Volumes,
    of: IterationId,
    times: &[Times],
    whole: Time,
) -> TrainingStepRow {
    let ranks = times.len().max(1) as u128;
    let mean = |of: &dyn Fn(&Times) -> Time| {
        let sum: u128 = times.iter().map(|times| u128::from(of(times).ps())).sum();
        Time::from_ps((sum / ranks) as u64)
    };
    let compute = mean(&|of| of.compute);
    let exposed = Parallelism::ALL.map(|of| mean(&|times| times.exposed[of as usize]));
    let bubble = whole.saturating_sub(compute + exposed.iter().copied().sum());
    let [tensor, expert, context, pipeline, data, ..] = exposed;
    let computed = step.computed;
    let share = |seconds: f64| Time::from_ps((seconds * 1e12 / f64::from(step.ranks)) as u64);
    let seconds = whole.as_ns().max(f64::MIN_POSITIVE) / 1e9;
    let flops = step.model_flops / seconds / f64::from(step.ranks);
    let bytes = Parallelism::ALL.map(|of| volumes.of(of));
    TrainingStepRow {
        job: of.job_number(),
        job_name: String::new(),
        iteration: of.iteration,
        warm_up: false,
        step: whole,
        compute,
        forward: share(computed.forward),
        backward: share(computed.backward),
        recompute: share(computed.recomputed),
        optimizer: share(computed.optimizer),
        tensor,
        expert,
        context,
        pipeline,
        bubble,
        data,
        tokens: step.tokens,
        tokens_per_second: step.tokens as f64 / seconds,
        tflops: flops / 1e12,
        mfu: 100.0 * flops / step.peak_flops,
        memory: step.memory.all() as u64,
        // Indices follow the order of `Parallelism::ALL`.
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
