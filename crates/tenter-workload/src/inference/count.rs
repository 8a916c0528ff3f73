//! Estimates how many operations an inference's graph has, before it is made.

use super::cache::CacheTransfer;
use super::layout::{Inference, Pool};
use super::load::Work;
use super::requests::{Arrival, Request};
use crate::transformer::Place;

/// Operations in one iteration, summed over a replica's ranks.
#[derive(Clone, Copy, Debug)]
struct OfIteration {
    /// Operations if the replica has tokens to compute.
    busy: u64,
    /// Additional operations if answers get tokens.
    outputs: u64,
    /// Operations if the replica has no request, but takes part in exchanges with experts.
    empty: u64,
}

/// Estimates operation counts, for iterations and for requests.
pub(super) struct Counts {
    pools: Vec<OfIteration>,
    /// Operations that wait for one arrival.
    arrivals: u64,
    /// Sends and receives for one request's keys, values and first token.
    cache: u64,
    /// Sends and receives for a request that follows another one from the other pool.
    following: u64,
}

impl Counts {
    pub(super) fn new(of: &Inference, cache: &[CacheTransfer]) -> Counts {
        let first = &of.pools[0];
        let tp = u64::from(first.size().tp);
        let decode_tp = |pool: &Pool| u64::from(pool.size().tp);
        let decode = of.pools.get(1).map_or(0, decode_tp);
        let first_tokens = if first.size().pp > 1 { decode } else { 0 };
        Counts {
            pools: of.pools.iter().map(|pool| of_iteration(of, pool)).collect(),
            // Replicas in lockstep all wait for an arrival at any of them.
            arrivals: tp * u64::from(first.replicas_together()),
            cache: 2 * (cache.len() as u64 + first_tokens),
            following: 2 * tp,
        }
    }

    /// Estimates the operations in one iteration, given the work at each replica.
    pub(super) fn of_iteration(&self, pool: usize, work: &[Vec<Work>]) -> u64 {
        let of = self.pools[pool];
        let of_replica = |work: &Vec<Work>| {
            if work.is_empty() {
                of.empty
            } else if work.iter().any(|of| of.gives_token) {
                of.busy + of.outputs
            } else {
                of.busy
            }
        };
        work.iter().map(of_replica).sum()
    }

    /// Estimates the operations that a request adds outside iterations.
    pub(super) fn of_request(&self, of: &Inference, request: &Request) -> u64 {
        let ends_elsewhere =
            |before: u32| of.is_disaggregated() && of.requests[before as usize].output > 1;
        let mut sum = match request.arrival {
            Arrival::At(0) => 0,
            Arrival::At(_) => self.arrivals,
            Arrival::After(before) if ends_elsewhere(before) => self.following,
            Arrival::After(_) => 0,
        };
        if of.is_disaggregated() && request.output > 1 {
            sum += self.cache;
        }
        sum
    }
}

/// Estimates the operations in an iteration from the model's layers: computing and collectives
/// alternate.
fn of_iteration(of: &Inference, pool: &Pool) -> OfIteration {
    let Place { tp, pp, .. } = pool.size();
    let [tp, pp] = [tp, pp].map(u64::from);
    let model = &of.model;
    let [dense, with_experts] = of.kinds_of_layers(0..model.layers).map(u64::from);
    let tensor = u64::from(tp > 1);
    let exchanges = 2 * u64::from(pool.ep > 1);
    let shared = u64::from(model.shared_experts > 0);
    // Attention, experts, and shared experts each end with a collective.
    let of_layer = tensor * (2 + shared) + exchanges;
    let collectives = dense * 2 * tensor + with_experts * of_layer + tensor;
    // Computing at the end of a stage has no collective behind it without tensor parallelism.
    let last = if tensor == 0 { pp } else { 0 };
    let messages = if pp > 1 { 2 * pp } else { 0 };
    OfIteration {
        busy: tp * (2 * collectives + last + messages),
        outputs: tp * 2 * tensor,
        empty: tp * (2 * with_experts * exchanges + messages),
    }
}
