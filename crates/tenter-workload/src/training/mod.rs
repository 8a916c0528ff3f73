//! Training: turns a model's dimensions and its parallelism into a graph of operations.
//!
//! ```text
//!   TrainingSpec ─ numbers that fit together ─▶ Training ─┬─▶ operators: seconds by a roofline
//!                                                         ├─▶ schedule:  passes of each stage
//!                                                         ├─▶ traffic:   bytes of each message
//!                                                         └─▶ memory:    bytes of each rank
//!   Training ───────────────── step ─────────────────────▶ Graph of one step, and TrainingStep
//! ```
//!
//! A stream tells what its operations are for, since each communicator that a rank belongs to has
//! its own stream ([`Stream`]).

mod blocks;
mod data_parallel;
mod generate;
mod groups;
mod layout;
mod memory;
mod operators;
mod schedule;
mod spec;
mod step;
#[cfg(test)]
mod tests;
mod traffic;

pub use generate::step;
pub use layout::Training;
pub use memory::Memory;
pub use operators::{Block, BlockKind, Operators, Passes};
pub use schedule::{Pass, Pipeline, PipelineSchedule, Slot};
pub use spec::{GradientPrecision, Overlap, Recompute, Sharding, TrainingSpec};
pub use step::TrainingStep;
pub use traffic::Sizes;

pub use crate::transformer::{
    Accelerator, AcceleratorSpec, Computed, Dimension, EfficiencyStep, Flops, Grid, Model,
    ModelSpec, NamedAccelerator, NamedModel, Parallelism, Place, Precision, RankOrder, Roofline,
    Skew, Stream, Unfit,
};
