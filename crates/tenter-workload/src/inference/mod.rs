//! Inference: turns requests, a model's dimensions and its parallelism into a graph of operations.
//!
//! ```text
//!   InferenceSpec ─ numbers that fit together ─▶ Inference ─┬─▶ requests:  arrivals, tokens
//!                                                           ├─▶ operators: seconds by a roofline
//!                                                           ├─▶ sizes:     bytes of each message
//!                                                           └─▶ memory:    bytes of each rank
//!   Inference ─ batches ─▶ iterations of each replica ─ graph ─▶ Graph, and InferenceRun
//! ```
//!
//! The work that a rank does in an iteration is described once, in `pass`. The scheduler's clock
//! adds up its time, and the generator makes a graph of it.

mod batches;
mod cache;
mod clock;
mod count;
mod emitter;
mod generate;
mod layout;
mod load;
mod memory;
mod operators;
mod pass;
mod requests;
mod run;
mod sizes;
mod spec;
#[cfg(test)]
mod tests;

pub use batches::{Batches, Engine, Iteration, Served, Span};
pub use cache::{CacheTransfer, transfers};
pub use generate::graph;
pub use layout::{Inference, Pool, Reach, Role};
pub use load::{Load, Phase, Work};
pub use memory::Memory;
pub use operators::Operators;
pub use requests::{
    Arrival, Request, RequestRate, RequestsSpec, TokenCounts, TokenPoint, TokenPoints, TokenRange,
    TokensBy,
};
pub use run::{At, InferenceRun, PoolRun, RequestRun};
pub use sizes::Sizes;
pub use spec::{InferenceSpec, PoolSpec, PoolsSpec};
