//! Memory that a training takes on an accelerator.
//!
//! Sources: Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models"
//! (2022), for activations, with the widths of gated layers and grouped queries in place of `4h`
//! and `h`; Rajbhandari et al., "`ZeRO`" (2020), for 16 bytes per weight and their sharding.

use std::fmt::Write as _;
use std::ops::Add;

use super::layout::Training;
use super::spec::{Recompute, Sharding};
use crate::transformer::Unfit;

/// Memory at one rank by use, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// Bytes in weights, 2 for each, gathered shards included.
    pub weights: f64,
    /// Bytes in gradients, 2 or 4 for each weight.
    pub gradients: f64,
    /// Bytes in the optimizer's state, 12 for each weight.
    pub optimizer: f64,
    /// Bytes that forward passes keep for backward passes.
    pub activations: f64,
}

/// Bytes per weight for Adam's state: a copy of the weight and two moments, 4 bytes each.
const OPTIMIZER_BYTES: f64 = 12.0;

impl Memory {
    /// Returns the bytes over all uses.
    pub fn all(&self) -> f64 {
        self.weights + self.gradients + self.optimizer + self.activations
    }
}

impl Add for Memory {
    type Output = Memory;

    fn add(self, other: Memory) -> Memory {
        Memory {
            weights: self.weights + other.weights,
            gradients: self.gradients + other.gradients,
            optimizer: self.optimizer + other.optimizer,
            activations: self.activations + other.activations,
        }
    }
}

/// Returns the memory for `weights` weights that `replicas` ranks have in common and may shard.
fn of_weights(training: &Training, weights: u64, replicas: u32) -> Memory {
    let (spec, weights) = (&training.spec, weights as f64);
    let shard = weights / f64::from(replicas);
    let if_sharded = |is: bool| if is { shard } else { weights };
    Memory {
        weights: 2.0 * if_sharded(spec.zero.of_weights()),
        gradients: spec.gradient_precision.bytes() as f64 * if_sharded(spec.zero.of_gradients()),
        optimizer: OPTIMIZER_BYTES * if_sharded(spec.zero != Sharding::None),
        activations: 0.0,
    }
}

/// Returns the activation bytes that a layer keeps for one micro-batch.
fn of_layer(training: &Training, layer: u32, recompute: Recompute) -> f64 {
    let (spec, model) = (&training.spec, &training.model);
    let tokens = training.tokens() as f64;
    let [tp, hidden] = [spec.tp, model.hidden].map(f64::from);
    let between = tokens * hidden
        / if training.shares_activations() {
            tp
        } else {
            1.0
        };
    // Only the layer's input, 2 bytes per element.
    if recompute == Recompute::Full {
        return 2.0 * between;
    }
    let kv_heads = model.kv_heads_of_rank(spec.tp);
    let [heads, kv_heads] = [model.heads, kv_heads].map(f64::from);
    let [size, score] = [model.head_size(), model.score_size()].map(f64::from);
    let own = tokens * (heads / tp + kv_heads) * (score + size);
    let scores = if spec.fused_attention || recompute == Recompute::Selective {
        0.0
    } else {
        // Two bytes each for the outputs of softmax and of dropout, one for the dropout mask.
        5.0 * heads * f64::from(training.sequence) * tokens / tp
    };
    let dropout = if model.gated { 0.0 } else { 2.0 * between };
    let matrices = model.matrices() as f64;
    let inner = |tokens: f64, width: f64| 2.0 * tokens * width * matrices;
    let feed_forward = if model.has_experts(layer) {
        let sent = tokens / tp * f64::from(model.top_k);
        let width = f64::from(model.expert_ffn());
        let shared = f64::from(model.shared_experts) * width / tp;
        2.0 * sent * hidden + inner(sent, width) + inner(tokens, shared)
    } else {
        inner(tokens, f64::from(model.ffn) / tp)
    };
    // Inputs of the two normalisations, of the projections and of the feed-forward part: four times
    // 2 bytes.
    8.0 * between + 2.0 * own + scores + dropout + feed_forward
}

/// Returns the memory at a rank in `stage`.
pub(super) fn of_stage(training: &Training, stage: u32) -> Memory {
    let (dense, experts) = training.weights_of_stage(stage);
    let size = training.grid.size;
    let replicas = size.cp * size.dp;
    let expert_replicas = (size.tp * replicas / training.spec.ep).max(1);
    let pipeline = &training.pipeline;
    let recompute = training.spec.recompute;
    let (mut layers, mut recomputed) = (0.0, 0.0_f64);
    for chunk in 0..pipeline.chunks {
        let part = chunk * pipeline.stages + stage;
        for layer in training.layers(part) {
            layers += of_layer(training, layer, recompute);
            if recompute == Recompute::Full {
                // While one layer is recomputed its activations are all there.
                recomputed = recomputed.max(of_layer(training, layer, Recompute::None));
            }
        }
    }
    let last = f64::from(u32::from(stage + 1 == pipeline.stages));
    let entries = f64::from(training.model.vocabulary) / f64::from(training.spec.tp);
    // The loss is computed in 32 bits at the last stage.
    let logits = 4.0 * training.tokens() as f64 * entries * last;
    let activations = Memory {
        weights: gathered(training, stage, [replicas, expert_replicas]),
        activations: pipeline.kept(stage) * layers + recomputed + logits,
        ..Memory::default()
    };
    of_weights(training, dense, replicas)
        + of_weights(training, experts, expert_replicas)
        + activations
}

/// Returns the bytes in sharded weights that are gathered at a time: the largest unit's, and
/// another one's if it is gathered ahead.
fn gathered(training: &Training, stage: u32, [replicas, expert_replicas]: [u32; 2]) -> f64 {
    let spec = &training.spec;
    if !spec.zero.of_weights() {
        return 0.0;
    }
    let of_others = |weights: u64, replicas: u32| {
        let replicas = f64::from(replicas);
        2.0 * weights as f64 * (replicas - 1.0) / replicas
    };
    let mut units = Vec::new();
    for chunk in 0..training.pipeline.chunks {
        let part = chunk * training.pipeline.stages + stage;
        units.extend(training.layers(part).map(|layer| {
            of_others(training.dense_weights(layer), replicas)
                + of_others(training.expert_weights(layer), expert_replicas)
        }));
        let ends = u32::from(part == 0) + u32::from(part + 1 == training.parts());
        let of_end = of_others(training.vocabulary_weights(), replicas);
        units.extend((0..ends).map(|_| of_end));
    }
    // The largest units bound the memory, whichever are gathered together.
    units.sort_by(|a, b| b.total_cmp(a));
    let at_a_time = if spec.overlap.parameters { 2 } else { 1 };
    units.iter().take(at_a_time).sum()
}

/// Returns the stage that takes most memory, and its memory.
pub(super) fn of_largest_stage(training: &Training) -> (u32, Memory) {
    let stages = 0..training.pipeline.stages;
    let all = stages.map(|stage| (stage, of_stage(training, stage)));
    let largest = all.reduce(|most, next| {
        if next.1.all() > most.1.all() {
            next
        } else {
            most
        }
    });
    largest.unwrap_or((0, Memory::default()))
}

fn gigabytes(bytes: f64) -> String {
    format!("{:.1} GB", bytes / 1e9)
}

/// Refuses a training that needs more memory than the accelerator has.
pub(super) fn check(training: &Training) -> Result<(), Unfit> {
    let has = training.accelerator.memory.count() as f64;
    let (stage, needs) = of_largest_stage(training);
    if needs.all() <= has {
        return Ok(());
    }
    let what = format!(
        "needs {} at stage {stage} (weights {}, gradients {}, optimizer {}, activations {}), and the accelerator has {}",
        gigabytes(needs.all()),
        gigabytes(needs.weights),
        gigabytes(needs.gradients),
        gigabytes(needs.optimizer),
        gigabytes(needs.activations),
        gigabytes(has)
    );
    Err(Unfit {
        key: "model".to_owned(),
        what,
        remedy: remedy(training, has),
    })
}

/// Names the first change that makes the training fit, from the least intrusive on.
fn remedy(training: &Training, has: f64) -> String {
    let fits = |other: &Option<Training>| {
        other
            .as_ref()
            .is_some_and(|other| of_largest_stage(other).1.all() <= has)
    };
    let full = training.with(|spec| spec.recompute = Recompute::Full);
    if fits(&full) {
        return "give `recompute: full`, with which it fits".to_owned();
    }
    let single = training.with(|spec| spec.micro_batches = None);
    if fits(&single) {
        return "leave `micro_batches` out, with which it fits".to_owned();
    }
    // The smallest factor first, and stages before tensor parallelism, which communicates more.
    for factor in [2, 4, 8, 16, 32, 64] {
        for key in ["pp", "tp"] {
            let more = more_ways(training, key, factor);
            if let Some(more) = more.filter(|more| fits(&Some(more.clone()))) {
                return named_changes(training, &more, key);
            }
        }
    }
    let sharded = training.with(|spec| {
        spec.zero = Sharding::Fsdp;
        spec.recompute = Recompute::Full;
    });
    if fits(&sharded) {
        return "give `zero: fsdp` and `recompute: full`, with which it fits".to_owned();
    }
    "use more ranks, or an accelerator with more memory; `check_memory: false` runs it anyway"
        .to_owned()
}

/// Returns the training with `factor` times the stages or tensor-parallel ranks, and fewer
/// replicas.
fn more_ways(training: &Training, key: &str, factor: u32) -> Option<Training> {
    training.with(|spec| {
        if key == "pp" {
            spec.pp = spec.pp.saturating_mul(factor);
            // Layers given for each stage cannot hold for another number of stages.
            spec.stage_layers = Vec::new();
        } else {
            spec.tp = spec.tp.saturating_mul(factor);
        }
        spec.micro_batches = None;
        spec.dp = None;
    })
}

/// Says the change in words, with every written key that has to change along.
fn named_changes(training: &Training, more: &Training, key: &str) -> String {
    let (own, other) = (&training.spec, &more.spec);
    let ways = if key == "pp" { other.pp } else { other.tp };
    let mut text = format!("give `{key}: {ways}`");
    if own.dp.is_some() {
        let _ = write!(text, " and `dp: {}`", more.grid.size.dp);
    }
    let mut left_out = Vec::new();
    if own.micro_batches.is_some() {
        left_out.push("`micro_batches`");
    }
    if own.stage_layers != other.stage_layers {
        left_out.push("`stage_layers`");
    }
    if !left_out.is_empty() {
        let _ = write!(text, " and leave {} out", left_out.join(" and "));
    }
    text + ", with which it fits on the same ranks"
}
