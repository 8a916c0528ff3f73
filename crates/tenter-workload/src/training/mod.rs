//! The training of a model: from its dimensions and its parallelism to a graph of operations.
//!
//! ```text
//!   TrainingSpec ─ numbers that fit together ─▶ Training ─┬─▶ operators: seconds by a roofline
//!                                                         ├─▶ schedule:  passes of each stage
//!                                                         ├─▶ traffic:   bytes of each message
//!                                                         └─▶ memory:    bytes of each rank
//!   Training ───────────────── step ─────────────────────▶ Graph of one step, and TrainingStep
//! ```
//!
//! Operations know what they are for by their stream: each communicator of a rank has one
//! ([`Stream`]).

mod accelerator;
mod blocks;
mod data_parallel;
mod error;
mod generate;
mod groups;
mod layout;
mod memory;
mod model;
mod operators;
mod parallelism;
mod program;
mod schedule;
mod skew;
mod spec;
mod step;
mod streams;
#[cfg(test)]
mod tests;
mod traffic;

pub use accelerator::{
    Accelerator, AcceleratorSpec, EfficiencyStep, Flops, NamedAccelerator, Roofline,
};
pub use error::TrainingError;
pub use generate::step;
pub use layout::Training;
pub use memory::Memory;
pub use model::{Model, ModelSpec, NamedModel};
pub use operators::{Block, BlockKind, Operators, Passes};
pub use parallelism::{Dimension, Grid, Place, RankOrder};
pub use program::Computed;
pub use schedule::{Pass, Pipeline, PipelineSchedule, Slot};
pub use skew::Skew;
pub use spec::{GradientPrecision, Overlap, Precision, Recompute, Sharding, TrainingSpec};
pub use step::TrainingStep;
pub use streams::{Parallelism, Stream};
pub use traffic::Sizes;
