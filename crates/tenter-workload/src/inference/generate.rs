//! Generator that turns a scheduled inference into a graph.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_language::units::Time;

use super::batches::{Batches, Iteration, Scheduler, Span};
use super::cache::{self, CacheTransfer};
use super::emitter::{Emitter, Exchanges};
use super::layout::{Inference, Pool, Role};
use super::load::{Load, Work};
use super::memory;
use super::pass::Pass;
use super::requests::Arrival;
use super::run::{At, InferenceRun, PoolRun, RequestRun};
use super::sizes::TOKEN;
use crate::graph::{Graph, GraphBuilder, GraphError};
use crate::transformer::{
    Checked, Communicators, Computed, Dimension, Place, Program, Stream, cannot_run, expert_group,
};

/// Flag bits in message tags. The other bits have an iteration's or a request's number; activations
/// between stages have their iteration's bare number.
const TOKENS: u32 = 1 << 30;
const CACHE: u32 = 2 << 30;
const FIRST_TOKEN: u32 = 3 << 30;
const REQUEST: u32 = 1 << 29;
const STEP: u32 = 1 << 28;

type Built<T> = Result<T, GraphError>;

/// Schedules an inference and builds its graph, with the facts that are known before it runs.
///
/// # Errors
/// Pools that do not fit into memory, collectives that their ranks cannot run, and more operations
/// than a graph may have.
pub fn graph(of: &Inference) -> Checked<(Graph, InferenceRun)> {
    if of.spec.check_memory {
        memory::check(of)?;
    }
    let batches = Scheduler::batches(of)?;
    let built = built(of, &batches);
    built.map_err(|error| cannot_run(&error, "requests", "make a graph"))
}

/// Shared data while all ranks' programs are generated.
struct Making<'a> {
    of: &'a Inference,
    batches: &'a Batches,
    /// Index of the first engine of each pool.
    first: Vec<usize>,
    /// Transfers from one prefill replica to one decode replica.
    cache: Vec<CacheTransfer>,
    exchanges: Vec<Exchanges>,
}

impl Making<'_> {
    /// Returns the engine that runs a replica, by index.
    fn engine(&self, pool: usize, replica: u32) -> usize {
        let together = self.of.pools[pool].replicas_together();
        self.first[pool] + (replica / together) as usize
    }
}

fn built(of: &Inference, batches: &Batches) -> Built<(Graph, InferenceRun)> {
    let spec = &of.spec;
    let first = |pool: usize| batches.engines.iter().position(|of| of.pool == pool);
    let making = Making {
        of,
        batches,
        first: (0..of.pools.len()).filter_map(first).collect(),
        cache: cache::transfers(of),
        exchanges: of
            .pools
            .iter()
            .map(|pool| Exchanges::new(of, pool))
            .collect(),
    };
    let mut builder = GraphBuilder::default();
    let mut communicators = Communicators::new(&spec.tp_algorithms, &spec.algorithms);
    let mut found = Found::new(of);
    let mut computed = Computed::default();
    for (number, pool) in of.pools.iter().enumerate() {
        let stages: Vec<Vec<u32>> = (0..pool.size().pp).map(|pp| pool.grid.stage(pp)).collect();
        for own in 0..pool.grid.ranks() {
            let program = Program::new(
                pool.first_rank + own,
                &mut builder.collectives,
                &mut communicators,
                &mut computed,
            );
            let of_rank = OfRank::new(&making, number, own, &stages, program)?;
            let program = of_rank.all(&mut found)?.finish();
            builder.add(program)?;
        }
    }
    let run = found.run(&making);
    Ok((builder.finish()?, run))
}

/// Operations whose times tell when requests are served.
struct Found {
    marks: Vec<Vec<u32>>,
    /// First operation in each iteration at a replica, by engine, iteration and replica.
    begins: BTreeMap<(usize, u32, u32), At>,
    /// Last operation in each iteration, by the same key.
    ends: BTreeMap<(usize, u32, u32), At>,
    /// Receives that bring a request's keys and values, by request.
    cache: Vec<Vec<At>>,
}

impl Found {
    fn new(of: &Inference) -> Found {
        Found {
            marks: vec![Vec::new(); of.ranks() as usize],
            begins: BTreeMap::new(),
            ends: BTreeMap::new(),
            cache: vec![Vec::new(); of.requests.len()],
        }
    }

    fn mark(&mut self, rank: u32, operation: u32) -> At {
        self.marks[rank as usize].push(operation);
        At { rank, operation }
    }

    fn run(mut self, making: &Making<'_>) -> InferenceRun {
        let of = making.of;
        for marks in &mut self.marks {
            marks.sort_unstable();
            // One operation may begin and end an iteration.
            marks.dedup();
        }
        let ends_of = |span: Span| {
            let begin = self.begins.get(&(span.engine, span.first, span.replica));
            let end = self.ends.get(&(span.engine, span.last, span.replica));
            Some([*begin?, *end?])
        };
        let caches = self.cache.iter_mut().map(std::mem::take);
        let served = making.batches.served.iter().zip(&of.requests).zip(caches);
        let requests = served.filter_map(|((served, request), cache)| {
            Some(RequestRun {
                request: *request,
                replica: served.prefill?.replica,
                decode_replica: served.decode.map(|of| of.replica),
                prefill: ends_of(served.prefill?)?,
                cache,
                decode: served.decode.and_then(ends_of),
            })
        });
        let requests = requests.collect();
        let pools = of.pools.iter().enumerate();
        let pools = pools.map(|(number, pool)| PoolRun::new(of, number, pool, making.batches));
        InferenceRun {
            requests,
            pools: pools.collect(),
            planned: making.batches.end.map(Time::from_ps),
            planned_latency: making.batches.latency,
            marks: Arc::new(self.marks),
        }
    }
}

/// Generator for one rank's program.
struct OfRank<'m, 'g, 'a> {
    making: &'m Making<'m>,
    pool: &'m Pool,
    /// Rank number within the job.
    rank: u32,
    place: Place,
    engine: usize,
    emitter: Emitter<'m, 'g, 'a>,
    /// Operations that end when a request arrives, by request.
    arrivals: BTreeMap<u32, u32>,
}

impl<'m, 'g, 'a> OfRank<'m, 'g, 'a> {
    fn new(
        making: &'m Making<'m>,
        number: usize,
        own: u32,
        stages: &[Vec<u32>],
        mut program: Program<'g, 'a>,
    ) -> Built<OfRank<'m, 'g, 'a>> {
        let pool = &making.of.pools[number];
        let place = pool.grid.place(own);
        let in_job = |ranks: Vec<u32>| -> Vec<u32> {
            ranks
                .into_iter()
                .map(|rank| pool.first_rank + rank)
                .collect()
        };
        let tensor = in_job(pool.grid.along(place, Dimension::Tensor));
        let stage = &stages[place.pp as usize];
        let index = stage.iter().position(|&of| of == own).unwrap_or(0);
        let experts = in_job(expert_group(stage, index, pool.ep));
        let groups = [
            program.communicator(Stream::Tensor, tensor)?,
            program.communicator(Stream::Expert, experts)?,
        ];
        let own_expert = index % pool.ep as usize;
        Ok(OfRank {
            making,
            pool,
            rank: pool.first_rank + own,
            place,
            engine: making.engine(number, place.dp),
            emitter: Emitter::new(program, groups, &making.exchanges[number], own_expert),
            arrivals: BTreeMap::new(),
        })
    }

    /// Generates all iterations that the rank's engine runs.
    fn all(mut self, found: &mut Found) -> Built<Program<'g, 'a>> {
        let engine = &self.making.batches.engines[self.engine];
        let own = (self.place.dp - engine.first_replica) as usize;
        self.await_arrivals();
        let mut last_of_slot: BTreeMap<u32, u32> = BTreeMap::new();
        let returns = returning(&engine.iterations);
        for (number, iteration) in (0..).zip(&engine.iterations) {
            let before = last_of_slot.insert(iteration.slot, number);
            self.before(iteration, number, before, own, found);
            self.compute(number, iteration, own, found)?;
            self.behind(
                iteration,
                number,
                own,
                // Tokens are received only if another iteration over the slot follows.
                returns.binary_search(&number).is_ok(),
            );
        }
        Ok(self.emitter.finish())
    }

    fn is_first_stage(&self) -> bool {
        self.place.pp == 0
    }

    fn is_last_stage(&self) -> bool {
        self.place.pp + 1 == self.pool.size().pp
    }

    /// Adds the waits for arrivals, one behind the other. An engine waits for the arrivals at all
    /// its replicas, because they run in lockstep.
    fn await_arrivals(&mut self) {
        // Requests arrive at the first stage, in the pool that takes prompts.
        if !self.is_first_stage() || self.pool.role == Role::Decode {
            return;
        }
        let mut last = 0;
        for (number, request) in (0..).zip(&self.making.of.requests) {
            let replica = self.pool.replica_of(request).0;
            let here = self.making.engine(0, replica) == self.engine;
            let Arrival::At(time) = request.arrival else {
                continue;
            };
            // A request at time 0 is there when the rank starts.
            if here && time > 0 {
                // Waits on one stream follow each other, so each counts from the one before.
                let wait = Time::from_ps(time - last);
                last = time;
                let place = self.emitter.program.wait(Stream::Arrivals, wait);
                self.arrivals.insert(number, place);
            }
        }
    }

    /// Returns the rank with the same coordinates at stage `pp`.
    fn peer(&self, pp: u32) -> u32 {
        self.pool.rank(Place { pp, ..self.place })
    }

    /// Adds the messages and arrivals for which an iteration waits.
    fn before(
        &mut self,
        iteration: &Iteration,
        number: u32,
        before: Option<u32>,
        own: usize,
        found: &mut Found,
    ) {
        let work = &iteration.work[own];
        let load = Load::of(work);
        if self.pool.size().pp > 1 {
            if self.is_first_stage() {
                if let Some(before) = before {
                    let engine = &self.making.batches.engines[self.engine];
                    let outputs = Load::of(&engine.iterations[before as usize].work[own]).outputs;
                    let from = self.peer(self.pool.size().pp - 1);
                    // Also without a token: the message says that the previous iteration is over.
                    let bytes = TOKEN * outputs.max(1);
                    self.receive(Stream::TokensReceive, from, TOKENS | before, bytes);
                }
            } else if self.goes_on(load) {
                let from = self.peer(self.place.pp - 1);
                let bytes = self.sizes(iteration, own);
                self.receive(Stream::PipelineReceive, from, number, bytes);
            }
        }
        for of in work.iter().filter(|of| of.is_first) {
            if self.pool.role == Role::Decode {
                self.receive_cache(of.request, found);
            } else if self.is_first_stage() {
                self.await_request(of.request);
            }
        }
        if self.is_first_stage() {
            self.before_step(iteration, number, own);
        }
    }

    /// Keeps replicas in lockstep when an iteration starts: each waits for arrivals at any other. A
    /// replica without a request learns by a message when replicas that wait for messages begin.
    fn before_step(&mut self, iteration: &Iteration, number: u32, own: usize) {
        let others = || (0..).zip(&iteration.work).filter(|&(of, _)| of != own);
        for (_, work) in others() {
            for of in work.iter().filter(|of| of.is_first) {
                if let Some(place) = self.arrivals.get(&of.request) {
                    self.emitter.program.also_after(&[*place]);
                }
            }
        }
        let first_replica = self.making.batches.engines[self.engine].first_replica;
        let rank_of = |pool: &Pool, place: Place, replica: usize| {
            let dp = first_replica + replica as u32;
            pool.rank(Place { dp, ..place })
        };
        let tag = STEP | number;
        // A replica without a request would run ahead, and its wait would count as an exchange.
        let is_empty = iteration.work[own].is_empty();
        if is_empty {
            let senders = others().filter(|(_, work)| self.awaits_messages(work));
            let senders: Vec<usize> = senders.map(|(replica, _)| replica).collect();
            for replica in senders {
                let from = rank_of(self.pool, self.place, replica);
                self.receive(Stream::Requests, from, tag, TOKEN);
            }
        } else if self.awaits_messages(&iteration.work[own]) {
            for (replica, _) in others().filter(|(_, work)| work.is_empty()) {
                let to = rank_of(self.pool, self.place, replica);
                let program = &mut self.emitter.program;
                program.send(Stream::Requests, to, tag, TOKEN);
            }
        }
    }

    /// Returns true if some new request in the batch comes by a message.
    fn awaits_messages(&self, work: &[Work]) -> bool {
        let by_message = |of: &Work| match self.pool.role {
            Role::Both => false,
            Role::Decode => true,
            Role::Prefill => self.ended_elsewhere(of.request).is_some(),
        };
        work.iter().filter(|of| of.is_first).any(by_message)
    }

    /// Returns true if a stage sends to the next one. Replicas in lockstep do so even without a
    /// request.
    fn goes_on(&self, load: Load) -> bool {
        load.tokens > 0 || self.pool.replicas_together() > 1
    }

    fn receive(&mut self, stream: Stream, peer: u32, tag: u32, bytes: u64) -> u32 {
        let program = &mut self.emitter.program;
        let place = program.receive(stream, peer, tag, bytes);
        program.also_after(&[place]);
        place
    }

    /// Returns the activation bytes that pass between stages.
    fn sizes(&self, iteration: &Iteration, own: usize) -> u64 {
        self.pass(iteration, own).sizes().activations.max(TOKEN)
    }

    fn pass(&self, iteration: &Iteration, own: usize) -> Pass<'m> {
        let loads = iteration.work.iter().map(|work| Load::of(work));
        let padded = loads.map(|load| load.tokens).max().unwrap_or(0);
        let load = Load::of(&iteration.work[own]);
        Pass::new(self.making.of, self.pool, load, padded)
    }

    /// Waits until a request has arrived, or until the request that it follows has ended in the
    /// decode pool.
    fn await_request(&mut self, request: u32) {
        if let Some(place) = self.arrivals.get(&request) {
            self.emitter.program.also_after(&[*place]);
        }
        if let Some(decode) = self.ended_elsewhere(request) {
            let from = self.last_of(1, decode.replica);
            let bytes = self.request_bytes(request);
            self.receive(Stream::Requests, from, REQUEST | request, bytes);
        }
    }

    /// Returns where the request before this one was decoded, if that is in another pool.
    fn ended_elsewhere(&self, request: u32) -> Option<Span> {
        let Arrival::After(before) = self.making.of.requests[request as usize].arrival else {
            return None;
        };
        let decode = self.making.batches.served[before as usize].decode;
        decode.filter(|_| self.pool.role == Role::Prefill)
    }

    fn request_bytes(&self, request: u32) -> u64 {
        TOKEN * u64::from(self.making.of.requests[request as usize].prompt)
    }

    /// Returns the first rank in a replica's last stage.
    fn last_of(&self, pool: usize, dp: u32) -> u32 {
        let pool = &self.making.of.pools[pool];
        let pp = pool.size().pp - 1;
        pool.rank(Place {
            tp: 0,
            cp: 0,
            dp,
            pp,
        })
    }

    /// Receives a prompt's keys and values from the prefill pool, and with them its first token.
    fn receive_cache(&mut self, request: u32, found: &mut Found) {
        let making = self.making;
        let Some(from) = making.batches.served[request as usize].prefill else {
            return;
        };
        let prefill = &making.of.pools[0];
        let tokens = u64::from(making.of.requests[request as usize].prompt);
        let rank_of = |(pp, tp): (u32, u32)| {
            let dp = from.replica;
            prefill.rank(Place { tp, cp: 0, dp, pp })
        };
        let own = (self.place.pp, self.place.tp);
        for transfer in making.cache.iter().filter(|of| of.to == own) {
            let peer = rank_of(transfer.from);
            let tag = CACHE | request;
            let bytes = transfer.bytes.saturating_mul(tokens);
            let place = self.receive(Stream::CacheReceive, peer, tag, bytes);
            let at = found.mark(self.rank, place);
            found.cache[request as usize].push(at);
        }
        let Place { tp, pp, .. } = prefill.size();
        // The last prefill stage chooses the first token; with one stage it comes with the keys and
        // values.
        if pp > 1 && self.is_first_stage() {
            let from = rank_of((pp - 1, self.place.tp % tp));
            self.receive(Stream::CacheReceive, from, FIRST_TOKEN | request, TOKEN);
        }
    }

    /// Adds an iteration's computing and collectives, and marks its first and last operation.
    fn compute(
        &mut self,
        number: u32,
        iteration: &Iteration,
        own: usize,
        found: &mut Found,
    ) -> Built<()> {
        self.pass(iteration, own)
            .run(self.place.pp, &mut self.emitter)?;
        let [begin, end] = self.emitter.end_iteration();
        let key = (self.engine, number, self.place.dp);
        // One rank of each group is enough to know when an iteration runs.
        if self.place.tp == 0
            && let Some(begin) = begin.filter(|_| self.is_first_stage())
        {
            let at = found.mark(self.rank, begin);
            found.begins.insert(key, at);
        }
        if self.place.tp == 0
            && let Some(end) = end.filter(|_| self.is_last_stage())
        {
            let at = found.mark(self.rank, end);
            found.ends.insert(key, at);
        }
        Ok(())
    }

    /// Adds the messages that an iteration sends when it is done.
    fn behind(&mut self, iteration: &Iteration, number: u32, own: usize, returns: bool) {
        let work = &iteration.work[own];
        let load = Load::of(work);
        if !self.is_last_stage() && self.goes_on(load) {
            let to = self.peer(self.place.pp + 1);
            let bytes = self.sizes(iteration, own);
            self.emitter
                .program
                .send(Stream::Pipeline, to, number, bytes);
        }
        if self.is_last_stage() && self.pool.size().pp > 1 && returns {
            let (to, bytes) = (self.peer(0), TOKEN * load.outputs.max(1));
            let tag = TOKENS | number;
            self.emitter.program.send(Stream::Tokens, to, tag, bytes);
        }
        for of in work.iter().filter(|of| of.is_last) {
            match self.pool.role {
                Role::Prefill => self.send_cache(*of),
                Role::Decode => self.send_next(of.request),
                Role::Both => {}
            }
        }
    }

    /// Sends a prompt's keys and values to the decode pool.
    fn send_cache(&mut self, work: Work) {
        let making = self.making;
        let Some(to) = making.batches.served[work.request as usize].decode else {
            return;
        };
        let decode = &making.of.pools[1];
        let tokens = u64::from(making.of.requests[work.request as usize].prompt);
        let rank_of = |(pp, tp): (u32, u32)| {
            let dp = to.replica;
            decode.rank(Place { tp, cp: 0, dp, pp })
        };
        let own = (self.place.pp, self.place.tp);
        for transfer in making.cache.iter().filter(|of| of.from == own) {
            let peer = rank_of(transfer.to);
            let tag = CACHE | work.request;
            let bytes = transfer.bytes.saturating_mul(tokens);
            let program = &mut self.emitter.program;
            program.send(Stream::CacheSend, peer, tag, bytes);
        }
        let Place { tp, pp, .. } = self.pool.size();
        if pp > 1 && self.is_last_stage() {
            // Each rank of the first decode stage gets the token once, from the rank that
            // `receive_cache` names.
            for receiver in (0..decode.size().tp).filter(|of| of % tp == self.place.tp) {
                let peer = rank_of((0, receiver));
                let tag = FIRST_TOKEN | work.request;
                let program = &mut self.emitter.program;
                program.send(Stream::CacheSend, peer, tag, TOKEN);
            }
        }
    }

    /// Sends a user's next request to the prefill pool.
    fn send_next(&mut self, request: u32) {
        let of = self.making.of;
        // One rank speaks for the user, at the stage where the answer ends.
        if !self.is_last_stage() || self.place.tp > 0 {
            return;
        }
        let Some(users) = of.spec.requests.users() else {
            return;
        };
        let next = request.saturating_add(users);
        let Some(next_of) = of.requests.get(next as usize) else {
            return;
        };
        let pool = &of.pools[0];
        let dp = pool.replica_of(next_of).0;
        for tp in 0..pool.size().tp {
            let to = pool.rank(Place {
                tp,
                cp: 0,
                dp,
                pp: 0,
            });
            let tag = REQUEST | next;
            let bytes = self.request_bytes(next);
            self.emitter.program.send(Stream::Requests, to, tag, bytes);
        }
    }
}

/// Lists the iterations after which another one runs over the same slot, ascending. Only these send
/// tokens back to the first stage.
fn returning(iterations: &[Iteration]) -> Vec<u32> {
    let mut last_of_slot: BTreeMap<u32, u32> = BTreeMap::new();
    let mut found = Vec::new();
    for (number, iteration) in (0..).zip(iterations) {
        found.extend(last_of_slot.insert(iteration.slot, number));
    }
    found.sort_unstable();
    found
}
