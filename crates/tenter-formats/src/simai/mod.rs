//! Reader for workloads of `SimAI`, AICB and ASTRA-sim 1, which have a line for each model layer.
//!
//! ```text
//!   text ─ Workload: groups and layers ─▶ the same operations for every rank ─▶ graph
//! ```
//!
//! Source: `Workload.cc` in aliyun/SimAI and the writers in aliyun/aicb.

mod layers;
mod ranks;
#[cfg(test)]
mod tests;

pub use ranks::read;
