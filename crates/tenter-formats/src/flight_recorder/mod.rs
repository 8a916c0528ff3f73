//! Reader for JSON dumps from `PyTorch`'s flight recorder: a ring with a rank's last calls.
//!
//! Source: `torch/csrc/distributed/c10d/FlightRecorder.hpp` and `FlightRecorderDetail.hpp` in
//! pytorch/pytorch, for dump versions 2.0 to 2.10.

mod entries;
mod read;
#[cfg(test)]
mod tests;

pub use read::read;
