//! Attention's matrices, and costs for element-wise operators: the parts that the forward passes of
//! training and inference share.
//!
//! Source for operations and bytes per element: Calculon (Isaev et al., 2023).

use std::ops::Mul;

use super::model::ModelSpec;

/// An operator's cost, or the cost for one element in an element-wise operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Floating-point operations; fractional where an average counts.
    pub flops: f64,
    /// Bytes read from and written to memory.
    pub bytes: f64,
}

impl Cost {
    /// The cost when nothing is done.
    pub const NONE: Cost = Cost::new(0.0, 0.0);

    /// Creates a cost from operations and bytes.
    pub const fn new(flops: f64, bytes: f64) -> Cost {
        Cost { flops, bytes }
    }
}

/// Scales the cost for one element to an element count.
impl Mul<Cost> for f64 {
    type Output = Cost;

    fn mul(self, of_one: Cost) -> Cost {
        Cost::new(self * of_one.flops, self * of_one.bytes)
    }
}

/// Cost for one element in a normalisation.
pub(crate) const NORM: Cost = Cost::new(9.0, 4.0);
/// Cost for one element when the residual stream is added to a block's output.
pub(crate) const RESIDUAL: Cost = Cost::new(1.0, 6.0);
/// Cost for one element in a gated feed-forward part's activation.
pub(crate) const GATED_ACTIVATION: Cost = Cost::new(9.0, 6.0);
/// Cost for one element in an activation without gate.
pub(crate) const ACTIVATION: Cost = Cost::new(8.0, 4.0);
/// Cost for one element in the weighted sum over experts' outputs.
pub(crate) const OUTPUTS_OF_EXPERTS: Cost = Cost::new(2.0, 2.0);
/// Cost for one element in an embedding lookup, which copies matrix rows and computes nothing.
pub(crate) const EMBEDDING: Cost = Cost::new(0.0, 4.0);

/// Left operand to an attention matrix, which decides how many rows the product has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Tokens that the rank computes.
    Tokens,
    /// The rank's tokens at a matrix that every tensor-parallel rank has whole.
    Whole,
    /// Latent vectors for all tokens that attention sees.
    Latent,
}

impl ModelSpec {
    /// Returns the key-value heads at one tensor-parallel rank, at least 1: with more ranks than
    /// heads, several ranks hold the same head.
    pub(crate) fn kv_heads_of_rank(&self, tp: u32) -> u32 {
        self.kv_heads().div_ceil(tp)
    }

    /// Returns the projections before attention's scores at one tensor-parallel rank: each operand,
    /// and the matrix's rows and columns.
    pub(crate) fn projections(&self, tp: u32) -> Vec<(Input, (f64, f64))> {
        let hidden = f64::from(self.hidden);
        let heads = f64::from(self.heads) / f64::from(tp);
        let [size, score] = [self.head_size(), self.score_size()].map(f64::from);
        // Multi-head or grouped-query attention: queries, keys and values straight from the tokens.
        if self.kv_rank == 0 {
            let kv_heads = f64::from(self.kv_heads_of_rank(tp));
            let [queries, keys] = [heads, kv_heads].map(|heads| heads * size);
            return [queries, keys, keys]
                .map(|to| (Input::Tokens, (hidden, to)))
                .into();
        }
        // Latent attention: low-rank down-projections, which every rank has whole, and
        // up-projections for the rank's own heads.
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
        // All heads share the rotary part of the keys, which is projected together with the latent
        // vector.
        matrices.push((Input::Whole, (hidden, latent + rotary)));
        // Keys and values are one product, hence twice the width.
        matrices.push((Input::Latent, (latent, heads * 2.0 * size)));
        matrices
    }

    /// Returns the width at which values enter the feed-forward activation, with the gate's part,
    /// and the cost for each element.
    pub(crate) fn activation_entering(&self, width: f64) -> (f64, Cost) {
        if self.gated {
            (2.0 * width, GATED_ACTIVATION)
        } else {
            (width, ACTIVATION)
        }
    }
}
