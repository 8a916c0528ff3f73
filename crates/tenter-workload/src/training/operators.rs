//! Times for the operators in a layer at one rank, by a roofline.
//!
//! Source for the operators, their operations and the bytes they move: Calculon (Isaev et al.,
//! "Calculon: a methodology and tool for high-level co-design of systems and large language
//! models", 2023).

use crate::transformer::{
    self, AcceleratorSpec, Cost, EMBEDDING, Input, ModelSpec, NORM, OUTPUTS_OF_EXPERTS, RESIDUAL,
};

const ACTIVATION_BYTES: f64 = transformer::ACTIVATION_BYTES as f64;
/// Operations in fused attention's backward pass, relative to its forward pass; scores are
/// recomputed (`FlashAttention`, Dao et al., 2022).
const FUSED_BACKWARD: f64 = 2.5;
/// Adam's cost for each weight.
const OPTIMIZER: Cost = Cost::new(11.0, 12.0);

/// Seconds that one micro-batch spends in a model part, by pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Passes {
    /// Seconds in the forward pass.
    pub forward: f64,
    /// Seconds for input gradients, backward.
    pub input: f64,
    /// Seconds for weight gradients, backward.
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

    /// Returns the seconds for the backward pass: input and weight gradients together.
    pub fn backward(self) -> f64 {
        self.input + self.weights
    }

    /// Multiplies the forward time and the backward times by factors.
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

/// A block's kind; a block is a model part between two communications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockKind {
    /// Embedding lookup: tokens to activations.
    Embedding,
    /// Attention with its normalisation and projections.
    Attention,
    /// Feed-forward part in a layer without experts.
    Dense,
    /// Experts that every token passes.
    Shared,
    /// Experts among which a router chooses.
    Experts,
    /// Output layer and the loss behind it.
    Head,
}

/// Times for a block, split where communication may run beside its core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Kind, which decides how the block communicates.
    pub kind: BlockKind,
    /// Time before the core: normalisation and projections in attention, the router for experts.
    pub before: Passes,
    /// Time in the core: attention's scores and weighted sums, the experts' feed-forward parts;
    /// everything in other blocks.
    pub core: Passes,
    /// Time behind the core, such as attention's output projection.
    pub after: Passes,
    /// Seconds that selective recomputation repeats before the backward pass.
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

    /// Returns the times for the whole block.
    pub fn all(&self) -> Passes {
        self.before + self.core + self.after
    }
}

/// One rank's part in a micro-batch, with the accelerator that computes it.
#[derive(Clone, Debug)]
pub struct Operators {
    /// The model's dimensions, before any parallelism.
    pub model: ModelSpec,
    /// Figures by which the roofline computes.
    pub accelerator: AcceleratorSpec,
    /// Tokens that a rank has in a micro-batch: its part of every sequence.
    pub tokens: u64,
    /// Tokens in a whole sequence.
    pub sequence: u32,
    /// Tensor-parallel ranks that share each matrix.
    pub tp: u32,
    /// Set if activations between blocks are sharded over tensor-parallel ranks.
    pub shares_activations: bool,
    /// Ranks over which experts are spread.
    pub ep: u32,
    /// Set if attention is one fused kernel.
    pub fused: bool,
    /// Set if matrices are multiplied with 8-bit numbers.
    pub fp8: bool,
}

impl Operators {
    /// Returns the activation count between blocks at the rank.
    fn between(&self) -> f64 {
        let all = self.tokens as f64 * f64::from(self.model.hidden);
        if self.shares_activations {
            all / f64::from(self.tp)
        } else {
            all
        }
    }

    /// Returns the times for `m` tokens times `k × n` weights, dealt evenly to `count` matrices
    /// alike.
    fn linear(&self, m: f64, k: f64, n: f64, count: f64) -> Passes {
        let flops = 2.0 * m * k * n;
        // Each matrix is read once, for however few tokens; hence experts with few tokens are
        // memory-bound.
        let bytes = count * (m / count * (k + n) + k * n) * ACTIVATION_BYTES;
        let once = self
            .accelerator
            .matrix_seconds(Cost::new(flops, bytes), self.fp8);
        // Gradients of inputs and of weights are one product of the same size each.
        Passes::of(once, once, once)
    }

    /// Returns the times for an element-wise operator; the costs are for one element.
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

    /// Returns the times for the residual addition, and in models without gates for the dropout
    /// before it.
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
                // Every rank holds these whole and applies them to its own tokens only.
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

    /// Returns the times for scores, softmax, and the weighted sums over values.
    fn scores(&self, heads: f64, score: f64, size: f64) -> Passes {
        let (tokens, sequence) = (self.tokens as f64, f64::from(self.sequence));
        let scores = heads * tokens * sequence;
        if self.fused {
            // Causal masking leaves out half of the products.
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

    /// Returns the seconds that selective recomputation repeats; none in a fused kernel.
    fn recomputed(&self, heads: f64, score: f64, size: f64) -> f64 {
        if self.fused {
            return 0.0;
        }
        self.products_and_softmax(heads, score, size).forward
    }

    /// Returns the times for scores, softmax and weighted sums as separate kernels.
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
            // Both operands are activations: their gradients are two products, and there are no
            // weights.
            Passes::of(seconds(1.0), seconds(2.0), 0.0)
        };
        let softmax = self.vector(scores, Cost::new(5.0, 4.0), Cost::new(8.0, 4.0));
        product(score) + softmax + product(size)
    }

    /// Returns the times for a feed-forward part `width` wide, for `tokens` dealt evenly to `count`
    /// parts alike.
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

    /// Returns the block with experts. Experts are not cut by `tp`, and each rank dispatches the
    /// tokens that it alone has.
    fn experts(&self) -> Block {
        let model = &self.model;
        let [hidden, experts] = [model.hidden, model.experts].map(f64::from);
        // `sequence_parallel` is required with experts, so tensor-parallel ranks have different
        // tokens.
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

    /// Returns a layer's blocks in forward order.
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

    /// Returns the embedding's block, which copies matrix rows.
    pub fn embedding(&self) -> Block {
        let elements = self.tokens as f64 * f64::from(self.model.hidden);
        let forward = self.vector(elements, EMBEDDING, Cost::NONE).forward;
        let weights = self
            .vector(elements, Cost::new(1.0, 8.0), Cost::NONE)
            .forward;
        Block::whole(BlockKind::Embedding, Passes::of(forward, 0.0, weights))
    }

    /// Returns the block for the output layer and the loss.
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

    /// Returns the seconds that the optimizer takes for `weights` weights.
    pub fn optimizer(&self, weights: f64) -> f64 {
        self.accelerator.vector_seconds(weights * OPTIMIZER)
    }

    /// Returns the floating-point operations that the model spends on one token, forward and
    /// backward and without recomputation: 6 for each weight that it meets, and the scores over a
    /// whole sequence.
    pub fn model_flops_of_token(&self) -> f64 {
        let model = &self.model;
        let layers = 0..model.layers;
        let weights: u64 = layers.map(|layer| model.active_weights(layer)).sum();
        let widths = f64::from(model.heads * (model.score_size() + model.head_size()));
        let scores = f64::from(model.layers) * 2.0 * f64::from(self.sequence) * widths;
        // The backward pass has twice the products of the forward pass. The embedding is a lookup,
        // so the vocabulary counts once, for the output layer.
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
