//! Workloads of `SimAI`, AICB and ASTRA-sim 1: a line for each layer of a model.
//!
//! ```text
//!   text ─ Workload: groups and layers ─▶ the same operations of every rank ─▶ graph
//! ```
//!
//! Source: `Workload.cc` of aliyun/SimAI and the writers of aliyun/aicb.

mod layers;
mod ranks;
#[cfg(test)]
mod tests;

pub use ranks::read;
