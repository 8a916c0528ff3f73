//! The bytes of what ranks send each other.

use super::layout::{Inference, Pool};
use super::load::Load;
use crate::transformer::ACTIVATION_BYTES;

/// The largest output of a rank for a token, and its number.
const CHOICE: u64 = 8;
/// A token by its number.
pub(super) const TOKEN: u64 = 4;

/// Sizes for an iteration over a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Activations between the parts of a layer, and between stages.
    pub activations: u64,
    /// What tensor-parallel ranks compare to choose the tokens of answers.
    pub choice: u64,
    /// Tokens of a rank on their way to experts, to all ranks together.
    pub dispatch: u64,
    /// What comes back.
    pub combine: u64,
}

impl Sizes {
    /// Those of a batch, beside others of which one has `padded` tokens.
    pub fn new(of: &Inference, pool: &Pool, load: Load, padded: u64) -> Sizes {
        let hidden = u64::from(of.model.hidden);
        let sent = padded * u64::from(of.model.top_k);
        let tp = u64::from(pool.grid.size.tp);
        let of_token = of.spec.precision.activation_bytes(hidden);
        Sizes {
            activations: load.tokens * hidden * ACTIVATION_BYTES,
            choice: load.outputs * CHOICE,
            dispatch: sent * of_token / tp,
            combine: sent * hidden * ACTIVATION_BYTES / tp,
        }
    }
}

/// Bytes that a layer keeps of a token, for each head of keys and values; latent attention has one
/// for all heads.
pub(super) fn kept_of_head(of: &Inference) -> u64 {
    let model = &of.model;
    let numbers = if model.kv_rank > 0 {
        model.kv_rank + model.rotary_size
    } else {
        2 * model.head_size()
    };
    u64::from(numbers) * of.spec.kv_precision.bytes()
}

/// Heads of keys and values; one with latent attention.
pub(super) fn kept_heads(of: &Inference) -> u32 {
    if of.model.kv_rank > 0 {
        1
    } else {
        of.model.kv_heads()
    }
}
