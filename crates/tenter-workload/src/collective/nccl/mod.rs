//! Collectives as NCCL carries them out: a model chooses algorithm, protocol and channels by size.
//!
//! ```text
//!   NcclKeys + ranks ─▶ Communicator ── estimates ──▶ NcclChoice, the least time of the model
//!   NcclChoice ─────▶ ChannelRings or ChannelTrees, with the latencies of its steps
//! ```
//!
//! Origin: the tuning model in NVIDIA/nccl; [`constants`] has its numbers. The model chooses, and
//! gives steps their latencies. The time that the bytes of a step take is simulated.

mod algorithms;
mod constants;
mod keys;
mod model;
mod plan;
mod rings;
mod servers;
#[cfg(test)]
mod tests;
mod trees;

pub use algorithms::{NcclAlgorithm, NcclCollective};
pub use constants::{HostCpu, NpuGeneration};
pub use keys::NcclKeys;
pub(crate) use keys::nics_divide;
pub use model::NcclChoice;
pub(super) use plan::{MORE_OF_A_WAY, WIRE_TIMES, ideal, through_switch};
