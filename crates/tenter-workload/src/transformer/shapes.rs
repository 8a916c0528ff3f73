//! The matrices of attention, and what elements cost between matrices: what the forward passes of
//! training and of inference have in common.
//!
//! Source of operations and bytes of an element: Calculon (Isaev et al., 2023).

use std::ops::Mul;

use super::model::ModelSpec;

/// What an operator does, or one of its elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Operations.
    pub flops: f64,
    /// Bytes that it moves.
    pub bytes: f64,
}

impl Cost {
    /// Costs nothing.
    pub const NONE: Cost = Cost::new(0.0, 0.0);

    /// These operations and bytes.
    pub const fn new(flops: f64, bytes: f64) -> Cost {
        Cost { flops, bytes }
    }
}

/// That of a number of elements.
impl Mul<Cost> for f64 {
    type Output = Cost;

    fn mul(self, of_one: Cost) -> Cost {
        Cost::new(self * of_one.flops, self * of_one.bytes)
    }
}

/// Normalisation.
pub(crate) const NORM: Cost = Cost::new(9.0, 4.0);
/// The sum with what went past a block.
pub(crate) const RESIDUAL: Cost = Cost::new(1.0, 6.0);
/// The activation of a gated feed-forward part.
pub(crate) const GATED_ACTIVATION: Cost = Cost::new(9.0, 6.0);
/// That of one without gates.
pub(crate) const ACTIVATION: Cost = Cost::new(8.0, 4.0);
/// The weighted sum of the outputs of experts.
pub(crate) const OUTPUTS_OF_EXPERTS: Cost = Cost::new(2.0, 2.0);
/// The embedding, which takes rows of a matrix.
pub(crate) const EMBEDDING: Cost = Cost::new(0.0, 4.0);

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
    pub(crate) fn activation_entering(&self, width: f64) -> (f64, Cost) {
        if self.gated {
            (2.0 * width, GATED_ACTIVATION)
        } else {
            (width, ACTIVATION)
        }
    }
}
