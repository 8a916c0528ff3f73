//! Execution traces of `PyTorch` on the host: the nodes of a rank as JSON, perhaps compressed.
//!
//! The observer writes what the processor has called, without times; kernels are not in it. What a
//! collective is says the node `record_param_comms`: newer versions in its attributes, older ones in
//! the places of its inputs.
//!
//! Source: `torch/csrc/profiler/standalone/execution_trace_observer.cpp` and
//! `torch/csrc/distributed/c10d/ParamCommsUtils.hpp` of pytorch/pytorch.

mod nodes;
mod read;
#[cfg(test)]
mod tests;

pub use read::read;
