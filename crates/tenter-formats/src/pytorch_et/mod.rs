//! Reader for `PyTorch`'s execution traces of the host: nodes of each rank as JSON.
//!
//! The observer writes the calls of the CPU without times, and no kernels. A node
//! `record_param_comms` describes a collective: newer versions by attributes, older ones by the
//! places of inputs.
//!
//! Source: `torch/csrc/profiler/standalone/execution_trace_observer.cpp` and
//! `torch/csrc/distributed/c10d/ParamCommsUtils.hpp` of pytorch/pytorch.

mod nodes;
mod read;
#[cfg(test)]
mod tests;

pub use read::read;
