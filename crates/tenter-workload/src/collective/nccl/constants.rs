//! The constants of NCCL's tuning model.
//!
//! Origin, unless a constant says otherwise: NVIDIA/nccl 5067397 (2026-06-11),
//! `src/graph/tuning.cc`. Latencies are in microseconds, bandwidths in GB/s (10⁹).

use tenter_config::choice;

use super::algorithms::NcclAlgorithm;
use crate::collective::WireProtocol;

/// What the GPUs of a server are: the compute capability by which NCCL looks up its limits.
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

/// Whose processors a server has: NCCL's costs of a network step and limits of LL differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostCpu {
    /// Intel.
    Intel,
    /// AMD.
    Amd,
}

choice!(HostCpu {
    "intel" => Intel,
    "amd" => Amd,
});

/// Values of LL, LL128 and Simple.
type ByProtocol = [f64; 3];

/// Values of one node, two nodes, and more.
type ByNodes = [f64; 3];

/// Which of the values of a protocol.
const fn place(protocol: WireProtocol) -> usize {
    match protocol {
        WireProtocol::Ll => 0,
        WireProtocol::Ll128 => 1,
        WireProtocol::Simple => 2,
    }
}

/// The latency that a collective has once.
pub(super) fn base_latency(algorithm: NcclAlgorithm, protocol: WireProtocol) -> f64 {
    let of: ByProtocol = match algorithm {
        NcclAlgorithm::Tree => [6.8, 14.0, 8.4],
        NcclAlgorithm::Ring => [6.6, 14.0, 8.4],
        NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree => [0.0; 3],
    };
    of[place(protocol)]
}

/// The latency of a step over `NVLink`; that of NVLS is for going to the switch and back.
pub(super) fn scale_up_latency(algorithm: NcclAlgorithm, protocol: WireProtocol) -> f64 {
    let of: ByProtocol = match algorithm {
        NcclAlgorithm::Tree => [0.6, 1.25, 4.0],
        NcclAlgorithm::Ring => [0.6, 1.9, 3.4],
        NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree => [25.0; 3],
    };
    of[place(protocol)]
}

/// The latency of a step over the network.
pub(super) fn network_latency(algorithm: NcclAlgorithm, protocol: WireProtocol) -> f64 {
    let of: ByProtocol = match algorithm {
        NcclAlgorithm::Tree => [5.0, 8.5, 14.0],
        NcclAlgorithm::Ring => [2.7, 4.0, 14.0],
        NcclAlgorithm::Nvls => [18.0; 3],
        NcclAlgorithm::NvlsTree => [20.9; 3],
    };
    of[place(protocol)]
}

/// What posting a network step costs a ring across nodes; three times as much with Simple.
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

/// The factor on the latency of a Simple ring over several nodes.
pub(super) fn ring_plateau(generation: NpuGeneration) -> f64 {
    match generation {
        // The model has 1.9 for what is older than Ampere.
        NpuGeneration::Ampere | NpuGeneration::Hopper | NpuGeneration::Blackwell => 1.4,
    }
}

/// The least bytes for each channel and rank for that factor.
pub(super) const RING_PLATEAU_BYTES: u64 = 64;

/// The channels of one node over `NVLink`, and the bandwidth of each.
///
/// Origin: as many channels of 20, 30 and 40 GB/s as [`scale_up_bandwidth`] has room for; which
/// channels NCCL's search finds is assumed.
pub(super) const fn scale_up_channels(generation: NpuGeneration) -> (u32, f64) {
    match generation {
        NpuGeneration::Ampere => (12, 20.0),
        NpuGeneration::Hopper => (12, 30.0),
        NpuGeneration::Blackwell => (18, 40.0),
    }
}

/// What the links of a GPU carry each way.
///
/// Origin: 12, 18 and 18 links of 20.0, 20.6 and 40.1 GB/s (`src/graph/topo.h`).
pub(super) const fn scale_up_bandwidth(generation: NpuGeneration) -> f64 {
    match generation {
        NpuGeneration::Ampere => 240.0,
        NpuGeneration::Hopper => 370.8,
        NpuGeneration::Blackwell => 721.8,
    }
}

/// Whether the search gives each channel across nodes a twin and halves their bandwidth, so that
/// limits of channels count twice: from 25 GB/s on, and on NPUs after Ampere with more than four
/// channels from 50 GB/s on.
///
/// Origin: NVIDIA/nccl, `src/graph/search.cc`.
pub(super) fn has_twice_the_channels(generation: NpuGeneration, channels: f64, each: f64) -> bool {
    let least = match generation {
        NpuGeneration::Hopper | NpuGeneration::Blackwell if channels > 4.0 => 50.0,
        _ => 25.0,
    };
    each >= least
}

/// What LL reaches at most, on all channels together.
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

/// What a channel of a ring of LL128 reaches at most.
pub(super) const fn ring_ll128_most(generation: NpuGeneration) -> f64 {
    match generation {
        NpuGeneration::Ampere => 20.0,
        NpuGeneration::Hopper => 36.7,
        NpuGeneration::Blackwell => 40.0,
    }
}

/// What a channel of a tree reaches at most.
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

/// What a channel of a tree of LL128 reaches at most.
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

/// What a channel of an NVLS tree reaches at most; none on GPUs without NVLS.
pub(super) fn nvls_tree_most(generation: NpuGeneration, nodes: u32) -> Option<f64> {
    match generation {
        NpuGeneration::Ampere => None,
        NpuGeneration::Hopper => Some(if nodes <= 2 { 57.7 } else { 45.5 }),
        NpuGeneration::Blackwell => Some(if nodes <= 2 { 96.0 } else { 80.0 }),
    }
}

/// What NVLS reaches of `NVLink`, in per cent; none on GPUs without NVLS.
pub(super) const fn nvls_efficiency(generation: NpuGeneration) -> Option<u32> {
    match generation {
        NpuGeneration::Ampere => None,
        NpuGeneration::Hopper => Some(85),
        NpuGeneration::Blackwell => Some(74),
    }
}

/// What rings of LL128 and trees reach of a bus.
pub(super) const LL128_SHARE: f64 = 0.92;
pub(super) const TREE_SHARE: f64 = 0.92;
/// By which LL divides the bandwidth of a tree.
pub(super) const TREE_LL: f64 = 3.8;

/// What a tree of LL128 reaches of that of Simple.
pub(super) fn tree_ll128_share(nodes: u32) -> f64 {
    if nodes == 1 { 7.0 / 9.0 } else { 120.0 / 128.0 }
}

/// What trees reach by size, for each power of two from 64 bytes on.
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

/// The share of its bandwidth that a tree all-reduce reaches at a size.
pub(super) fn tree_correction(protocol: WireProtocol, bytes: u64) -> f64 {
    let power = (bytes >> 6).checked_ilog2();
    let of = &TREE_CORRECTIONS[place(protocol)];
    let known = power.and_then(|power| of.get(usize::try_from(power).ok()?));
    known.copied().unwrap_or(1.0)
}

/// A channel is used for no fewer bytes than these, times the ranks for a ring of LL: threads of a
/// channel times bytes of a thread (512 · 8, 640 · 8, 512 · 64).
///
/// Origin: NVIDIA/nccl, `src/include/comm.h` and `src/include/device.h`.
pub(super) fn channel_least_bytes(protocol: WireProtocol) -> u64 {
    [4_096, 5_120, 32_768][place(protocol)]
}

/// What a tree passes on at a time: a slot of the buffer of 4 MiB with 8 slots, halved for small
/// sizes until there are enough pieces for the depth of the tree.
pub(super) const TREE_PIECE_BYTES: u64 = 512 << 10;
/// Down to so many bytes as long as there are fewer pieces than so many for each hop.
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
