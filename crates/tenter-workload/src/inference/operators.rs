//! Times for the operators in an iteration at one rank, by a roofline.
//!
//! Operators and the bytes they move are those in a training's forward pass, except that weights
//! have their own width and that attention reads keys and values from memory.

use super::load::Load;
use crate::transformer::{
    self, AcceleratorSpec, Cost, EMBEDDING, Input, ModelSpec, NORM, OUTPUTS_OF_EXPERTS, RESIDUAL,
};

const ACTIVATION_BYTES: f64 = transformer::ACTIVATION_BYTES as f64;

/// One rank's part in the model, with the accelerator that computes it.
#[derive(Clone, Copy, Debug)]
pub struct Operators<'a> {
    /// The model's dimensions, before any parallelism.
    pub model: &'a ModelSpec,
    /// Figures by which the roofline computes.
    pub accelerator: &'a AcceleratorSpec,
    /// Tensor-parallel ranks that share each matrix.
    pub tp: u32,
    /// Ranks over which experts are spread. With 1, tensor-parallel ranks share every expert.
    pub ep: u32,
    /// Set if weights have 8 bits and matrices are multiplied with 8-bit numbers.
    pub fp8: bool,
    /// Bytes per number in the KV cache.
    pub cached_bytes: u64,
}

impl Operators<'_> {
    fn weight_bytes(&self) -> f64 {
        if self.fp8 { 1.0 } else { ACTIVATION_BYTES }
    }

    /// Returns the seconds for `m` tokens times `k × n` weights, dealt to `count` matrices alike.
    fn linear(&self, m: f64, k: f64, n: f64, count: f64) -> f64 {
        let flops = 2.0 * m * k * n;
        let activations = m * (k + n) * ACTIVATION_BYTES;
        let bytes = activations + count * k * n * self.weight_bytes();
        self.accelerator
            .matrix_seconds(Cost::new(flops, bytes), self.fp8)
    }

    /// Returns the seconds for an element-wise operator; the cost is for one element.
    fn vector(&self, elements: f64, of_element: Cost) -> f64 {
        self.accelerator.vector_seconds(elements * of_element)
    }

    fn norm(&self, tokens: f64) -> f64 {
        self.vector(tokens * f64::from(self.model.hidden), NORM)
    }

    fn residual(&self, tokens: f64) -> f64 {
        self.vector(tokens * f64::from(self.model.hidden), RESIDUAL)
    }

    /// Returns how many numbers a layer keeps for each token at a rank: keys and values for the
    /// rank's heads, or the latent vector.
    pub fn kept_of_token(&self) -> u64 {
        let model = self.model;
        if model.kv_rank > 0 {
            return u64::from(model.kv_rank + model.rotary_size);
        }
        let kv_heads = u64::from(model.kv_heads_of_rank(self.tp));
        kv_heads * 2 * u64::from(model.head_size())
    }

    /// Returns the seconds in a layer's attention, projections included.
    pub fn attention(&self, load: &Load) -> f64 {
        let model = self.model;
        let tokens = load.tokens as f64;
        let [hidden, tp] = [model.hidden, self.tp].map(f64::from);
        let heads = f64::from(model.heads) / tp;
        let size = f64::from(model.head_size());
        // With latent attention, prompts expand the latent vectors of all tokens they see into keys
        // and values. A request that decodes transforms its queries and outputs instead.
        let made = (load.read_by_prompts + load.decoding) as f64;
        let matrices = model.projections(self.tp).into_iter();
        let projections: f64 = matrices
            .map(|(input, (k, n))| match input {
                Input::Tokens | Input::Whole => self.linear(tokens, k, n, 1.0),
                Input::Latent => self.linear(made, k, n, 1.0),
            })
            .sum();
        let output = self.linear(tokens, heads * size, hidden, 1.0);
        self.norm(tokens) + projections + self.scores(load) + output + self.residual(tokens)
    }

    /// Returns the seconds for scores, softmax and weighted sums, in one kernel for prompts and
    /// another one for requests that decode.
    fn scores(&self, load: &Load) -> f64 {
        let model = self.model;
        let heads = f64::from(model.heads) / f64::from(self.tp);
        let [size, score] = [model.head_size(), model.score_size()].map(f64::from);
        // With latent attention, heads that decode work on latent vectors directly.
        let decode = if model.kv_rank == 0 {
            score + size
        } else {
            f64::from(2 * model.kv_rank + model.rotary_size)
        };
        let kernel = |pairs: f64, tokens: u64, read: u64| {
            let queries = heads * tokens as f64 * (score + size) * ACTIVATION_BYTES;
            let read = read as f64 * (self.kept_of_token() * self.cached_bytes) as f64;
            let of_all = Cost::new(2.0 * heads * pairs, queries + read);
            self.accelerator.attention_seconds(of_all)
        };
        // Prompts are bound by computing and decoding by memory, so neither may hide behind the
        // other.
        let of_prompts = (load.tokens - load.decoding, load.read_by_prompts);
        let prompts = load.prompt_pairs as f64 * (score + size);
        let decoding = load.decode_pairs as f64 * decode;
        kernel(prompts, of_prompts.0, of_prompts.1)
            + kernel(decoding, load.decoding, load.read - load.read_by_prompts)
    }

    /// Returns the seconds in a feed-forward part `width` wide, for `tokens` dealt to `count` parts
    /// alike.
    fn feed_forward(&self, tokens: f64, width: f64, count: f64) -> f64 {
        let hidden = f64::from(self.model.hidden);
        let (into, of_element) = self.model.activation_entering(width);
        let activation = self.vector(tokens * width, of_element);
        let first = self.linear(tokens, hidden, into, count);
        first + activation + self.linear(tokens, width, hidden, count)
    }

    /// Returns the seconds in a feed-forward part without experts.
    pub fn dense(&self, tokens: u64) -> f64 {
        let width = f64::from(self.model.ffn) / f64::from(self.tp);
        let tokens = tokens as f64;
        self.norm(tokens) + self.feed_forward(tokens, width, 1.0) + self.residual(tokens)
    }

    /// Returns the seconds in the experts that every token passes.
    pub fn shared(&self, tokens: u64) -> f64 {
        let experts = f64::from(self.model.shared_experts);
        let width = experts * f64::from(self.model.expert_ffn()) / f64::from(self.tp);
        self.feed_forward(tokens as f64, width, 1.0)
    }

    /// Returns the seconds before the experts: normalisation and router.
    pub fn router(&self, tokens: u64) -> f64 {
        let [hidden, experts] = [self.model.hidden, self.model.experts].map(f64::from);
        let tokens = tokens as f64;
        self.norm(tokens) + self.linear(tokens, hidden, experts, 1.0)
    }

    /// Returns the seconds in the experts at a rank whose group has `tokens` tokens and which gets
    /// `load` times the even share. Weights are read only for experts that have a token, whose mean
    /// number follows from even routing.
    pub fn experts(&self, tokens: u64, load: f64) -> f64 {
        let model = self.model;
        let [experts, top_k] = [model.experts, model.top_k].map(f64::from);
        let sent = tokens as f64 * top_k / f64::from(self.ep) * load;
        // Probability that no token has chosen a given expert.
        let unmet = (1.0 - top_k / experts).powi(i32::try_from(tokens).unwrap_or(i32::MAX));
        let met = experts / f64::from(self.ep) * (1.0 - unmet);
        // Experts are cut by `tp` only if they are not spread over ranks.
        let width = f64::from(model.expert_ffn())
            / if self.ep == 1 {
                f64::from(self.tp)
            } else {
                1.0
            };
        self.feed_forward(sent, width, met)
    }

    /// Returns the seconds behind the experts: weighted sum over their outputs, and residual.
    pub fn behind_experts(&self, tokens: u64) -> f64 {
        let model = self.model;
        let sent = tokens as f64 * f64::from(model.top_k) * f64::from(model.hidden);
        self.vector(sent, OUTPUTS_OF_EXPERTS) + self.residual(tokens as f64)
    }

    /// Returns the seconds for the embedding, which copies matrix rows.
    pub fn embedding(&self, tokens: u64) -> f64 {
        self.vector(tokens as f64 * f64::from(self.model.hidden), EMBEDDING)
    }

    /// Returns the seconds for the output layer, and the search for its largest output.
    pub fn head(&self, outputs: u64) -> f64 {
        let hidden = f64::from(self.model.hidden);
        let entries = f64::from(self.model.vocabulary) / f64::from(self.tp);
        let outputs = outputs as f64;
        let logits = self.linear(outputs, hidden, entries, 1.0);
        self.norm(outputs) + logits + self.vector(outputs * entries, Cost::new(1.0, 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transformer::{NamedAccelerator, NamedModel};

    /// Operators with 16-bit numbers on `tp` tensor-parallel ranks.
    fn on_ranks<'a>(
        model: &'a ModelSpec,
        accelerator: &'a AcceleratorSpec,
        tp: u32,
    ) -> Operators<'a> {
        Operators {
            model,
            accelerator,
            tp,
            ep: 1,
            fp8: false,
            cached_bytes: 2,
        }
    }

    /// microsoft/vidur measured the linear layers of Llama-2-70B on H100 with eight tensor-parallel
    /// ranks: 13, 9, 43 and 22 µs for one token; 15, 11, 52 and 27 µs for 128.
    #[test]
    fn linear_layers_take_about_what_was_measured() {
        let model = NamedModel::Llama2Of70b.dimensions();
        let accelerator = NamedAccelerator::H100.figures();
        let of = on_ranks(&model, &accelerator, 8);
        for (tokens, measured, within) in [(1.0, 87e-6, 0.12), (128.0, 105e-6, 0.25)] {
            let widths = [(8192.0, 1024.0), (8192.0, 128.0), (8192.0, 128.0)];
            let others = [(1024.0, 8192.0), (8192.0, 7168.0), (3584.0, 8192.0)];
            let all = widths.iter().chain(&others);
            let sum: f64 = all.map(|&(k, n)| of.linear(tokens, k, n, 1.0)).sum();
            assert!((sum / measured - 1.0_f64).abs() < within, "{tokens}: {sum}");
        }
    }

    /// A prompt is bound by computing, and requests that decode are bound by memory: neither hides
    /// behind the other.
    #[test]
    fn prompts_and_requests_that_decode_have_a_roofline_each() {
        let model = NamedModel::Llama2Of70b.dimensions();
        let accelerator = NamedAccelerator::H100.figures();
        let of = on_ranks(&model, &accelerator, 8);
        let prompt = Load {
            tokens: 4096,
            read: 4096,
            read_by_prompts: 4096,
            prompt_pairs: 4096 * 4097 / 2,
            ..Load::default()
        };
        let decode = Load {
            tokens: 64,
            decoding: 64,
            read: 64 * 4096,
            decode_pairs: 64 * 4096,
            ..Load::default()
        };
        let both = Load {
            tokens: 4160,
            decoding: 64,
            read: 65 * 4096,
            decode_pairs: 64 * 4096,
            ..prompt
        };
        let [prompt, decode, both] = [prompt, decode, both].map(|load| of.scores(&load));
        assert!(
            (both / (prompt + decode) - 1.0).abs() < 1e-12,
            "{both} {prompt} {decode}"
        );
    }

    /// Of 256 experts, of which a token meets eight, 128 tokens meet 1 − (1 − 1/32)¹²⁸ = 98.3 %.
    #[test]
    fn weights_are_read_of_the_experts_that_have_a_token() {
        let model = NamedModel::DeepSeekV3.dimensions();
        let accelerator = NamedAccelerator::H100.figures();
        let of = Operators {
            ep: 8,
            fp8: true,
            ..on_ranks(&model, &accelerator, 1)
        };
        let [one, many] = [1, 128].map(|tokens| of.experts(tokens, 1.0));
        // A token meets one of the 32 experts of a rank, many meet all of them.
        assert!((20.0..45.0).contains(&(many / one)), "{many} {one}");
        let read = 32.0 * 3.0 * 7168.0 * 2048.0 * 0.983;
        assert!(many > read / 3.35e12, "{many}");
    }
}
