//! Message sizes for one iteration.

use super::layout::{Inference, Pool};
use super::load::Load;
use crate::transformer::ACTIVATION_BYTES;

/// Bytes that a rank contributes to a token's choice: its largest output, and that one's index.
const CHOICE: u64 = 8;
/// Bytes that carry a token's number.
pub(super) const TOKEN: u64 = 4;

/// Message sizes for one iteration over a batch, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Activations that tensor-parallel ranks reduce, and that pass between stages.
    pub activations: u64,
    /// Candidates that tensor-parallel ranks compare to choose the tokens in answers.
    pub choice: u64,
    /// Tokens that a rank sends to experts, to all ranks together.
    pub dispatch: u64,
    /// Results that come back from experts, from all ranks together.
    pub combine: u64,
}

impl Sizes {
    /// Computes the sizes for `load`. Exchanges with experts have a fixed size, that for `padded`
    /// tokens: the fullest batch that takes part.
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

/// Returns the bytes that a layer keeps for each token and key-value head. Latent attention keeps
/// one vector for all heads.
pub(super) fn kept_of_head(of: &Inference) -> u64 {
    let model = &of.model;
    let numbers = if model.kv_rank > 0 {
        model.kv_rank + model.rotary_size
    } else {
        2 * model.head_size()
    };
    u64::from(numbers) * of.spec.kv_precision.bytes()
}

/// Counts the key-value heads that are kept: 1 with latent attention.
pub(super) fn kept_heads(of: &Inference) -> u32 {
    if of.model.kv_rank > 0 {
        1
    } else {
        of.model.kv_heads()
    }
}
