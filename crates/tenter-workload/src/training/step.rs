//! What is known of a step before it runs.

use super::layout::Training;
use super::memory::{self, Memory};
use crate::transformer::{AcceleratorSpec, Computed, Precision};

/// What is known of a step before it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingStep {
    /// Tokens.
    pub tokens: u64,
    /// Operations of the model, over all ranks: without what is computed again, with scores of
    /// whole sequences.
    pub model_flops: f64,
    /// Operations in a second that an accelerator has at most.
    pub peak_flops: f64,
    /// Ranks.
    pub ranks: u32,
    /// Seconds of computing, over all ranks.
    pub computed: Computed,
    /// Memory of the rank that needs most, in bytes.
    pub memory: Memory,
    /// Micro-batches of each pipeline.
    pub micro_batches: u32,
}

impl TrainingStep {
    /// Of a training whose ranks compute so much.
    pub(super) fn new(training: &Training, computed: Computed) -> TrainingStep {
        let tokens = training.tokens_of_step();
        let accelerator: &AcceleratorSpec = &training.accelerator;
        TrainingStep {
            tokens,
            model_flops: tokens as f64 * training.operators().model_flops_of_token(),
            peak_flops: accelerator.peak(training.spec.precision == Precision::Fp8),
            ranks: training.grid.ranks(),
            computed,
            memory: memory::of_largest_stage(training).1,
            micro_batches: training.pipeline.micro_batches,
        }
    }
}
