//! The bytes of what ranks send each other.

use super::layout::Training;
use crate::transformer::ACTIVATION_BYTES;

/// Bytes of the sums that the parts of the loss of a token are made of: three of four bytes.
const LOSS: u64 = 12;

/// Sizes for one micro-batch at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Activations between the parts of a layer, of all tensor-parallel ranks together.
    pub activations: u64,
    /// What a stage sends the next one.
    pub between_stages: u64,
    /// What tensor-parallel ranks sum for the loss.
    pub losses: u64,
    /// Keys and values that a rank of a ring sends on.
    pub ring_step: u64,
    /// Tokens on their way to experts, to all ranks together.
    pub dispatch: u64,
    /// What comes back.
    pub combine: u64,
}

impl Sizes {
    /// Those of a training.
    pub fn new(training: &Training) -> Sizes {
        let (spec, model) = (&training.spec, &training.model);
        let tokens = training.tokens();
        let [hidden, tp] = [model.hidden, spec.tp].map(u64::from);
        let activations = tokens * hidden * ACTIVATION_BYTES;
        let kv_heads = u64::from(model.kv_heads_of_rank(spec.tp));
        let widths = u64::from(model.score_size() + model.head_size());
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
