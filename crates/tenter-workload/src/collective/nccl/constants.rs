//! Constants of NCCL's tuning model.
//!
//! Origin, unless a constant says otherwise: NVIDIA/nccl 5067397 (2026-06-11),
//! `src/graph/tuning.cc`. Latencies are in µs, bandwidths in GB/s (10⁹).

use tenter_language::config::choice;

use super::algorithms::NcclAlgorithm;
use crate::collective::WireProtocol;

/// Generation of a server's GPUs: the compute capability by which NCCL looks up its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NpuGeneration {
    /// Compute capability 8.0, such as A100.
    Ampere,
    /// Compute capability 9.0, such as H100 and H200.
    Hopper,
    /// Compute capability 10.0, such as B200.
    Blackwell,
}

choice!(NpuGeneration {
    "ampere" => Ampere,
    "hopper" => Hopper,
    "blackwell" => Blackwell,
});

/// Vendor of a server's processors; NCCL's costs of network steps and its LL limits depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostCpu {
    /// Intel processors: posting takes 1 µs.
    Intel,
    /// AMD processors: posting takes 2 µs.
    Amd,
}

choice!(HostCpu {
    "intel" => Intel,
    "amd" => Amd,
});

/// Values for LL, LL128 and Simple.
type ByProtocol = [f64; 3];

/// Values for one node, two nodes, and more.
type ByNodes = [f64; 3];

/// Returns the index for a protocol's values.
const fn place(protocol: WireProtocol) -> usize {
    match protocol {
        WireProtocol::Ll => 0,
        WireProtocol::Ll128 => 1,
        WireProtocol::Simple => 2,
    }
}

/// Returns the latency that passes once per collective.
pub(super) fn base_latency(algorithm: NcclAlgorithm, protocol: WireProtocol) -> f64 {
    let of: ByProtocol = match algorithm {
        NcclAlgorithm::Tree => [6.8, 14.0, 8.4],
        NcclAlgorithm::Ring => [6.6, 14.0, 8.4],
        NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree => [0.0; 3],
    };
    of[place(protocol)]
}

/// Returns the latency of a step over `NVLink`; for NVLS, to the switch and back.
pub(super) fn scale_up_latency(algorithm: NcclAlgorithm, protocol: WireProtocol) -> f64 {
    let of: ByProtocol = match algorithm {
        NcclAlgorithm::Tree => [0.6, 1.25, 4.0],
        NcclAlgorithm::Ring => [0.6, 1.9, 3.4],
        NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree => [25.0; 3],
    };
    of[place(protocol)]
}

/// Returns the latency for a step over the network.
pub(super) fn network_latency(algorithm: NcclAlgorithm, protocol: WireProtocol) -> f64 {
    let of: ByProtocol = match algorithm {
        NcclAlgorithm::Tree => [5.0, 8.5, 14.0],
        NcclAlgorithm::Ring => [2.7, 4.0, 14.0],
        NcclAlgorithm::Nvls => [18.0; 3],
        NcclAlgorithm::NvlsTree => [20.9; 3],
    };
    of[place(protocol)]
}

/// Returns the cost of posting a network step in a ring across nodes; three times as much with
/// Simple.
pub(super) fn post_latency(cpu: HostCpu, protocol: WireProtocol) -> f64 {
    let once = match cpu {
        HostCpu::Intel => 1.0,
        HostCpu::Amd => 2.0,
    };
    match protocol {
        WireProtocol::Simple => 3.0 * once,
        WireProtocol::Ll | WireProtocol::Ll128 => once,
    }
}

/// Returns the factor on the latency of a Simple ring across nodes.
pub(super) fn ring_plateau(generation: NpuGeneration) -> f64 {
    match generation {
        // The model has 1.9 for generations before Ampere, which do not exist here.
        NpuGeneration::Ampere | NpuGeneration::Hopper | NpuGeneration::Blackwell => 1.4,
    }
}

/// Least bytes per channel and rank from which [`ring_plateau`] applies.
pub(super) const RING_PLATEAU_BYTES: u64 = 64;

/// Returns the channel count on one node over `NVLink`, and each channel's bandwidth.
///
/// Origin: as many channels with 20, 30 and 40 GB/s as [`scale_up_bandwidth`] has room for. The
/// channels that NCCL's search would find are assumed.
pub(super) const fn scale_up_channels(generation: NpuGeneration) -> (u32, f64) {
    match generation {
        NpuGeneration::Ampere => (12, 20.0),
        NpuGeneration::Hopper => (12, 30.0),
        NpuGeneration::Blackwell => (18, 40.0),
    }
}

/// Returns the bandwidth of a GPU's links in each direction.
///
/// Origin: 12, 18 and 18 links with 20.0, 20.6 and 40.1 GB/s (`src/graph/topo.h`).
pub(super) const fn scale_up_bandwidth(generation: NpuGeneration) -> f64 {
    match generation {
        NpuGeneration::Ampere => 240.0,
        NpuGeneration::Hopper => 370.8,
        NpuGeneration::Blackwell => 721.8,
    }
}

/// Returns true if the search gives each channel across nodes a twin and halves the bandwidth of
/// both. Limits per channel then count twice.
///
/// The search does so from 25 GB/s on; after Ampere, with more than four channels, from 50 GB/s on.
///
/// Origin: NVIDIA/nccl, `src/graph/search.cc`.
pub(super) fn has_twice_the_channels(generation: NpuGeneration, channels: f64, each: f64) -> bool {
    let least = match generation {
        NpuGeneration::Hopper | NpuGeneration::Blackwell if channels > 4.0 => 50.0,
        _ => 25.0,
    };
    each >= least
}

/// Returns the upper limit for LL on all channels together.
pub(super) fn ll_most(generation: NpuGeneration, cpu: HostCpu, nodes: u32) -> f64 {
    if nodes == 1 {
        return match generation {
            NpuGeneration::Ampere => 87.7,
            NpuGeneration::Hopper => 141.0,
            NpuGeneration::Blackwell => 282.0,
        };
    }
    match (cpu, nodes) {
        (HostCpu::Amd, 2) => 22.5,
        (HostCpu::Amd, _) => 19.0,
        (HostCpu::Intel, 2) => 39.0,
        (HostCpu::Intel, _) => 20.4,
    }
}

/// Returns the upper limit for one channel in an LL128 ring.
pub(super) const fn ring_ll128_most(generation: NpuGeneration) -> f64 {
    match generation {
        NpuGeneration::Ampere => 20.0,
        NpuGeneration::Hopper => 36.7,
        NpuGeneration::Blackwell => 40.0,
    }
}

/// Returns the upper limit for one channel in a tree.
pub(super) const fn tree_most(generation: NpuGeneration, nodes: u32) -> f64 {
    by_nodes(
        nodes,
        match generation {
            NpuGeneration::Ampere => [24.0, 23.6, 17.8],
            NpuGeneration::Hopper => [38.7, 41.4, 36.0],
            NpuGeneration::Blackwell => [70.0, 42.8, 24.0],
        },
    )
}

/// Returns the upper limit for one channel in an LL128 tree.
pub(super) const fn tree_ll128_most(generation: NpuGeneration, nodes: u32) -> f64 {
    by_nodes(
        nodes,
        match generation {
            NpuGeneration::Ampere => [20.0, 20.0, 20.0],
            NpuGeneration::Hopper => [36.7, 36.7, 29.0],
            NpuGeneration::Blackwell => [55.6, 31.67, 20.0],
        },
    )
}

/// Returns the upper limit for one channel in an NVLS tree; `None` for GPUs without NVLS.
pub(super) fn nvls_tree_most(generation: NpuGeneration, nodes: u32) -> Option<f64> {
    match generation {
        NpuGeneration::Ampere => None,
        NpuGeneration::Hopper => Some(if nodes <= 2 { 57.7 } else { 45.5 }),
        NpuGeneration::Blackwell => Some(if nodes <= 2 { 96.0 } else { 80.0 }),
    }
}

/// Returns the share of `NVLink` that NVLS reaches, in per cent; `None` for GPUs without NVLS.
pub(super) const fn nvls_efficiency(generation: NpuGeneration) -> Option<u32> {
    match generation {
        NpuGeneration::Ampere => None,
        NpuGeneration::Hopper => Some(85),
        NpuGeneration::Blackwell => Some(74),
    }
}

/// Shares of the bus bandwidth that LL128 rings and trees reach.
pub(super) const LL128_SHARE: f64 = 0.92;
pub(super) const TREE_SHARE: f64 = 0.92;
/// Divisor between a tree's bandwidth with Simple and with LL.
pub(super) const TREE_LL: f64 = 3.8;

/// Returns the share of a Simple tree's bandwidth that an LL128 tree reaches.
pub(super) fn tree_ll128_share(nodes: u32) -> f64 {
    if nodes == 1 { 7.0 / 9.0 } else { 120.0 / 128.0 }
}

/// Tree bandwidth corrections by protocol, for each power of two from 64 bytes on.
const TREE_CORRECTIONS: [[f64; 24]; 3] = [
    [
        1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8,
        0.9, 1.0, 1.0, 1.0, 1.0, 1.0,
    ],
    [
        1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9,
        0.9, 0.9, 0.9, 1.0, 1.0, 1.0,
    ],
    [
        0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8,
        0.7, 0.7, 0.8, 0.9, 0.9, 0.9,
    ],
];

/// Returns the share of its bandwidth that a tree all-reduce reaches at a size; 1 beyond the table.
pub(super) fn tree_correction(protocol: WireProtocol, bytes: u64) -> f64 {
    let power = (bytes >> 6).checked_ilog2();
    let of = &TREE_CORRECTIONS[place(protocol)];
    let known = power.and_then(|power| of.get(usize::try_from(power).ok()?));
    known.copied().unwrap_or(1.0)
}

/// Returns the least bytes for which NCCL uses a channel; an LL ring needs this for each rank.
///
/// They are threads per channel times bytes per thread (512 · 8, 640 · 8, 512 · 64).
///
/// Origin: NVIDIA/nccl, `src/include/comm.h` and `src/include/device.h`.
pub(super) fn channel_least_bytes(protocol: WireProtocol) -> u64 {
    [4_096, 5_120, 32_768][place(protocol)]
}

/// Largest piece that a tree passes on: a slot in the 4 MiB buffer with 8 slots. Small sizes halve
/// it until there are enough pieces for the tree's depth.
pub(super) const TREE_PIECE_BYTES: u64 = 512 << 10;
/// Pairs (least piece, pieces per hop): a piece is halved down to `least` as long as there are
/// fewer than that many pieces per hop.
///
/// Origin: NVIDIA/nccl, `src/enqueue.cc`.
pub(super) const TREE_PIECE_STEPS: [(u64, u64); 3] = [(128 << 10, 8), (64 << 10, 4), (32 << 10, 1)];

const fn by_nodes(nodes: u32, of: ByNodes) -> f64 {
    match nodes {
        1 => of[0],
        2 => of[1],
        _ => of[2],
    }
}
