//! Execution traces of `PyTorch` on the host: the nodes of a rank as JSON, perhaps compressed.
//!
//! The observer writes what the CPU has called, without times; kernels are not in it. The
//! node `record_param_comms` says what a collective is: in newer versions by its attributes, in
//! older ones by the places of its inputs.
//!
//! Source: `torch/csrc/profiler/standalone/execution_trace_observer.cpp` and
//! `torch/csrc/distributed/c10d/ParamCommsUtils.hpp` of pytorch/pytorch.

mod nodes;
mod read;
#[cfg(test)]
mod tests;

pub use read::read;
