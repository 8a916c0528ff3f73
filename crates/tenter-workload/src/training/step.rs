//! Facts about a training step that are known before it runs.

use super::layout::Training;
use super::memory::{self, Memory};
use crate::transformer::{AcceleratorSpec, Computed, Precision};

/// Facts about a training step that are known before it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingStep {
    /// Tokens in the step, over all ranks.
    pub tokens: u64,
    /// Floating-point operations over all ranks by the model's formula: nothing recomputed, and
    /// attention scores over whole sequences, masked or not.
    pub model_flops: f64,
    /// One accelerator's peak rate, in operations per second.
    pub peak_flops: f64,
    /// Number of ranks in the job.
    pub ranks: u32,
    /// Computing time by purpose, in seconds summed over all ranks.
    pub computed: Computed,
    /// Memory in bytes at the rank that needs most.
    pub memory: Memory,
    /// Micro-batches in each pipeline per step.
    pub micro_batches: u32,
}

impl TrainingStep {
    /// Collects the facts about `training`, whose graph computes for `computed`.
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
