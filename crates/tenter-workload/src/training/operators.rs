//! How long the operators of a layer take a rank, by a roofline.
//!
//! Source of the operators, of their operations and of the bytes that they move: Calculon (Isaev et
//! al., "Calculon: a methodology and tool for high-level co-design of systems and large language
//! models", 2023).

use crate::transformer::{
    self, AcceleratorSpec, Cost, EMBEDDING, Input, ModelSpec, NORM, OUTPUTS_OF_EXPERTS, RESIDUAL,
};

const ACTIVATION_BYTES: f64 = transformer::ACTIVATION_BYTES as f64;
/// Operations of the backward pass of a fused kernel of attention over those of the forward pass,
/// scores recomputed (`FlashAttention`, Dao et al., 2022).
const FUSED_BACKWARD: f64 = 2.5;
/// Optimizer (Adam): operations and bytes of a weight.
const OPTIMIZER: Cost = Cost::new(11.0, 12.0);

/// Seconds of a part of the model for one micro-batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Passes {
    /// Forward.
    pub forward: f64,
    /// Gradients of inputs.
    pub input: f64,
    /// Gradients of weights.
    pub weights: f64,
}

impl Passes {
    fn of(forward: f64, input: f64, weights: f64) -> Passes {
        Passes {
            forward,
            input,
            weights,
        }
    }

    /// Backward.
    pub fn backward(self) -> f64 {
        self.input + self.weights
    }

    /// With factors for forward and backward.
    #[must_use]
    pub fn scaled(self, forward: f64, backward: f64) -> Passes {
        Passes::of(
            self.forward * forward,
            self.input * backward,
            self.weights * backward,
        )
    }
}

impl std::ops::Add for Passes {
    type Output = Passes;

    fn add(self, other: Passes) -> Passes {
        Passes::of(
            self.forward + other.forward,
            self.input + other.input,
            self.weights + other.weights,
        )
    }
}

impl std::iter::Sum for Passes {
    fn sum<I: Iterator<Item = Passes>>(passes: I) -> Passes {
        passes.fold(Passes::default(), |sum, of| sum + of)
    }
}

/// A part of the model between communications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockKind {
    /// From tokens to activations.
    Embedding,
    /// Attention.
    Attention,
    /// The feed-forward part of a layer without experts.
    Dense,
    /// The experts that every token passes.
    Shared,
    /// The experts that tokens are sent to.
    Experts,
    /// From activations to the loss.
    Head,
}

/// What a block takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Which.
    pub kind: BlockKind,
    /// Before the core: normalisation, queries, keys and values; the router.
    pub before: Passes,
    /// Scores and weights of attention; the experts; all of other blocks.
    pub core: Passes,
    /// Behind the core.
    pub after: Passes,
    /// Seconds of what selective recomputation computes once more before the backward pass.
    pub recomputed: f64,
}

impl Block {
    fn whole(kind: BlockKind, core: Passes) -> Block {
        Block {
            kind,
            before: Passes::default(),
            core,
            after: Passes::default(),
            recomputed: 0.0,
        }
    }

    /// All of it.
    pub fn all(&self) -> Passes {
        self.before + self.core + self.after
    }
}

/// What a rank has of a micro-batch, and how it computes.
#[derive(Clone, Debug)]
pub struct Operators {
    /// The model.
    pub model: ModelSpec,
    /// The accelerator.
    pub accelerator: AcceleratorSpec,
    /// Tokens of a micro-batch at a rank: of all sequences its part.
    pub tokens: u64,
    /// Tokens of a whole sequence.
    pub sequence: u32,
    /// Tensor-parallel ranks.
    pub tp: u32,
    /// Whether activations between the parts of a layer are sharded over them.
    pub shares_activations: bool,
    /// Ranks over which experts are spread.
    pub ep: u32,
    /// Whether attention is one kernel.
    pub fused: bool,
    /// Whether matrices are multiplied with 8-bit numbers.
    pub fp8: bool,
}

impl Operators {
    /// Elements of activations between the parts of a layer.
    fn between(&self) -> f64 {
        let all = self.tokens as f64 * f64::from(self.model.hidden);
        if self.shares_activations {
            all / f64::from(self.tp)
        } else {
            all
        }
    }

    /// A matrix of `k × n` weights for `m` tokens, of `count` alike.
    fn linear(&self, m: f64, k: f64, n: f64, count: f64) -> Passes {
        let flops = 2.0 * m * k * n;
        let bytes = count * (m / count * (k + n) + k * n) * ACTIVATION_BYTES;
        let once = self
            .accelerator
            .matrix_seconds(Cost::new(flops, bytes), self.fp8);
        Passes::of(once, once, once)
    }

    /// An operator of a number of elements, each of which costs this forward and backward.
    fn vector(&self, elements: f64, forward: Cost, backward: Cost) -> Passes {
        let seconds = |of_element| self.accelerator.vector_seconds(elements * of_element);
        Passes::of(seconds(forward), seconds(backward), 0.0)
    }

    fn norm(&self) -> Passes {
        let elements = self.between();
        let of_weights = self
            .vector(elements, Cost::new(7.0, 4.0), Cost::NONE)
            .forward;
        let passes = self.vector(elements, NORM, Cost::new(14.0, 4.0));
        Passes {
            weights: of_weights,
            ..passes
        }
    }

    /// The sum with what went past a block; models without gates have dropout before it.
    fn residual(&self) -> Passes {
        let sum = self.vector(self.between(), RESIDUAL, Cost::new(2.0, 6.0));
        if self.model.gated {
            return sum;
        }
        sum + self.vector(self.between(), Cost::new(1.0, 5.0), Cost::new(1.0, 5.0))
    }

    fn attention(&self) -> Block {
        let model = &self.model;
        let tokens = self.tokens as f64;
        let [hidden, tp] = [model.hidden, self.tp].map(f64::from);
        let heads = f64::from(model.heads) / tp;
        let [size, score] = [model.head_size(), model.score_size()].map(f64::from);
        let matrices = model.projections(self.tp).into_iter();
        let projections: Passes = matrices
            .map(|(input, (k, n))| match input {
                Input::Tokens | Input::Latent => self.linear(tokens, k, n, 1.0),
                // All ranks have these, for the tokens that each has alone.
                Input::Whole => self.linear(self.between() / hidden, k, n, 1.0),
            })
            .sum();
        Block {
            kind: BlockKind::Attention,
            before: self.norm() + projections,
            core: self.scores(heads, score, size),
            after: self.linear(tokens, heads * size, hidden, 1.0) + self.residual(),
            recomputed: self.recomputed(heads, score, size),
        }
    }

    /// Scores, their softmax, and the weighted sums of values.
    fn scores(&self, heads: f64, score: f64, size: f64) -> Passes {
        let (tokens, sequence) = (self.tokens as f64, f64::from(self.sequence));
        let scores = heads * tokens * sequence;
        if self.fused {
            // What comes later in the sequence is left out: half of it.
            let flops = scores * (score + size);
            let bytes = 2.0 * heads * tokens * (score + size) * ACTIVATION_BYTES;
            let seconds = |factor: f64| {
                let of_all = factor * Cost::new(flops, bytes);
                self.accelerator.attention_seconds(of_all)
            };
            return Passes::of(seconds(1.0), seconds(FUSED_BACKWARD), 0.0);
        }
        let dropout = self.vector(scores, Cost::new(1.0, 5.0), Cost::new(1.0, 5.0));
        self.products_and_softmax(heads, score, size) + dropout
    }

    /// The operators that selective recomputation runs once more; none of a fused kernel.
    fn recomputed(&self, heads: f64, score: f64, size: f64) -> f64 {
        if self.fused {
            return 0.0;
        }
        self.products_and_softmax(heads, score, size).forward
    }

    fn products_and_softmax(&self, heads: f64, score: f64, size: f64) -> Passes {
        let tokens = self.tokens as f64;
        let scores = heads * tokens * f64::from(self.sequence);
        let product = |width: f64| {
            let flops = 2.0 * scores * width;
            let bytes = (2.0 * heads * tokens * width + scores) * ACTIVATION_BYTES;
            let seconds = |factor: f64| {
                let of_all = factor * Cost::new(flops, bytes);
                self.accelerator.matrix_seconds(of_all, false)
            };
            Passes::of(seconds(1.0), seconds(2.0), 0.0)
        };
        let softmax = self.vector(scores, Cost::new(5.0, 4.0), Cost::new(8.0, 4.0));
        product(score) + softmax + product(size)
    }

    /// A feed-forward part of a width for a number of tokens, as `count` parts alike.
    fn feed_forward(&self, tokens: f64, width: f64, count: f64) -> Passes {
        let hidden = f64::from(self.model.hidden);
        let (into, forward) = self.model.activation_entering(width);
        let backward = if self.model.gated {
            Cost::new(14.0, 10.0)
        } else {
            Cost::new(13.0, 4.0)
        };
        let activation = self.vector(tokens * width, forward, backward);
        let first = self.linear(tokens, hidden, into, count);
        first + activation + self.linear(tokens, width, hidden, count)
    }

    fn dense(&self) -> Block {
        let width = f64::from(self.model.ffn) / f64::from(self.tp);
        let whole = self.norm() + self.feed_forward(self.tokens as f64, width, 1.0);
        Block::whole(BlockKind::Dense, whole + self.residual())
    }

    fn shared(&self) -> Block {
        let experts = f64::from(self.model.shared_experts);
        let width = experts * f64::from(self.model.expert_ffn()) / f64::from(self.tp);
        let whole = self.feed_forward(self.tokens as f64, width, 1.0);
        Block::whole(BlockKind::Shared, whole)
    }

    /// Experts are spread over ranks and not cut; each rank sends the tokens that it has.
    fn experts(&self) -> Block {
        let model = &self.model;
        let [hidden, experts] = [model.hidden, model.experts].map(f64::from);
        let own = self.tokens as f64 / f64::from(self.tp);
        let sent = own * f64::from(model.top_k);
        let here = experts / f64::from(self.ep);
        let width = f64::from(model.expert_ffn());
        Block {
            kind: BlockKind::Experts,
            before: self.norm() + self.linear(own, hidden, experts, 1.0),
            core: self.feed_forward(sent, width, here),
            after: self.vector(sent * hidden, OUTPUTS_OF_EXPERTS, Cost::new(2.0, 2.0))
                + self.residual(),
            recomputed: 0.0,
        }
    }

    /// The blocks of a layer.
    pub fn layer(&self, has_experts: bool) -> Vec<Block> {
        let mut blocks = vec![self.attention()];
        if !has_experts {
            blocks.push(self.dense());
            return blocks;
        }
        if self.model.shared_experts > 0 {
            blocks.push(self.shared());
        }
        blocks.push(self.experts());
        blocks
    }

    /// The embedding, which takes rows of a matrix.
    pub fn embedding(&self) -> Block {
        let elements = self.tokens as f64 * f64::from(self.model.hidden);
        let forward = self.vector(elements, EMBEDDING, Cost::NONE).forward;
        let weights = self
            .vector(elements, Cost::new(1.0, 8.0), Cost::NONE)
            .forward;
        Block::whole(BlockKind::Embedding, Passes::of(forward, 0.0, weights))
    }

    /// The output layer and the loss.
    pub fn head(&self) -> Block {
        let hidden = f64::from(self.model.hidden);
        let entries = f64::from(self.model.vocabulary) / f64::from(self.tp);
        let logits = self.linear(self.tokens as f64, hidden, entries, 1.0);
        let loss = self.vector(
            self.tokens as f64 * entries,
            Cost::new(5.0, 6.0),
            Cost::new(2.0, 6.0),
        );
        Block::whole(BlockKind::Head, self.norm() + logits + loss)
    }

    /// Seconds of the optimizer for a number of weights.
    pub fn optimizer(&self, weights: f64) -> f64 {
        self.accelerator.vector_seconds(weights * OPTIMIZER)
    }

    /// Operations of a token in the model, forward and backward without anything recomputed:
    /// three times two for each weight that it meets, and the scores of a whole sequence.
    pub fn model_flops_of_token(&self) -> f64 {
        let model = &self.model;
        let layers = 0..model.layers;
        let weights: u64 = layers.map(|layer| model.active_weights(layer)).sum();
        let widths = f64::from(model.heads * (model.score_size() + model.head_size()));
        let scores = f64::from(model.layers) * 2.0 * f64::from(self.sequence) * widths;
        3.0 * (2.0 * (weights + model.vocabulary_weights()) as f64 + scores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transformer::{NamedAccelerator, NamedModel};

    fn gpt(tp: u32, shares_activations: bool) -> Operators {
        Operators {
            model: NamedModel::Gpt3.dimensions(),
            accelerator: NamedAccelerator::A100.figures(),
            tokens: 2048,
            sequence: 2048,
            tp,
            shares_activations,
            ep: 1,
            fused: false,
            fp8: false,
        }
    }

    /// `72 s L h² (1 + s / 6h + V / 12Lh)` for a sequence (Narayanan et al., 2021, without
    /// recomputing).
    #[test]
    fn operations_of_the_model_are_those_of_the_paper() {
        let of = gpt(8, true);
        let (s, l, h, v) = (2048.0, 96.0, 12_288.0, 51_200.0);
        let paper = 72.0 * s * l * h * h * (1.0 + s / (6.0 * h) + v / (12.0 * l * h));
        let own = 2048.0 * of.model_flops_of_token();
        assert!((own / paper - 1.0).abs() < 1e-9, "{own} {paper}");
    }

    /// Calculon, run for the same layer, has 4.34 ms for the blocks forward of GPT-3 with 8
    /// tensor-parallel ranks and sharded activations; its step of 64 sequences in 8 stages has
    /// 6.35 s backward and 0.319 s of selective recomputation, for 12 layers of each.
    #[test]
    fn a_layer_takes_what_calculon_says() {
        let layer = gpt(8, true).layer(false);
        let forward: f64 = layer.iter().map(|block| block.all().forward).sum();
        assert!((forward / 4.34e-3 - 1.0).abs() < 0.02, "{forward}");
        let passes = 64.0 * 12.0;
        let backward: f64 = layer.iter().map(|block| block.all().backward()).sum();
        assert!((backward * passes / 6.35 - 1.0).abs() < 0.02, "{backward}");
        let recomputed: f64 = layer.iter().map(|block| block.recomputed).sum();
        assert!(
            (recomputed * passes / 0.319 - 1.0).abs() < 0.04,
            "{recomputed}"
        );
    }
}
