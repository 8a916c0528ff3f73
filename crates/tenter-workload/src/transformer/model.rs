//! Transformers by their dimensions, and public models by name.

use tenter_language::config::{Idle, Reader, WordOr, choice, component, default_with};

component! {
    /// A decoder-only transformer, by its dimensions.
    pub struct ModelSpec as "`jobs[].workload.model`", derive(Clone, Copy, Debug, PartialEq, Eq) {
        idle idle;
        /// Layers of the model, those with experts included.
        layers: u32, in 1..=10_000;
        /// Width of the residual stream.
        hidden: u32, in 1..=1_000_000;
        /// Attention heads of a layer.
        heads: u32, in 1..=10_000;
        /// Heads of keys and values; as many as `heads` without grouped queries.
        kv_heads: Option<u32> = absent "`heads`", in 1..=10_000;
        /// Width of an attention head.
        head_size: Option<u32> = absent "`hidden` / `heads`", in 1..=100_000;
        /// Width of the feed-forward part of layers without experts.
        ffn: u32, in 1..=10_000_000;
        /// `true` gives the feed-forward part three matrices (a gate, as in SwiGLU) and not two.
        gated: bool = "true";
        /// Number of tokens in the vocabulary.
        vocabulary: u32, in 1..=100_000_000;
        /// `true` ties embedding and output layer: one matrix for both.
        tied: bool = "false";
        /// Tokens of a training sequence.
        sequence: u32 = "4096", in 1..=100_000_000;
        /// Experts of a layer; 0 of a model without experts.
        experts: u32 = "0", in 0..=1_000_000;
        /// Experts that each token is sent to.
        top_k: u32 = "2", in 1..=1_000;
        /// Width of an expert's feed-forward part.
        expert_ffn: Option<u32> = absent "`ffn`", in 1..=10_000_000;
        /// Experts that every token passes, beside those it is sent to.
        shared_experts: u32 = "0", in 0..=1_000;
        /// Layers at the beginning that have no experts.
        dense_layers: u32 = "0", in 0..=10_000;
        /// Rank of the queries in multi-head latent attention; 0 without it.
        query_rank: u32 = "0", in 0..=1_000_000;
        /// Rank of keys and values in multi-head latent attention; 0 without it.
        kv_rank: u32 = "0", in 0..=1_000_000;
        /// Width that a head of latent attention has more for rotary positions.
        rotary_size: u32 = "0", in 0..=100_000;
        check holds;
    }
}

const OF_EXPERTS: [&str; 4] = ["top_k", "expert_ffn", "shared_experts", "dense_layers"];

/// Lists keys without effect: those for experts or latent attention in a model without them.
fn idle(model: &ModelSpec) -> Vec<Idle> {
    let mut idle = Vec::new();
    if model.experts == 0 {
        let remedy = "leave it out, or give `experts`";
        idle.extend(Idle::all(
            &OF_EXPERTS,
            "has no effect without experts",
            remedy,
        ));
    }
    if model.kv_rank == 0 {
        let remedy = "leave it out, or give `kv_rank`";
        let keys = ["query_rank", "rotary_size"];
        idle.extend(Idle::all(
            &keys,
            "has no effect without latent attention",
            remedy,
        ));
    }
    idle
}

/// Checks that heads divide the width, and that counts are within their totals.
fn holds(model: &ModelSpec, reader: &mut dyn Reader) -> bool {
    let (heads, hidden) = (model.heads, model.hidden);
    // Without a stated size the heads share the width evenly.
    if model.head_size.is_none() && !hidden.is_multiple_of(heads) {
        let what = format!("is {heads}, which does not divide `hidden` ({hidden})");
        reader.refuse("heads", &what, "give `head_size`, too");
        return false;
    }
    if !heads.is_multiple_of(model.kv_heads()) {
        let what = format!("is {}, which does not divide the heads", model.kv_heads());
        let remedy = format!("give a divisor of {heads}");
        reader.refuse("kv_heads", &what, &remedy);
        return false;
    }
    if model.experts > 0 && model.top_k > model.experts {
        let what = format!("is {}, and there are fewer experts", model.top_k);
        let remedy = format!("give at most {}", model.experts);
        reader.refuse("top_k", &what, &remedy);
        return false;
    }
    if model.dense_layers > model.layers {
        let what = format!("is {}, and there are fewer layers", model.dense_layers);
        let remedy = format!("give at most {}", model.layers);
        reader.refuse("dense_layers", &what, &remedy);
        return false;
    }
    true
}

impl ModelSpec {
    /// Returns the key-value head count.
    pub fn kv_heads(&self) -> u32 {
        self.kv_heads.unwrap_or(self.heads)
    }

    /// Returns a head's width for queries, keys and values.
    pub fn head_size(&self) -> u32 {
        self.head_size.unwrap_or(self.hidden / self.heads)
    }

    /// Returns the width at which a head's queries and keys are multiplied, rotary positions
    /// included.
    pub fn score_size(&self) -> u32 {
        self.head_size() + self.rotary_size
    }

    /// Returns the width inside an expert's feed-forward part.
    pub fn expert_ffn(&self) -> u32 {
        self.expert_ffn.unwrap_or(self.ffn)
    }

    /// Returns true if `layer`, counted from 0, has experts.
    pub fn has_experts(&self, layer: u32) -> bool {
        self.experts > 0 && layer >= self.dense_layers
    }

    /// Counts the matrices in a feed-forward part.
    pub fn matrices(&self) -> u64 {
        if self.gated { 3 } else { 2 }
    }

    /// Counts the weights in a layer's attention: queries and output, keys and values, or latent
    /// attention's projections (DeepSeek-V2, section 2.1).
    pub fn attention_weights(&self) -> u64 {
        self.attention_weights_at(1)
    }

    /// Counts the weights in latent attention's down-projections, which every tensor-parallel rank
    /// holds whole; 0 without latent attention.
    pub fn down_weights(&self) -> u64 {
        if self.kv_rank == 0 {
            return 0;
        }
        u64::from(self.hidden) * u64::from(self.query_rank + self.kv_rank + self.rotary_size)
    }

    /// Counts the weights that one rank among `tp` tensor-parallel ones holds for a layer's
    /// attention.
    pub fn attention_weights_at(&self, tp: u32) -> u64 {
        let hidden = u64::from(self.hidden);
        // With more ranks than key-value heads each rank still holds one.
        let [heads, kv_heads] = [self.heads, self.kv_heads()].map(|of| u64::from(of.div_ceil(tp)));
        let (size, score) = (u64::from(self.head_size()), u64::from(self.score_size()));
        let output = heads * size * hidden;
        if self.kv_rank == 0 {
            return hidden * heads * size + 2 * hidden * kv_heads * size + output;
        }
        let (query, latent) = (u64::from(self.query_rank), u64::from(self.kv_rank));
        let queries = if query == 0 {
            hidden * heads * score
        } else {
            query * heads * score
        };
        // The latent vector is projected up to keys and to values, hence twice a head's size.
        self.down_weights() + queries + latent * heads * 2 * size + output
    }

    /// Counts the weights in a feed-forward part without experts.
    pub fn dense_weights(&self) -> u64 {
        self.matrices() * u64::from(self.hidden) * u64::from(self.ffn)
    }

    /// Counts the weights in one expert.
    pub fn expert_weights(&self) -> u64 {
        self.matrices() * u64::from(self.hidden) * u64::from(self.expert_ffn())
    }

    /// Counts a layer's weights for its router and shared experts.
    pub fn shared_weights(&self) -> u64 {
        let router = u64::from(self.hidden) * u64::from(self.experts);
        router + u64::from(self.shared_experts) * self.expert_weights()
    }

    /// Counts the weights in a layer's two normalisations.
    pub fn norm_weights(&self) -> u64 {
        2 * u64::from(self.hidden)
    }

    /// Counts the weights in the embedding. The output layer has as many, which come on top unless
    /// the two are tied.
    pub fn vocabulary_weights(&self) -> u64 {
        u64::from(self.vocabulary) * u64::from(self.hidden)
    }

    /// Counts all weights in the model.
    pub fn weights(&self) -> u64 {
        let layers = (0..self.layers).map(|layer| self.layer_weights(layer));
        // A tied output layer uses the embedding's matrix.
        let ends = if self.tied { 1 } else { 2 };
        layers.sum::<u64>() + ends * self.vocabulary_weights()
    }

    /// Counts all weights in `layer`, with all its experts.
    pub fn layer_weights(&self, layer: u32) -> u64 {
        let feed_forward = if self.has_experts(layer) {
            self.shared_weights() + u64::from(self.experts) * self.expert_weights()
        } else {
            self.dense_weights()
        };
        self.attention_weights() + feed_forward + self.norm_weights()
    }

    /// Counts the weights in `layer` by which one token is multiplied: `top_k` experts, no norms.
    pub fn active_weights(&self, layer: u32) -> u64 {
        let feed_forward = if self.has_experts(layer) {
            self.shared_weights() + u64::from(self.top_k) * self.expert_weights()
        } else {
            self.dense_weights()
        };
        self.attention_weights() + feed_forward
    }
}

/// A public model by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedModel {
    /// Llama 2 (Meta, 2023) with 7 billion parameters.
    Llama2Of7b,
    /// Llama 2 (Meta, 2023) with 13 billion parameters.
    Llama2Of13b,
    /// Llama 2 (Meta, 2023) with 70 billion parameters.
    Llama2Of70b,
    /// Llama 3 (Meta, 2024) with 8 billion parameters.
    Llama3Of8b,
    /// Llama 3 (Meta, 2024) with 70 billion parameters.
    Llama3Of70b,
    /// Llama 3.1 (Meta, 2024) with 405 billion parameters.
    Llama3Of405b,
    /// GPT-3 (Brown et al., 2020) with 175 billion parameters.
    Gpt3,
    /// Mixtral 8x7B, 46.7 billion parameters in all.
    Mixtral8x7b,
    /// Mixtral 8x22B, 141 billion parameters in all.
    Mixtral8x22b,
    /// DeepSeek-V3, 671 billion parameters in all.
    DeepSeekV3,
}

choice!(NamedModel {
    "llama-2-7b" => Llama2Of7b,
    "llama-2-13b" => Llama2Of13b,
    "llama-2-70b" => Llama2Of70b,
    "llama-3-8b" => Llama3Of8b,
    "llama-3-70b" => Llama3Of70b,
    "llama-3-405b" => Llama3Of405b,
    "gpt-3-175b" => Gpt3,
    "mixtral-8x7b" => Mixtral8x7b,
    "mixtral-8x22b" => Mixtral8x22b,
    "deepseek-v3" => DeepSeekV3,
});

/// A model's keys with their values as text.
type Keys = &'static [(&'static str, &'static str)];

impl NamedModel {
    /// Names the documents from which the dimensions come.
    pub fn origin(self) -> &'static str {
        match self {
            NamedModel::Llama2Of7b | NamedModel::Llama2Of13b | NamedModel::Llama2Of70b => {
                "Llama 2: Open Foundation and Fine-Tuned Chat Models (Meta, 2023), and its published configuration"
            }
            NamedModel::Llama3Of8b | NamedModel::Llama3Of70b | NamedModel::Llama3Of405b => {
                "The Llama 3 Herd of Models (Meta, 2024), table 3; the vocabulary of 128,256 from its published configuration"
            }
            NamedModel::Gpt3 => {
                "Language Models are Few-Shot Learners (OpenAI, 2020), table 2.1; the vocabulary of 50,257 as Megatron-LM pads it"
            }
            NamedModel::Mixtral8x7b => {
                "Mixtral of Experts (Mistral AI, 2024), table 1, and its published configuration; the sequence is an assumption"
            }
            NamedModel::Mixtral8x22b => {
                "published configuration of Mixtral-8x22B-v0.1 (Mistral AI, 2024); the sequence is an assumption"
            }
            NamedModel::DeepSeekV3 => {
                "DeepSeek-V3 Technical Report (DeepSeek-AI, 2024), section 4.2, without multi-token prediction; `ffn` and vocabulary from its published configuration"
            }
        }
    }

    fn keys(self) -> Keys {
        match self {
            NamedModel::Llama2Of7b => &[
                ("layers", "32"),
                ("hidden", "4096"),
                ("heads", "32"),
                ("ffn", "11008"),
                ("vocabulary", "32000"),
            ],
            NamedModel::Llama2Of13b => &[
                ("layers", "40"),
                ("hidden", "5120"),
                ("heads", "40"),
                ("ffn", "13824"),
                ("vocabulary", "32000"),
            ],
            NamedModel::Llama2Of70b => &[
                ("layers", "80"),
                ("hidden", "8192"),
                ("heads", "64"),
                ("kv_heads", "8"),
                ("ffn", "28672"),
                ("vocabulary", "32000"),
            ],
            NamedModel::Llama3Of8b => &[
                ("layers", "32"),
                ("hidden", "4096"),
                ("heads", "32"),
                ("kv_heads", "8"),
                ("ffn", "14336"),
                ("vocabulary", "128256"),
                ("sequence", "8192"),
            ],
            NamedModel::Llama3Of70b => &[
                ("layers", "80"),
                ("hidden", "8192"),
                ("heads", "64"),
                ("kv_heads", "8"),
                ("ffn", "28672"),
                ("vocabulary", "128256"),
                ("sequence", "8192"),
            ],
            NamedModel::Llama3Of405b => &[
                ("layers", "126"),
                ("hidden", "16384"),
                ("heads", "128"),
                ("kv_heads", "8"),
                ("ffn", "53248"),
                ("vocabulary", "128256"),
                ("sequence", "8192"),
            ],
            _ => self.other_keys(),
        }
    }

    /// The remaining models, split off to keep functions short; GPT-3 is the last.
    fn other_keys(self) -> Keys {
        match self {
            NamedModel::Mixtral8x7b => &[
                ("layers", "32"),
                ("hidden", "4096"),
                ("heads", "32"),
                ("kv_heads", "8"),
                ("ffn", "14336"),
                ("vocabulary", "32000"),
                ("experts", "8"),
            ],
            NamedModel::Mixtral8x22b => &[
                ("layers", "56"),
                ("hidden", "6144"),
                ("heads", "48"),
                ("kv_heads", "8"),
                ("ffn", "16384"),
                ("vocabulary", "32768"),
                ("experts", "8"),
            ],
            NamedModel::DeepSeekV3 => &[
                ("layers", "61"),
                ("hidden", "7168"),
                ("heads", "128"),
                ("head_size", "128"),
                ("ffn", "18432"),
                ("vocabulary", "129280"),
                ("experts", "256"),
                ("top_k", "8"),
                ("expert_ffn", "2048"),
                ("shared_experts", "1"),
                ("dense_layers", "3"),
                ("query_rank", "1536"),
                ("kv_rank", "512"),
                ("rotary_size", "64"),
            ],
            _ => &[
                ("layers", "96"),
                ("hidden", "12288"),
                ("heads", "96"),
                ("ffn", "49152"),
                ("gated", "false"),
                ("vocabulary", "51200"),
                ("tied", "true"),
                ("sequence", "2048"),
            ],
        }
    }

    /// Returns the model's published dimensions as a specification.
    pub fn dimensions(self) -> ModelSpec {
        default_with(self.keys())
    }
}

/// A model by its name, or by its dimensions.
pub type Model = WordOr<NamedModel, ModelSpec>;

/// Returns the model's dimensions, looked up if it has a name.
pub(crate) fn dimensions(model: &Model) -> ModelSpec {
    match model {
        WordOr::Word(named) => named.dimensions(),
        WordOr::Mapping(own) => *own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_language::config::Words;

    /// Parameters in billions as the sources state them: 6.7, 13.0, 69 (Llama 2), 8.0, 70.6 and
    /// 405.9 (Llama 3), 175 (GPT-3), 46.7 and 141 (Mixtral), 671 (DeepSeek-V3).
    #[test]
    fn named_models_have_the_parameters_of_their_sources() {
        let stated = [
            6.74, 13.0, 69.0, 8.03, 70.6, 405.9, 174.6, 46.7, 140.6, 671.0,
        ];
        for (&model, stated) in NamedModel::ALL.iter().zip(stated) {
            let billions = model.dimensions().weights() as f64 / 1e9;
            let off = (billions / stated - 1.0).abs();
            assert!(off < 0.005, "{}: {billions} billion", model.word());
            assert!(!model.origin().is_empty());
        }
    }

    /// 37 billion of DeepSeek-V3 and 12.9 of Mixtral 8x7B are active for a token, embeddings
    /// included.
    #[test]
    fn active_weights_are_those_of_the_sources() {
        for (model, stated) in [
            (NamedModel::DeepSeekV3, 37.0),
            (NamedModel::Mixtral8x7b, 12.9),
        ] {
            let own = model.dimensions();
            let layers = (0..own.layers).map(|layer| own.active_weights(layer));
            let all = layers.sum::<u64>() + 2 * own.vocabulary_weights();
            let off = (all as f64 / 1e9 / stated - 1.0).abs();
            assert!(off < 0.02, "{}: {all}", model.word());
        }
    }
}
