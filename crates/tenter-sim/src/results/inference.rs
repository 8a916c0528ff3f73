//! Inference: request times, and how ranks spent their time.

use tenter_language::units::{Instant, Time};
use tenter_results::{InferencePoolRow, InferenceRow, NoteCode, NoteRow, RequestRow, nearest_rank};
use tenter_workload::graph::Metered;
use tenter_workload::inference::{Arrival, At, InferenceRun, PoolRun, RequestRun};
use tenter_workload::transformer::Parallelism;

use super::iteration_id::IterationId;
use super::metered::{Iteration, Ranks, Volumes, exposed};
use super::outcome::Outcome;

/// If requests take longer than planned by this share, a scheduler would have made other batches.
const OFF: f64 = 0.1;

/// Makes all inference jobs' rows from what their ranks have measured.
pub(crate) fn collect(iterations: &[Iteration<'_>], outcome: &mut Outcome) {
    for iteration in iterations {
        let Some(run) = iteration.operations.inference() else {
            continue;
        };
        let (of, duration) = (iteration.of, iteration.duration);
        let job_name = &iteration.plan.job.name;
        let requests = requests(run, of, &iteration.ranks);
        let row = InferenceRow {
            job_name: job_name.clone(),
            warm_up: iteration.warm_up,
            ..row(run, &iteration.volumes, of, &requests, duration)
        };
        let late = warning(&row, run.planned_latency, &requests);
        outcome.summary.notes.extend(late);
        outcome.summary.inference.push(row);
        for pool in &run.pools {
            let row = InferencePoolRow {
                job_name: job_name.clone(),
                ..pool_row(pool, of, &iteration.ranks, duration)
            };
            outcome.summary.inference_pools.push(row);
        }
        outcome.counts.requests.extend(requests);
    }
}

/// Warns if requests took longer than the scheduler's clock assumed, because a real scheduler would
/// have made other batches.
fn warning(row: &InferenceRow, planned: Option<Time>, requests: &[RequestRow]) -> Option<NoteRow> {
    let latency = |of: &RequestRow| of.end.saturating_sub(of.arrival);
    let mean = spread(requests.iter().map(latency))?.mean;
    let more = mean.ps() as f64 / planned?.ps().max(1) as f64 - 1.0;
    (more > OFF).then(|| {
        let text = format!(
            "the requests of job {} took {:.0} % longer on average than the scheduler assumed when it made their batches. These batches do not react to congestion: a scheduler that does would make larger ones",
            row.job_name,
            100.0 * more
        );
        NoteRow::new(NoteCode::BatchesLate, text)
    })
}

/// Returns when an operation began and when it was done.
fn times(run: &InferenceRun, at: At, ranks: &Ranks<'_>) -> Option<(Instant, Instant)> {
    let marks = run.marks.get(at.rank as usize)?;
    let place = marks.binary_search(&at.operation).ok()?;
    ranks.get(&at.rank)?.marks.get(place).copied()
}

/// Makes the requests' rows. A request comes after the one that it follows.
fn requests(run: &InferenceRun, of: IterationId, ranks: &Ranks<'_>) -> Vec<RequestRow> {
    let mut rows: Vec<RequestRow> = Vec::with_capacity(run.requests.len());
    for (number, request) in (0..).zip(&run.requests) {
        let arrival = match request.request.arrival {
            Arrival::At(time) => {
                let rank = ranks.get(&request.prefill[0].rank);
                rank.map(|of| of.start.saturating_add(Time::from_ps(time)))
            }
            Arrival::After(before) => rows.get(before as usize).map(|row| Instant::at(row.end)),
        };
        let times = |at: At| times(run, at, ranks);
        let row = arrival.and_then(|arrival| request_row(request, of, number, arrival, times));
        rows.extend(row);
    }
    rows
}

fn request_row(
    of: &RequestRun,
    iteration: IterationId,
    number: u32,
    arrival: Instant,
    times: impl Fn(At) -> Option<(Instant, Instant)>,
) -> Option<RequestRow> {
    let [begin, end] = of.prefill;
    let (start, prefill_end) = (times(begin)?.0, times(end)?.1);
    let done = of.cache.iter().filter_map(|&at| Some(times(at)?.1));
    let kv_end = done.max();
    // Where decoding happens elsewhere, the first token counts when the request's cache is there.
    let first_token = kv_end.map_or(prefill_end, |kv_end| kv_end.max(prefill_end));
    let decode = match of.decode {
        Some([begin, end]) => Some((times(begin)?.0, times(end)?.1)),
        None => None,
    };
    let end = decode.map_or(first_token, |(_, end)| end);
    // Prefill makes the first token, decoding all others.
    let others = u64::from(of.request.output - 1);
    let tpot = (end - first_token).ps().checked_div(others);
    Some(RequestRow {
        job: iteration.job_number(),
        iteration: iteration.iteration,
        request: number,
        replica: of.replica,
        decode_replica: of.decode_replica,
        prompt_tokens: of.request.prompt,
        output_tokens: of.request.output,
        arrival: arrival.since_start(),
        prefill_start: start.since_start(),
        prefill_end: prefill_end.since_start(),
        kv_end: kv_end.map(Instant::since_start),
        first_token: first_token.since_start(),
        decode_start: decode.map(|(start, _)| start.since_start()),
        end: end.since_start(),
        ttft: first_token.saturating_since(arrival),
        tpot: tpot.map(Time::from_ps),
    })
}

/// Mean, median and 99th percentile over several times.
#[derive(Clone, Copy, Debug)]
struct Spread {
    mean: Time,
    p50: Time,
    p99: Time,
}

fn spread(times: impl Iterator<Item = Time>) -> Option<Spread> {
    let mut sorted: Vec<Time> = times.collect();
    sorted.sort_unstable();
    let sum: u128 = sorted.iter().map(|time| u128::from(time.ps())).sum();
    let mean = sum.checked_div(sorted.len() as u128)?;
    Some(Spread {
        mean: Time::from_ps(u64::try_from(mean).unwrap_or(u64::MAX)),
        p50: nearest_rank(&sorted, 500)?,
        p99: nearest_rank(&sorted, 990)?,
    })
}

fn row(
    run: &InferenceRun,
    volumes: &Volumes,
    of: IterationId,
    rows: &[RequestRow],
    duration: Time,
) -> InferenceRow {
    let none = Spread {
        mean: Time::ZERO,
        p50: Time::ZERO,
        p99: Time::ZERO,
    };
    let ttft = spread(rows.iter().map(|row| row.ttft)).unwrap_or(none);
    let tpot = spread(rows.iter().filter_map(|row| row.tpot));
    let queueing = rows
        .iter()
        .map(|row| row.prefill_start.saturating_sub(row.arrival));
    let queueing = spread(queueing).unwrap_or(none);
    let prefill = rows
        .iter()
        .map(|row| row.prefill_end.saturating_sub(row.prefill_start));
    let kv = rows
        .iter()
        .filter_map(|row| Some(row.kv_end?.saturating_sub(row.prefill_end)));
    let kv = spread(kv);
    let sum = |tokens: fn(&RequestRow) -> u32| rows.iter().map(|row| u64::from(tokens(row))).sum();
    let output_tokens: u64 = sum(|row| row.output_tokens);
    let accelerators: u32 = run.pools.iter().map(|pool| pool.ranks).sum();
    let seconds = duration.as_ns().max(f64::MIN_POSITIVE) / 1e9;
    let tokens_per_second = output_tokens as f64 / seconds;
    let bytes = |of: Parallelism| volumes.of(of);
    InferenceRow {
        job: of.job_number(),
        job_name: String::new(),
        iteration: of.iteration,
        warm_up: false,
        duration,
        planned: run.planned,
        requests: rows.len() as u64,
        prompt_tokens: sum(|row| row.prompt_tokens),
        output_tokens,
        requests_per_second: rows.len() as f64 / seconds,
        tokens_per_second,
        tokens_of_accelerator: tokens_per_second / f64::from(accelerators.max(1)),
        ttft_mean: ttft.mean,
        ttft_p50: ttft.p50,
        ttft_p99: ttft.p99,
        tpot_mean: tpot.map(|of| of.mean),
        tpot_p50: tpot.map(|of| of.p50),
        tpot_p99: tpot.map(|of| of.p99),
        queueing_mean: queueing.mean,
        queueing_p99: queueing.p99,
        prefill_mean: spread(prefill).unwrap_or(none).mean,
        kv_mean: kv.map(|of| of.mean),
        kv_p99: kv.map(|of| of.p99),
        tensor_within: bytes(Parallelism::Tensor)[0],
        tensor_network: bytes(Parallelism::Tensor)[1],
        expert_within: bytes(Parallelism::Expert)[0],
        expert_network: bytes(Parallelism::Expert)[1],
        pipeline_within: bytes(Parallelism::Pipeline)[0],
        pipeline_network: bytes(Parallelism::Pipeline)[1],
        kv_within: bytes(Parallelism::Cache)[0],
        kv_network: bytes(Parallelism::Cache)[1],
    }
}

/// Returns the communication for which a rank's computing waited: only what was under way, without
/// bubbles and without the time when there was no request.
pub(super) fn exposed_communication(of: &Metered) -> Time {
    let exposed = exposed(of);
    EXPOSED
        .map(|parallelism| exposed[parallelism as usize][0])
        .into_iter()
        .sum()
}

/// The parallelisms in inference whose messages computing waits for.
const EXPOSED: [Parallelism; 4] = [
    Parallelism::Tensor,
    Parallelism::Expert,
    Parallelism::Pipeline,
    Parallelism::Cache,
];

/// Returns the time for which a rank waited for requests, and for their keys and values.
fn without_request(of: &Metered) -> Time {
    let exposed = exposed(of);
    let of = [Parallelism::Requests, Parallelism::Cache].map(|of| exposed[of as usize]);
    of.into_iter().flatten().sum()
}

/// Returns the time for which a rank waited for messages that other stages had not sent, less the
/// time for which the first stage waited for requests.
fn bubble(of: &Metered, first_stage: Option<&Metered>) -> Time {
    let waiting = exposed(of)[Parallelism::Pipeline as usize][1];
    let without = first_stage.map_or(Time::ZERO, without_request);
    waiting.saturating_sub(without.saturating_sub(without_request(of)))
}

fn pool_row(
    pool: &PoolRun,
    of: IterationId,
    ranks: &Ranks<'_>,
    duration: Time,
) -> InferencePoolRow {
    let own = || ranks.range(pool.first_rank..pool.first_rank + pool.ranks);
    // Ranks without any work have measured nothing, and count as idle.
    let count = u128::from(pool.ranks.max(1));
    let mean = |of: &dyn Fn(u32, &Metered) -> Time| {
        let sum: u128 = own()
            .map(|(&rank, metered)| u128::from(of(rank, metered).ps()))
            .sum();
        Time::from_ps((sum / count) as u64)
    };
    let compute = mean(&|_, of| of.computing);
    let [tensor, expert, pipeline, kv] =
        EXPOSED.map(|way| mean(&|_, of| exposed(of)[way as usize][0]));
    let of_stage = (pool.ranks / pool.stages.max(1)).max(1);
    let bubble = mean(&|rank, of| {
        // Ranks are numbered stage by stage; the rank at the same place in the first stage feeds
        // this one.
        let first = pool.first_rank + (rank - pool.first_rank) % of_stage;
        bubble(of, ranks.get(&first).copied())
    });
    let known = compute + tensor + expert + pipeline + kv + bubble;
    InferencePoolRow {
        job: of.job_number(),
        job_name: String::new(),
        iteration: of.iteration,
        pool: pool.role.word().to_owned(),
        ranks: pool.ranks,
        replicas: pool.replicas,
        batches: pool.iterations,
        prompt_tokens: pool.tokens[0],
        decode_tokens: pool.tokens[1],
        duration,
        compute,
        tensor,
        expert,
        pipeline,
        kv,
        bubble,
        idle: duration.saturating_sub(known),
        memory: pool.memory,
    }
}
