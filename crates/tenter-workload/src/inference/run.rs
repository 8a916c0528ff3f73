//! What is known of an inference before it runs, and where its times are found.

use tenter_units::Time;

use super::batches::Batches;
use super::layout::{Inference, Pool, Role};
use super::load::Load;
use super::memory;
use super::requests::Request;
use crate::graph::Marks;

/// An operation of a rank, by its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The rank.
    pub rank: u32,
    /// The operation.
    pub operation: u32,
}

/// Where the times of a request are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRun {
    /// The request.
    pub request: Request,
    /// The replica that computes its prompt.
    pub replica: u32,
    /// The replica that computes the other tokens of its answer, where it has any.
    pub decode_replica: Option<u32>,
    /// First and last operation of its prefill.
    pub prefill: [At; 2],
    /// The receives of its KV cache, at another pool.
    pub cache: Vec<At>,
    /// First and last operation of its decoding.
    pub decode: Option<[At; 2]>,
}

/// A pool, and what is known of its iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoolRun {
    /// What it does.
    pub role: Role,
    /// Its first rank in the job.
    pub first_rank: u32,
    /// How many ranks it has.
    pub ranks: u32,
    /// Replicas of the model.
    pub replicas: u32,
    /// Stages of each; the ranks of the first stage come first.
    pub stages: u32,
    /// Iterations, over all replicas that go step by step.
    pub iterations: u64,
    /// Tokens of prompts that it computes, and other tokens.
    pub tokens: [u64; 2],
    /// Memory of the rank that needs most, in bytes.
    pub memory: u64,
}

impl PoolRun {
    pub(super) fn new(of: &Inference, number: usize, pool: &Pool, batches: &Batches) -> PoolRun {
        let engines = batches.engines.iter().filter(|of| of.pool == number);
        let (mut iterations, mut tokens) = (0, [0; 2]);
        for engine in engines {
            iterations += engine.iterations.len() as u64;
            for work in engine.iterations.iter().flat_map(|of| &of.work) {
                let load = Load::of(work);
                tokens[0] += load.tokens - load.decoding;
                tokens[1] += load.decoding;
            }
        }
        PoolRun {
            role: pool.role,
            first_rank: pool.first_rank,
            ranks: pool.grid.ranks(),
            replicas: pool.size().dp,
            stages: pool.size().pp,
            iterations,
            tokens,
            memory: memory::of_pool(of, pool).all(),
        }
    }
}

/// What is known of an inference before it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct InferenceRun {
    /// The requests, by their numbers.
    pub requests: Vec<RequestRun>,
    /// The pools.
    pub pools: Vec<PoolRun>,
    /// How long the clock of the scheduler says that it takes; none where batches do not depend on
    /// time.
    pub planned: Option<Time>,
    /// The mean time from the arrival of a request to its last token by that clock.
    pub planned_latency: Option<Time>,
    /// The operations of each rank whose times are kept, ascending.
    pub marks: Marks,
}
