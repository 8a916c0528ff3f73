//! Collectives as NCCL carries them out: its choice of algorithm, protocol and channels by size.
//!
//! ```text
//!   NcclKeys + ranks ─▶ Communicator ── estimates ──▶ NcclChoice, the least time of the model
//!   NcclChoice ─────▶ ChannelRings or ChannelTrees, with the latencies of its steps
//! ```
//!
//! Origin: the tuning model of NVIDIA/nccl; [`constants`] has its numbers. The model chooses, and
//! gives steps their latencies; what their bytes take is simulated.

mod all_gather;
mod all_reduce;
mod constants;
mod keys;
mod model;
mod plan;
mod reduce_scatter;
mod rings;
mod servers;
#[cfg(test)]
mod tests;
mod trees;

pub use all_gather::AllGatherNccl;
pub use all_reduce::AllReduceNccl;
pub use constants::{HostCpu, NpuGeneration};
pub use keys::NcclKeys;
pub use model::{NcclAlgorithm, NcclChoice, NcclCollective};
pub use reduce_scatter::ReduceScatterNccl;
