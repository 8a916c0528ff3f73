//! Reader for `PyTorch`'s host execution traces: each rank's nodes as JSON.
//!
//! The observer writes the CPU's calls without times, and no kernels. A node `record_param_comms`
//! describes a collective: newer versions by attributes, older ones by input places.
//!
//! Source: `torch/csrc/profiler/standalone/execution_trace_observer.cpp` and
//! `torch/csrc/distributed/c10d/ParamCommsUtils.hpp` in pytorch/pytorch.

mod nodes;
mod read;
#[cfg(test)]
mod tests;

pub use read::read;
