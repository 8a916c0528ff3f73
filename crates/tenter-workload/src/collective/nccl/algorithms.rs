//! Algorithms of NCCL, and the collectives that its model covers here.

use tenter_language::config::choice;

/// An algorithm that NCCL chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NcclAlgorithm {
    /// Rings through all ranks, one per channel.
    Ring,
    /// Chains within nodes, binary trees across them.
    Tree,
    /// The switch of the scale-up domain adds and copies (`NVLink` SHARP).
    Nvls,
    /// NVLS within nodes, binary trees across them.
    NvlsTree,
}

choice!(NcclAlgorithm {
    "ring" => Ring,
    "tree" => Tree,
    "nvls" => Nvls,
    "nvls-tree" => NvlsTree,
});

/// A collective for which NCCL's model is implemented here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NcclCollective {
    /// All-reduce, the only one that also has trees and NVLS.
    AllReduce,
    /// All-gather, by rings in all protocols.
    AllGather,
    /// Reduce-scatter, by rings in all protocols.
    ReduceScatter,
}
