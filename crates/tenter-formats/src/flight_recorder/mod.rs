//! Dumps of the flight recorder of `PyTorch`, as JSON: the last calls of a rank, in a ring.
//!
//! Source: `torch/csrc/distributed/c10d/FlightRecorder.hpp` and `FlightRecorderDetail.hpp` of
//! pytorch/pytorch, versions 2.0 to 2.10 of the dump.

mod entries;
mod read;
#[cfg(test)]
mod tests;

pub use read::read;
