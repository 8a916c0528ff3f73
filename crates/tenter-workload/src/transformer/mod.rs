//! Transformers on accelerators: the parts that training and inference share.
//!
//! ```text
//!   ModelSpec, AcceleratorSpec ─ dimensions, rates ─▶ operators of training and of inference
//!   Grid ─ ranks by dimensions ─▶ groups
//!   Program ─ computing, collectives, messages of a rank ─▶ a rank of a graph
//! ```

mod accelerator;
mod error;
mod exchange;
mod model;
mod parallelism;
mod precision;
mod program;
mod shapes;
mod skew;
#[cfg(test)]
mod small_model;
mod streams;

pub use accelerator::{
    Accelerator, AcceleratorSpec, EfficiencyStep, Flops, NamedAccelerator, Roofline,
};
pub use error::Unfit;
pub use exchange::{ExchangeAlgorithm, ExpertExchange};
pub use model::{Model, ModelSpec, NamedModel};
pub use parallelism::{Dimension, Grid, Place, RankOrder};
pub use precision::Precision;
pub use program::Computed;
pub use skew::Skew;
pub use streams::{Parallelism, Stream};

pub(crate) use accelerator::figures;
pub(crate) use error::{Checked, cannot_run, divides, near, wrong};
pub(crate) use model::dimensions;
pub(crate) use parallelism::{check_kv_heads, expert_group, expert_replicas};
pub(crate) use precision::ACTIVATION_BYTES;
pub(crate) use program::{Communicator, Communicators, Program, Purpose};
pub use shapes::Cost;
pub(crate) use shapes::{EMBEDDING, Input, NORM, OUTPUTS_OF_EXPERTS, RESIDUAL};
pub(crate) use skew::all_to_all;
#[cfg(test)]
pub(crate) use small_model::small_model;
