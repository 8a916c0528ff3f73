//! The algorithms of NCCL, and the collectives for which it has them here.

use tenter_config::choice;

/// An algorithm of NCCL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NcclAlgorithm {
    /// Rings through all ranks, one for each channel.
    Ring,
    /// Chains within nodes, and binary trees across them.
    Tree,
    /// The switch of the scale-up domain adds and copies (`NVLink` SHARP).
    Nvls,
    /// NVLS within nodes, and binary trees across them.
    NvlsTree,
}

choice!(NcclAlgorithm {
    "ring" => Ring,
    "tree" => Tree,
    "nvls" => Nvls,
    "nvls-tree" => NvlsTree,
});

/// A collective for which NCCL has a model here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NcclCollective {
    /// All-reduce.
    AllReduce,
    /// All-gather.
    AllGather,
    /// Reduce-scatter.
    ReduceScatter,
}
