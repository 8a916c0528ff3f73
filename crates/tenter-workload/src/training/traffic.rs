//! Message sizes for one micro-batch.

use super::layout::Training;
use crate::transformer::ACTIVATION_BYTES;

/// Bytes per token that tensor-parallel ranks reduce for the loss: three sums of 4 bytes.
const LOSS: u64 = 12;

/// Message sizes for one micro-batch at a rank, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Activations between blocks, summed over all tensor-parallel ranks.
    pub activations: u64,
    /// Activations that a stage sends to the next one.
    pub between_stages: u64,
    /// Sums that tensor-parallel ranks reduce for the loss.
    pub losses: u64,
    /// Keys and values that a rank sends on in one ring step.
    pub ring_step: u64,
    /// Tokens that a rank sends to experts, to all ranks together.
    pub dispatch: u64,
    /// Results that come back from experts, from all ranks together.
    pub combine: u64,
}

impl Sizes {
    /// Computes the sizes for `training`.
    pub fn new(training: &Training) -> Sizes {
        let (spec, model) = (&training.spec, &training.model);
        let tokens = training.tokens();
        let [hidden, tp] = [model.hidden, spec.tp].map(u64::from);
        let activations = tokens * hidden * ACTIVATION_BYTES;
        let kv_heads = u64::from(model.kv_heads_of_rank(spec.tp));
        let widths = u64::from(model.score_size() + model.head_size());
        // With `sequence_parallel`, which experts require, each tensor-parallel rank has tokens of
        // its own.
        let sent = tokens / tp * u64::from(model.top_k);
        Sizes {
            activations,
            between_stages: if training.shares_activations() {
                activations / tp
            } else {
                activations
            },
            losses: tokens * LOSS,
            ring_step: tokens * kv_heads * widths * ACTIVATION_BYTES,
            dispatch: sent * spec.precision.activation_bytes(hidden),
            combine: sent * hidden * ACTIVATION_BYTES,
        }
    }
}
