//! A training job's specification: the keys in a `workload` with `kind: training`.

use std::ops::RangeInclusive;

use tenter_language::config::{Idle, choice, component, default_of};
use tenter_language::units::{Bytes, Time};

use super::schedule::PipelineSchedule;
use crate::graph::Algorithms;
use crate::transformer::{
    Accelerator, ExpertExchange, Model, NamedAccelerator, Precision, RankOrder, Skew,
};

component! {
    /// Steps of the training of a transformer: its computing by a roofline, and what its ranks send
    /// each other by the parallelism. Each iteration of the job is a step.
    pub struct TrainingSpec as "`jobs[].workload` with `kind: training`", derive(Clone, Debug, PartialEq) {
        idle idle;
        /// A public model by its name, or the dimensions of one.
        model: Model;
        /// An accelerator by its name, or the figures of one.
        accelerator: Accelerator = "h100";
        /// Tensor-parallel ranks.
        tp: u32 = "1", in WAYS;
        /// Context-parallel ranks: each has a part of the sequence, and keys and values go round.
        cp: u32 = "1", in WAYS;
        /// Pipeline-parallel ranks: stages.
        pp: u32 = "1", in WAYS;
        /// Data-parallel ranks.
        dp: Option<u32> = absent "the ranks of the job over `tp`, `cp` and `pp`", in WAYS;
        /// Ranks over which the experts of a layer are spread, of the `tp`, `cp` and `dp` ranks of
        /// a stage.
        ep: u32 = "1", in WAYS;
        /// How unevenly tokens are spread over experts: the exponent of a Zipf distribution.
        /// Experts are dealt to ranks by popularity, and each layer begins with the next rank.
        expert_skew: Skew = "0";
        /// How tokens reach experts, and results come back.
        expert_exchange: ExpertExchange = "{}", omit default;
        /// The dimensions in the order in which ranks count through them, the fastest first.
        order: RankOrder = "tp-cp-dp-pp", from "Megatron-LM, `--order`";
        /// `true` shards activations between the parts of a layer over the ranks of a
        /// tensor-parallel group: an all-gather and a reduce-scatter in place of each all-reduce.
        sequence_parallel: bool = "true";
        /// State that is sharded over data-parallel ranks: nothing (0), that of the optimizer (1),
        /// gradients too (2), weights too (3; `fsdp` is another word for it).
        zero: Sharding = "1";
        /// The order of forward and backward passes in the pipeline; `zero-bubble` is ZB-H1.
        schedule: PipelineSchedule = "1f1b";
        /// Parts of the model at each stage; only with `schedule: interleaved`.
        virtual_stages: u32 = "1", in 1..=1_000;
        /// Layers of each stage, in the order of the model, where they are not all alike; with
        /// virtual stages of each part.
        stage_layers: Vec<u32> = "[]", in 0..=10_000;
        /// Sequences of a step, over all ranks.
        batch: u32, in 1..=100_000_000;
        /// Micro-batches of a step at each pipeline.
        micro_batches: Option<u32> = absent "as many as sequences: one in each", in 1..=10_000_000;
        /// Tokens of a training sequence.
        sequence: Option<u32> = absent "that of the model", in 1..=100_000_000;
        /// Numbers of matrix operators and of what is sent to experts.
        precision: Precision = "bf16";
        /// Numbers of gradients, where they are summed.
        gradient_precision: GradientPrecision = "fp32", from "Megatron-LM with bf16";
        /// Work that is done again before the backward pass: nothing, scores and weights of
        /// attention (`selective`), or whole layers.
        recompute: Recompute = "none";
        /// `true` runs attention as one kernel that keeps no scores and leaves out what is masked.
        fused_attention: bool = "true";
        /// Gradients that are summed together, at most.
        gradient_bucket: Bytes = "160MB", in Bytes::new(1 << 16)..=Bytes::new(1 << 50), from "Megatron-LM: 40 million parameters";
        /// Communication that goes on while the rank computes.
        overlap: Overlap = "{}";
        /// Algorithms of all collectives but tensor-parallel ones.
        algorithms: Algorithms = "{}";
        /// Algorithms of tensor-parallel collectives, which `algorithms` leaves out.
        tp_algorithms: Algorithms = "{}";
        /// Time of a layer forward at a rank, in place of the roofline.
        layer_forward: Option<Time> = absent "by the roofline", in TIMES;
        /// Time of a layer backward.
        layer_backward: Option<Time> = absent "by the roofline", in TIMES;
        /// `true` refuses a model that does not fit into the memory of the accelerator.
        check_memory: bool = "true";
    }
}

component! {
    /// Communication that goes on beside computing.
    pub struct Overlap as "`jobs[].workload.overlap`" {
        /// Tensor-parallel collectives run beside the matrices that they belong to, as with fine
        /// chunks.
        tp: bool = "false";
        /// Dispatch and combination run beside the experts, as with fine chunks.
        ep: bool = "false";
        /// Keys and values of the next step of the ring come while this one is computed.
        cp: bool = "true";
        /// A stage goes on while it sends to the next one.
        pp: bool = "true";
        /// Gradients are summed while the backward pass goes on.
        gradients: bool = "true";
        /// Weights are gathered while the forward pass, or the layer before, goes on.
        parameters: bool = "true";
    }
}

const WAYS: RangeInclusive<u32> = 1..=1 << 20;
const TIMES: RangeInclusive<Time> = Time::ZERO..=Time::from_us(1_000_000_000);

/// State that data-parallel ranks shard among them, by `ZeRO` stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharding {
    /// Nothing: each rank holds all state.
    None,
    /// The optimizer's state alone (stage 1).
    Optimizer,
    /// Gradients as well as that (stage 2).
    Gradients,
    /// Weights as well as both (stage 3).
    Weights,
    /// Same as `Weights`, by the name that `PyTorch` gives it.
    Fsdp,
}

choice!(Sharding {
    "0" => None,
    "1" => Optimizer,
    "2" => Gradients,
    "3" => Weights,
    "fsdp" => Fsdp,
});

impl Sharding {
    /// Returns true if weights are sharded.
    pub fn of_weights(self) -> bool {
        matches!(self, Sharding::Weights | Sharding::Fsdp)
    }

    /// Returns true if gradients are sharded.
    pub fn of_gradients(self) -> bool {
        self.of_weights() || self == Sharding::Gradients
    }
}

/// Number format in which gradients are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradientPrecision {
    /// 32-bit floating point, 4 bytes each.
    Fp32,
    /// 16-bit brain floating point, 2 bytes.
    Bf16,
}

choice!(GradientPrecision {
    "fp32" => Fp32,
    "bf16" => Bf16,
});

impl GradientPrecision {
    /// Returns the bytes per gradient.
    pub fn bytes(self) -> u64 {
        match self {
            GradientPrecision::Fp32 => 4,
            GradientPrecision::Bf16 => 2,
        }
    }
}

/// Activations that are recomputed instead of kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recompute {
    /// None: all activations are kept.
    None,
    /// Attention's scores and their softmax.
    Selective,
    /// Whole layers, from their inputs.
    Full,
}

choice!(Recompute {
    "none" => None,
    "selective" => Selective,
    "full" => Full,
});

/// Lists keys without effect for this parallelism and these kernels.
fn idle(spec: &TrainingSpec) -> Vec<Idle> {
    let mut idle = Vec::new();
    if spec.pp == 1 {
        let what = "has no effect without a pipeline";
        let keys = ["schedule", "virtual_stages", "stage_layers", "overlap.pp"];
        idle.extend(Idle::all(&keys, what, "leave it out, or give `pp`"));
    } else if spec.schedule != PipelineSchedule::Interleaved {
        let remedy = "leave it out, or give `schedule: interleaved`";
        let what = "has no effect with this schedule";
        idle.extend(Idle::all(&["virtual_stages"], what, remedy));
    }
    if spec.recompute == Recompute::Selective && spec.fused_attention {
        let what = "has no effect with a fused kernel";
        let remedy = "leave it out, or give `fused_attention: false`";
        idle.extend(Idle::all(&["recompute"], what, remedy));
    }
    if spec.tp == 1 {
        let what = "has no effect without tensor parallelism";
        let keys = ["sequence_parallel", "tp_algorithms", "overlap.tp"];
        idle.extend(Idle::all(&keys, what, "leave it out, or give `tp`"));
    }
    let ways = [
        (spec.cp, "overlap.cp"),
        (spec.ep, "overlap.ep"),
        (spec.ep, "expert_skew"),
        (spec.ep, "expert_exchange"),
    ];
    for (ways, key) in ways {
        if ways == 1 {
            let what = "has no effect on one rank";
            idle.extend(Idle::all(&[key], what, "leave it out"));
        }
    }
    idle
}

impl TrainingSpec {
    /// Creates a specification with `batch` sequences in a step and defaults for all other keys.
    pub fn new(model: Model, batch: u32) -> TrainingSpec {
        TrainingSpec {
            model,
            accelerator: Accelerator::Word(NamedAccelerator::H100),
            tp: 1,
            cp: 1,
            pp: 1,
            dp: None,
            ep: 1,
            expert_skew: Skew(0.0),
            expert_exchange: ExpertExchange::default(),
            order: RankOrder::default(),
            sequence_parallel: true,
            zero: Sharding::Optimizer,
            schedule: PipelineSchedule::OneForwardOneBackward,
            virtual_stages: 1,
            stage_layers: Vec::new(),
            batch,
            micro_batches: None,
            sequence: None,
            precision: Precision::Bf16,
            gradient_precision: GradientPrecision::Fp32,
            recompute: Recompute::None,
            fused_attention: true,
            gradient_bucket: Bytes::new(160_000_000),
            overlap: default_of(),
            algorithms: Algorithms::default(),
            tp_algorithms: Algorithms::default(),
            layer_forward: None,
            layer_backward: None,
            check_memory: true,
        }
    }

    /// Counts the model chunks at each stage: 1 unless the schedule is interleaved.
    pub fn chunks(&self) -> u32 {
        if self.pp > 1 && self.schedule == PipelineSchedule::Interleaved {
            self.virtual_stages
        } else {
            1
        }
    }
}
