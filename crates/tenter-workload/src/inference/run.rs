//! Facts about an inference that are known before it runs, and the operations that hold its times.

use tenter_language::units::Time;

use super::batches::Batches;
use super::layout::{Inference, Pool, Role};
use super::load::Load;
use super::memory;
use super::requests::Request;
use crate::graph::Marks;

/// An operation, named by its rank and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Rank that runs the operation.
    pub rank: u32,
    /// Place among the rank's operations.
    pub operation: u32,
}

/// Operations whose times tell when a request was served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRun {
    /// Request with its drawn lengths.
    pub request: Request,
    /// Replica that computes its prompt.
    pub replica: u32,
    /// Replica that computes the tokens behind the first one; `None` if there are none.
    pub decode_replica: Option<u32>,
    /// First and last operation in its prefill.
    pub prefill: [At; 2],
    /// Receives for its keys and values at the decode pool; empty with one pool.
    pub cache: Vec<At>,
    /// First and last operation in its decoding; `None` if its answer has one token.
    pub decode: Option<[At; 2]>,
}

/// A pool, with facts about its iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoolRun {
    /// Phases that the pool computes.
    pub role: Role,
    /// First rank of the pool within the job.
    pub first_rank: u32,
    /// Number of ranks in the pool.
    pub ranks: u32,
    /// Replicas that hold the model.
    pub replicas: u32,
    /// Pipeline stages in each replica. The first stage's ranks come first.
    pub stages: u32,
    /// Iterations in all; replicas in lockstep count once.
    pub iterations: u64,
    /// Tokens computed in prompts, and in answers.
    pub tokens: [u64; 2],
    /// Memory in bytes at the rank that needs most.
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

/// Facts about an inference that are known before it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct InferenceRun {
    /// Requests with their operations, by number.
    pub requests: Vec<RequestRun>,
    /// Pools, the prefill pool first.
    pub pools: Vec<PoolRun>,
    /// Predicted duration by the scheduler's clock; `None` if batches do not depend on time.
    pub planned: Option<Time>,
    /// Predicted mean time from a request's arrival to its last token; `None` likewise.
    pub planned_latency: Option<Time>,
    /// Operations whose times are kept.
    pub marks: Marks,
}
