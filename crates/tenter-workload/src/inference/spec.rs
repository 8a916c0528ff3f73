//! An inference job's specification: the keys in a `workload` with `kind: inference`.

use std::ops::RangeInclusive;

use tenter_language::config::{Idle, component, default_of};
use tenter_language::units::Time;

use super::requests::RequestsSpec;
use crate::graph::Algorithms;
use crate::transformer::{Accelerator, ExpertExchange, Model, NamedAccelerator, Precision, Skew};

component! {
    /// Requests to a transformer, served in batches: its computing by a roofline, and what its
    /// ranks send each other by the parallelism. Each iteration of the job serves all requests.
    pub struct InferenceSpec as "`jobs[].workload` with `kind: inference`", derive(Clone, Debug, PartialEq) {
        idle idle;
        /// A public model by its name, or the dimensions of one.
        model: Model;
        /// An accelerator by its name, or the figures of one.
        accelerator: Accelerator = "h100";
        /// Tensor-parallel ranks, where one pool has all ranks.
        tp: u32 = "1", in WAYS;
        /// Pipeline-parallel ranks: stages. As many batches as stages are under way.
        pp: u32 = "1", in WAYS;
        /// Replicas of the model, each with batches of its own.
        dp: Option<u32> = absent "the ranks of the job over `tp` and `pp`", in WAYS;
        /// Ranks over which the experts of a layer are spread, of the `tp` and `dp` ranks of a
        /// stage; with 1 the `tp` ranks share each expert.
        ep: u32 = "1", in WAYS;
        /// Pools of ranks that prefill and decode apart, in place of one for both.
        pools: Option<PoolsSpec> = absent "one pool, of `tp`, `pp`, `dp` and `ep`";
        /// The requests that the model answers.
        requests: RequestsSpec;
        /// Requests of a batch, at most.
        max_batch: u32 = "64", in 1..=1_000_000, from "assumed";
        /// Tokens of an iteration over a batch, of which prompts get what requests that decode
        /// leave; a whole prompt may exceed it where prompts are not chunked.
        batch_tokens: u32 = "8192", in 1..=100_000_000, from "assumed";
        /// `true` lets an iteration decode and take parts of prompts beside; with `false` it takes
        /// whole prompts while there are any, and decodes otherwise.
        chunked_prefill: bool = "true";
        /// Numbers of weights, of matrix operators, and of what is sent to experts.
        precision: Precision = "bf16";
        /// Numbers of keys and values in memory.
        kv_precision: Precision = "bf16";
        /// How unevenly tokens are spread over experts: the exponent of a Zipf distribution.
        /// Experts are dealt to ranks by popularity, and each layer begins with the next rank.
        expert_skew: Skew = "0";
        /// How tokens reach experts, and results come back, where a pool does not say it itself.
        expert_exchange: ExpertExchange = "{}", omit default;
        /// Time of a stage before each iteration: the scheduler, and the launch of kernels.
        step_overhead: Time = "0us", in Time::ZERO..=Time::from_us(1_000_000);
        /// Latency of a message over the network that the scheduler assumes beside its bytes at the
        /// rate of the NIC, where batches depend on time.
        assumed_latency: Time = "5us", in Time::ZERO..=Time::from_us(1_000_000), from "assumed";
        /// Algorithms of all collectives but tensor-parallel ones.
        algorithms: Algorithms = "{}";
        /// Algorithms of tensor-parallel collectives, which `algorithms` leaves out.
        tp_algorithms: Algorithms = "{}";
        /// `true` refuses a model whose weights, with the keys and values of full batches, do not
        /// fit into the memory of the accelerator.
        check_memory: bool = "true";
    }
}

component! {
    /// Pools of ranks that prefill and decode apart. The ranks of the first come first.
    pub struct PoolsSpec as "`jobs[].workload.pools`" {
        /// The ranks that compute the prompts of requests, and their first tokens.
        prefill: PoolSpec;
        /// The ranks that compute the other tokens.
        decode: PoolSpec;
    }
}

component! {
    /// The ranks of a pool.
    pub struct PoolSpec as "`jobs[].workload.pools.…`" {
        /// Tensor-parallel ranks of a stage.
        tp: u32 = "1", in WAYS;
        /// Pipeline-parallel ranks: stages of a replica.
        pp: u32 = "1", in WAYS;
        /// Replicas of the model in this pool.
        dp: u32 = "1", in WAYS;
        /// Ranks over which the experts of a layer are spread.
        ep: u32 = "1", in WAYS;
        /// Requests of a batch, at most.
        max_batch: Option<u32> = absent "that of the workload", in 1..=1_000_000;
        /// How tokens reach experts, and results come back; kernels of low latency suit decoding.
        expert_exchange: Option<ExpertExchange> = absent "that of the workload";
    }
}

const WAYS: RangeInclusive<u32> = 1..=1 << 20;

/// Lists keys without effect for this parallelism and these pools.
fn idle(spec: &InferenceSpec) -> Vec<Idle> {
    let mut idle = Vec::new();
    if spec.pools.is_some() {
        let what = "has no effect beside `pools`";
        let keys = ["tp", "pp", "dp", "ep"];
        idle.extend(Idle::all(&keys, what, "give it to each pool"));
        let what = "has no effect where pools prefill and decode apart";
        idle.extend(Idle::all(&["chunked_prefill"], what, "leave it out"));
    } else if spec.requests.concurrency.is_some() {
        let what =
            "has no effect in a closed loop of one pool, whose batches do not depend on time";
        idle.extend(Idle::all(&["assumed_latency"], what, "leave it out"));
    }
    if spec.ways().iter().all(|pool| pool.ep == 1) {
        let what = "has no effect on one rank";
        let keys = ["expert_skew", "expert_exchange"];
        idle.extend(Idle::all(&keys, what, "leave it out"));
    }
    if spec.ways().iter().all(|pool| pool.tp == 1) {
        let what = "has no effect without tensor parallelism";
        idle.extend(Idle::all(&["tp_algorithms"], what, "leave it out"));
    }
    idle
}

impl InferenceSpec {
    /// Creates a specification with defaults for all keys but `model` and `requests`.
    pub fn new(model: Model, requests: RequestsSpec) -> InferenceSpec {
        InferenceSpec {
            model,
            accelerator: Accelerator::Word(NamedAccelerator::H100),
            tp: 1,
            pp: 1,
            dp: None,
            ep: 1,
            pools: None,
            requests,
            max_batch: 64,
            batch_tokens: 8192,
            chunked_prefill: true,
            precision: Precision::Bf16,
            kv_precision: Precision::Bf16,
            expert_skew: Skew(0.0),
            expert_exchange: ExpertExchange::default(),
            step_overhead: Time::ZERO,
            assumed_latency: Time::from_us(5),
            algorithms: default_of(),
            tp_algorithms: default_of(),
            check_memory: true,
        }
    }

    /// Returns the pools as written: one for both phases, or the prefill and the decode pool.
    pub(super) fn ways(&self) -> Vec<PoolSpec> {
        match &self.pools {
            Some(pools) => vec![pools.prefill, pools.decode],
            None => vec![PoolSpec {
                tp: self.tp,
                pp: self.pp,
                dp: self.dp.unwrap_or(1),
                ep: self.ep,
                max_batch: None,
                expert_exchange: None,
            }],
        }
    }
}
