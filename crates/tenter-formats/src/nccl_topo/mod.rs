//! Reader for NCCL's topology files (`NCCL_TOPO_FILE`, `NCCL_TOPO_DUMP_FILE`) as a scenario's
//! `endpoint`: GPUs, NICs, and the links between them in a server.
//!
//! Source: `src/graph/xml.cc` and `src/graph/topo.h` in NVIDIA/nccl.

mod devices;
mod nvlink;
mod read;
#[cfg(test)]
mod tests;

pub use read::read;
