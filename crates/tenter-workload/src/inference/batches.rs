//! Scheduler: which iteration computes which tokens for which requests.
//!
//! A graph is known before it runs, so its batches must be, too. In a closed loop with one pool
//! they do not depend on time: a user's next request takes the previous one's place, in the next
//! iteration over the same batch. Otherwise a clock predicts when iterations would begin if nothing
//! delayed their messages, and an iteration takes the requests that are there by then. In the run
//! it waits for all that it has taken.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tenter_language::units::Time;

use super::cache;
use super::clock::Clock;
use super::count::Counts;
use super::layout::{Inference, Pool, Role};
use super::load::{Load, Phase, Work};
use super::pass::Pass;
use super::requests::{Arrival, Request};
use super::sizes::TOKEN;
use crate::transformer::{Checked, wrong};

/// Most operations in a graph. A larger one would take more than a few gigabytes.
const OPERATIONS_MAX: u64 = 50_000_000;

/// One iteration over a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// Batch over which it runs, among those under way: one for each pipeline stage.
    pub slot: u32,
    /// Work by replica within the engine; empty for a replica without a request.
    pub work: Vec<Vec<Work>>,
}

/// One or several replicas that run in lockstep, with their iterations in order. Replicas whose
/// experts are spread over the same ranks run together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Pool to which it belongs, by index.
    pub pool: usize,
    /// First replica, counted within the pool.
    pub first_replica: u32,
    /// Iterations in the order in which they begin.
    pub iterations: Vec<Iteration>,
}

/// Part of a request's service: engine, replica, and a range of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Engine that serves it, by index.
    pub engine: usize,
    /// Replica, counted within the pool.
    pub replica: u32,
    /// First iteration, counted within the engine.
    pub first: u32,
    /// Last iteration, inclusive, counted within the engine.
    pub last: u32,
}

/// Parts of a request's service, by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Prefill, which computes the prompt; `None` until it is scheduled.
    pub prefill: Option<Span>,
    /// Decode, which computes the tokens behind the first one; `None` if there are none.
    pub decode: Option<Span>,
}

/// An inference's schedule: all iterations on all engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batches {
    /// Engines that serve requests, pool after pool.
    pub engines: Vec<Engine>,
    /// Service that each request gets, by request number.
    pub served: Vec<Served>,
    /// Predicted end of the last iteration by the clock, in ps; `None` if batches do not depend on
    /// time.
    pub end: Option<u64>,
    /// Predicted mean time from a request's arrival to its last token; `None` likewise.
    pub latency: Option<Time>,
    /// Estimated number of operations in the graph.
    pub operations: u64,
}

/// A request while it is in a batch.
#[derive(Clone, Copy, Debug)]
struct Running {
    request: u32,
    /// Tokens whose keys and values are in memory.
    cached: u32,
    prompt_left: u32,
    outputs_left: u32,
    /// Set until the request has had its first tokens in this pool.
    is_new: bool,
}

/// One replica's batch, with the requests that wait for a place in it.
#[derive(Clone, Debug, Default)]
struct Batch {
    /// Arrival times in ps with request numbers, ascending.
    waiting: VecDeque<(u64, u32)>,
    running: Vec<Running>,
}

/// An engine while its iterations are scheduled.
struct Draft {
    engine: Engine,
    /// Batches by slot, and within a slot by replica.
    batches: Vec<Vec<Batch>>,
    /// Time at which each slot's last iteration has ended and its tokens are back, in ps.
    ready: Vec<u64>,
    /// Time at which each stage is free, in ps.
    free: Vec<u64>,
    last_slot: usize,
}

impl Draft {
    fn new(number: usize, pool: &Pool, first_replica: u32) -> Draft {
        let stages = pool.size().pp as usize;
        let replicas = pool.replicas_together() as usize;
        Draft {
            engine: Engine {
                pool: number,
                first_replica,
                iterations: Vec::new(),
            },
            batches: vec![vec![Batch::default(); replicas]; stages],
            ready: vec![0; stages],
            free: vec![0; stages],
            last_slot: stages - 1,
        }
    }

    /// Returns the start time and the slot for the next iteration; `None` if no request waits or
    /// runs. If batches are timeless, slots take turns in a fixed order.
    fn next(&self, is_timeless: bool) -> Option<(u64, usize)> {
        let slots = self.batches.len();
        let mut best: Option<(u64, usize)> = None;
        for step in 1..=slots {
            let slot = (self.last_slot + step) % slots;
            let there = self.batches[slot].iter().filter_map(|batch| {
                let first = batch.waiting.front().map(|(since, _)| *since);
                if batch.running.is_empty() {
                    first
                } else {
                    // Running requests are there already; only the slot and the first stage may
                    // delay them.
                    Some(0)
                }
            });
            let Some(there) = there.min() else { continue };
            let start = there.max(self.ready[slot]).max(self.free[0]);
            if best.is_none_or(|(earliest, _)| start < earliest) {
                best = Some((start, slot));
            }
            // The next slot with work is taken, even if another one would be ready earlier.
            if is_timeless {
                break;
            }
        }
        best
    }
}

/// Schedules iterations on all engines, the earliest first.
pub(super) struct Scheduler<'a> {
    of: &'a Inference,
    drafts: Vec<Draft>,
    /// Index of the first engine of each pool.
    first: Vec<usize>,
    served: Vec<Served>,
    /// Bytes per token in keys and values at the rank that sends or receives most.
    cache_bytes: u64,
    /// Computing at the busiest experts relative to the mean, by pool.
    loads: Vec<f64>,
    /// Set if batches do not depend on time: a closed loop with one pool.
    is_timeless: bool,
    end: u64,
    /// Predicted time at which each request ends, in ps.
    ends: Vec<u64>,
    /// Requests that have ended so far.
    ended: u32,
    /// Iterations that may come next: start time, engine and slot. Entries that have become wrong
    /// stay in the heap and are skipped; whenever an engine's next start changes, the right entry
    /// is added.
    starts: BinaryHeap<Reverse<(u64, usize, usize)>>,
    counts: Counts,
    operations: u64,
}

impl<'a> Scheduler<'a> {
    fn new(of: &'a Inference) -> Scheduler<'a> {
        let (mut drafts, mut first) = (Vec::new(), Vec::new());
        for (number, pool) in of.pools.iter().enumerate() {
            first.push(drafts.len());
            let replicas = 0..pool.size().dp;
            let replicas = replicas.step_by(pool.replicas_together() as usize);
            drafts.extend(replicas.map(|replica| Draft::new(number, pool, replica)));
        }
        let cache = cache::transfers(of);
        // Lockstep waits for the busiest rank, so its share of the tokens counts.
        let most = |pool: &Pool| {
            let shares = of.spec.expert_skew.shares(of.model.experts.max(1), pool.ep);
            shares.iter().fold(0.0, |most: f64, &of| most.max(of)) * f64::from(pool.ep)
        };
        Scheduler {
            of,
            drafts,
            first,
            served: vec![Served::default(); of.requests.len()],
            cache_bytes: cache::busiest_bytes(&cache),
            counts: Counts::new(of, &cache),
            operations: 0,
            ends: vec![0; of.requests.len()],
            ended: 0,
            starts: BinaryHeap::new(),
            loads: of.pools.iter().map(most).collect(),
            is_timeless: of.spec.requests.is_closed() && !of.is_disaggregated(),
            end: 0,
        }
    }

    /// Schedules all requests in an inference.
    ///
    /// # Errors
    /// More operations than [`OPERATIONS_MAX`].
    pub(super) fn batches(of: &Inference) -> Checked<Batches> {
        let mut scheduler = Scheduler::new(of);
        for (number, request) in (0..).zip(&of.requests) {
            if let Arrival::At(time) = request.arrival {
                scheduler.arrive(0, time, number);
            }
        }
        for engine in 0..scheduler.drafts.len() {
            scheduler.changed(engine);
        }
        while let Some((start, engine, slot)) = scheduler.next() {
            scheduler.iterate(engine, slot, start);
            if scheduler.operations > OPERATIONS_MAX {
                return scheduler.refused();
            }
        }
        let depends_on_time = !scheduler.is_timeless;
        Ok(Batches {
            end: depends_on_time.then_some(scheduler.end),
            latency: scheduler.latency().filter(|_| depends_on_time),
            operations: scheduler.operations,
            engines: scheduler.drafts.into_iter().map(|of| of.engine).collect(),
            served: scheduler.served,
        })
    }

    /// Refuses a graph that is too large, and suggests as many requests as have ended so far.
    fn refused<T>(&self) -> Checked<T> {
        let count = self.of.spec.requests.count;
        let what = format!("is {count}, which makes a graph of over {OPERATIONS_MAX} operations");
        let remedy = match self.ended.min(count - 1) {
            0 => "use shorter prompts and answers, or fewer ranks".to_owned(),
            fits => format!("give at most {fits}, or shorter answers"),
        };
        wrong("requests.count", what, remedy)
    }

    /// Returns the mean time from a request's arrival to its last token.
    fn latency(&self) -> Option<Time> {
        let of_one = |(end, request): (&u64, &Request)| {
            let arrival = match request.arrival {
                Arrival::At(time) => time,
                Arrival::After(before) => self.ends[before as usize],
            };
            u128::from(end.saturating_sub(arrival))
        };
        let all = self.ends.iter().zip(&self.of.requests);
        let mean = all
            .map(of_one)
            .sum::<u128>()
            .checked_div(self.ends.len() as u128)?;
        u64::try_from(mean).ok().map(Time::from_ps)
    }

    /// Takes the earliest iteration that may begin; `None` if all requests have ended.
    fn next(&mut self) -> Option<(u64, usize, usize)> {
        loop {
            let Reverse((start, engine, slot)) = self.starts.pop()?;
            // An entry is stale if the engine would begin otherwise by now.
            if self.drafts[engine].next(self.is_timeless) == Some((start, slot)) {
                return Some((start, engine, slot));
            }
        }
    }

    /// Adds an entry for an engine whose next start may have changed.
    fn changed(&mut self, engine: usize) {
        if let Some((start, slot)) = self.drafts[engine].next(self.is_timeless) {
            self.starts.push(Reverse((start, engine, slot)));
        }
    }

    /// Queues a request that reaches a pool at time `since`, and returns the engine that serves it.
    fn arrive(&mut self, pool: usize, since: u64, request: u32) -> usize {
        let of = &self.of.pools[pool];
        let (replica, slot) = of.replica_of(&self.of.requests[request as usize]);
        let together = of.replicas_together();
        let engine = self.first[pool] + (replica / together) as usize;
        let batch = &mut self.drafts[engine].batches[slot as usize][(replica % together) as usize];
        let place = batch
            .waiting
            .partition_point(|&one| one <= (since, request));
        batch.waiting.insert(place, (since, request));
        engine
    }

    /// Schedules one iteration: fills the batches, predicts its time, and releases requests that
    /// end.
    fn iterate(&mut self, engine: usize, slot: usize, start: u64) {
        let draft = &mut self.drafts[engine];
        let (number, of) = (draft.engine.pool, self.of);
        let pool = &of.pools[number];
        let mut work = Vec::new();
        for batch in &mut draft.batches[slot] {
            admit(batch, of, pool, start);
            work.push(compose(batch, of, pool));
        }
        let (mut now, mut sent) = (start, start);
        if !self.is_timeless {
            let times = stage_times(of, pool, self.loads[number], &work);
            // A stage is free as soon as it has computed; its message travels meanwhile.
            for (free, [time, sending]) in draft.free.iter_mut().zip(times) {
                now = sent.max(*free).saturating_add(time);
                *free = now;
                sent = now.saturating_add(sending);
            }
        }
        draft.ready[slot] = sent;
        draft.last_slot = slot;
        self.end = self.end.max(now);
        self.operations += self.counts.of_iteration(number, &work);
        let place = draft.engine.iterations.len() as u32;
        let first_replica = draft.engine.first_replica;
        draft.engine.iterations.push(Iteration {
            slot: slot as u32,
            work: work.clone(),
        });
        for (replica, work) in (first_replica..).zip(work) {
            for of in work {
                self.book(engine, replica, place, pool.role, of);
                if of.is_last {
                    self.leave(number, pool.role, now, of.request);
                }
            }
        }
        self.changed(engine);
    }

    /// Records that iteration `place` serves a request, as the first or the latest one.
    fn book(&mut self, engine: usize, replica: u32, place: u32, role: Role, work: Work) {
        let served = &mut self.served[work.request as usize];
        let is_prefill = work.is_prompt() && role != Role::Decode;
        let span = if is_prefill {
            &mut served.prefill
        } else {
            &mut served.decode
        };
        let new = Span {
            engine,
            replica,
            first: place,
            last: place,
        };
        span.get_or_insert(new).last = place;
    }

    /// Handles a request whose work in a pool is done: it goes on to the decode pool, or it ends
    /// and its user sends the next one.
    fn leave(&mut self, number: usize, role: Role, now: u64, request: u32) {
        let of = &self.of.requests[request as usize];
        // The first token is the prefill pool's, so an answer of one token needs no decoding.
        if role == Role::Prefill && of.output > 1 {
            let bytes = self.cache_bytes.saturating_mul(u64::from(of.prompt));
            let clock = Clock::new(self.of, &self.of.pools[number], 1.0);
            let there = now.saturating_add(clock.over_network(bytes).ps());
            let engine = self.arrive(number + 1, there, request);
            self.changed(engine);
            return;
        }
        self.ends[request as usize] = now;
        self.ended += 1;
        self.operations += self.counts.of_request(self.of, of);
        let Some(users) = self.of.spec.requests.users() else {
            return;
        };
        let next = request.saturating_add(users);
        if let Some(next_of) = self.of.requests.get(next as usize) {
            let clock = Clock::new(self.of, &self.of.pools[0], 1.0);
            let later = match role {
                Role::Decode => clock.over_network(TOKEN * u64::from(next_of.prompt)).ps(),
                // In one pool, or if the answer ended with its first token, no message is needed.
                Role::Both | Role::Prefill => 0,
            };
            let engine = self.arrive(0, now.saturating_add(later), next);
            self.changed(engine);
        }
    }
}

/// Moves requests that have arrived into a batch while it has room.
fn admit(batch: &mut Batch, of: &Inference, pool: &Pool, start: u64) {
    while batch.running.len() < pool.max_batch as usize
        && let Some((since, request)) = batch.waiting.front().copied()
        && since <= start
    {
        batch.waiting.pop_front();
        let request_of = &of.requests[request as usize];
        let (cached, prompt_left, outputs_left) = match pool.role {
            Role::Both => (0, request_of.prompt, request_of.output),
            Role::Prefill => (0, request_of.prompt, 1),
            // Prefill has computed the first token.
            Role::Decode => (request_of.prompt, 0, request_of.output - 1),
        };
        batch.running.push(Running {
            request,
            cached,
            prompt_left,
            outputs_left,
            is_new: true,
        });
    }
}

/// Composes an iteration's work over a batch, and removes requests that it completes.
fn compose(batch: &mut Batch, of: &Inference, pool: &Pool) -> Vec<Work> {
    let has_prompts = batch.running.iter().any(|of| of.prompt_left > 0);
    let chunked = pool.role == Role::Prefill || of.spec.chunked_prefill;
    let decoding = batch.running.iter().filter(|of| of.prompt_left == 0);
    let decoding = decoding.count() as u32;
    let mut budget = of.spec.batch_tokens;
    if chunked {
        // Requests that decode come first; prompts share the rest.
        budget = budget.saturating_sub(decoding);
    }
    let mut work = Vec::new();
    for running in &mut batch.running {
        let is_prompt = running.prompt_left > 0;
        let tokens = match (is_prompt, chunked) {
            (false, true) => 1,
            // Without chunks an iteration is for prompts or for decoding, and prompts come first.
            (false, false) => u32::from(!has_prompts),
            (true, true) => running.prompt_left.min(budget),
            // A prompt longer than `batch_tokens` must run alone, or it would never start.
            (true, false) if budget == of.spec.batch_tokens => running.prompt_left,
            (true, false) if running.prompt_left <= budget => running.prompt_left,
            (true, false) => {
                // Prompts keep their order: a shorter one behind this one must not overtake it.
                budget = 0;
                0
            }
        };
        if tokens == 0 {
            continue;
        }
        if is_prompt {
            budget = budget.saturating_sub(tokens);
        }
        work.push(running.take(tokens));
    }
    batch.running.retain(|of| of.outputs_left > 0);
    work
}

impl Running {
    /// Advances the request by `tokens` tokens, and returns that work.
    fn take(&mut self, tokens: u32) -> Work {
        let phase = if self.prompt_left > 0 {
            Phase::Prefill
        } else {
            Phase::Decode
        };
        let cached = self.cached;
        self.cached += tokens;
        self.prompt_left = self.prompt_left.saturating_sub(tokens);
        let gives_token = self.prompt_left == 0;
        // The last part of a prompt yields the first token.
        self.outputs_left -= u32::from(gives_token);
        Work {
            request: self.request,
            tokens,
            cached,
            phase,
            is_first: std::mem::take(&mut self.is_new),
            gives_token,
            is_last: self.outputs_left == 0,
        }
    }
}

/// Predicts how long an iteration occupies each stage, and its message to the next stage, in ps.
/// The slowest replica counts.
fn stage_times(of: &Inference, pool: &Pool, load: f64, work: &[Vec<Work>]) -> Vec<[u64; 2]> {
    let loads: Vec<Load> = work.iter().map(|work| Load::of(work)).collect();
    let padded = loads.iter().map(|load| load.tokens).max().unwrap_or(0);
    let mut times = vec![[0; 2]; pool.size().pp as usize];
    let clock = Clock::new(of, pool, load);
    for own in loads {
        let pass = Pass::new(of, pool, own, padded);
        for (times, own) in times.iter_mut().zip(clock.stages(&pass, own.outputs)) {
            *times = [times[0].max(own[0]), times[1].max(own[1])];
        }
    }
    times
}
