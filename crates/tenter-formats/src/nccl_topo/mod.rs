//! Reader for topology files of NCCL (`NCCL_TOPO_FILE`, `NCCL_TOPO_DUMP_FILE`) as the `endpoint` of
//! a scenario: GPUs, NICs, and the links between them in a server.
//!
//! Source: `src/graph/xml.cc` and `src/graph/topo.h` in NVIDIA/nccl.

mod devices;
mod nvlink;
mod read;
#[cfg(test)]
mod tests;

pub use read::read;
