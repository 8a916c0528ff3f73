//! The matrices of attention, and what elements cost between matrices: what the forward passes of
//! training and of inference have in common.
//!
//! Source of operations and bytes of an element: Calculon (Isaev et al., 2023).

use super::model::ModelSpec;

/// Operations and bytes of an element of an operator.
pub(crate) type OfElement = (f64, f64);

/// Normalisation.
pub(crate) const NORM: OfElement = (9.0, 4.0);
/// The sum with what went past a block.
pub(crate) const RESIDUAL: OfElement = (1.0, 6.0);
/// The activation of a gated feed-forward part.
pub(crate) const GATED_ACTIVATION: OfElement = (9.0, 6.0);
/// That of one without gates.
pub(crate) const ACTIVATION: OfElement = (8.0, 4.0);
/// The weighted sum of the outputs of experts.
pub(crate) const OUTPUTS_OF_EXPERTS: OfElement = (2.0, 2.0);
/// The embedding, which takes rows of a matrix.
pub(crate) const EMBEDDING: OfElement = (0.0, 4.0);

/// What a matrix of attention is multiplied with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// The tokens of the rank.
    Tokens,
    /// The same, at each tensor-parallel rank alike: the matrix is whole there.
    Whole,
    /// Latent vectors of the tokens that are seen.
    Latent,
}

impl ModelSpec {
    /// Heads of keys and values of a tensor-parallel rank: where there are fewer of them than
    /// ranks, several ranks have the same.
    pub(crate) fn kv_heads_of_rank(&self, tp: u32) -> u32 {
        self.kv_heads().div_ceil(tp)
    }

    /// The matrices before the scores of attention at a tensor-parallel rank, and their sizes.
    pub(crate) fn projections(&self, tp: u32) -> Vec<(Input, (f64, f64))> {
        let hidden = f64::from(self.hidden);
        let heads = f64::from(self.heads) / f64::from(tp);
        let [size, score] = [self.head_size(), self.score_size()].map(f64::from);
        if self.kv_rank == 0 {
            let kv_heads = f64::from(self.kv_heads_of_rank(tp));
            let [queries, keys] = [heads, kv_heads].map(|heads| heads * size);
            return [queries, keys, keys]
                .map(|to| (Input::Tokens, (hidden, to)))
                .into();
        }
        let [query, latent, rotary] =
            [self.query_rank, self.kv_rank, self.rotary_size].map(f64::from);
        let mut matrices = if self.query_rank == 0 {
            vec![(Input::Tokens, (hidden, heads * score))]
        } else {
            vec![
                (Input::Whole, (hidden, query)),
                (Input::Tokens, (query, heads * score)),
            ]
        };
        matrices.push((Input::Whole, (hidden, latent + rotary)));
        matrices.push((Input::Latent, (latent, heads * 2.0 * size)));
        matrices
    }

    /// The width of what comes into the activation of a feed-forward part, gates included, and the
    /// cost of an element of the activation.
    pub(crate) fn activation_entering(&self, width: f64) -> (f64, OfElement) {
        if self.gated {
            (2.0 * width, GATED_ACTIVATION)
        } else {
            (width, ACTIVATION)
        }
    }
}
