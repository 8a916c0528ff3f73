//! NCCL's tuning model: estimates for each algorithm and protocol, and the choice between them.

use tenter_language::units::{Rate, Time};

use super::algorithms::{NcclAlgorithm, NcclCollective};
use super::constants as table;
use super::constants::{HostCpu, NpuGeneration};
use crate::collective::WireProtocol;

/// Inputs to the model: a collective and the communicator that runs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Communicator {
    pub(super) collective: NcclCollective,
    pub(super) nodes: u32,
    /// Ranks on each node, one per NPU.
    pub(super) npus: u32,
    /// NICs per node that these ranks use.
    pub(super) nics: u32,
    pub(super) nic_rate: Rate,
    pub(super) generation: NpuGeneration,
    pub(super) cpu: HostCpu,
    pub(super) nvls: bool,
    pub(super) plug_in_latency: Time,
}

/// One algorithm with one protocol, and the model's estimate for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NcclChoice {
    /// Algorithm that carries the collective out.
    pub algorithm: NcclAlgorithm,
    /// Protocol that carries data and flags.
    pub protocol: WireProtocol,
    /// Latency without any bytes, in µs.
    pub latency_us: f64,
    /// Algorithm bandwidth in GB/s (10⁹).
    pub bandwidth: f64,
    /// Estimated time at the requested size, in µs.
    pub time_us: f64,
}

/// Step latencies, without the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StepLatencies {
    /// Base latency, once for each collective.
    pub(super) start_up: Time,
    /// Latency for each step within a node.
    pub(super) within: Time,
    /// Latency for each step across nodes.
    pub(super) across: Time,
}

const PROTOCOLS: [WireProtocol; 3] = [WireProtocol::Ll, WireProtocol::Ll128, WireProtocol::Simple];

const ALGORITHMS: [NcclAlgorithm; 4] = [
    NcclAlgorithm::Tree,
    NcclAlgorithm::Ring,
    NcclAlgorithm::NvlsTree,
    NcclAlgorithm::Nvls,
];

/// Converts a table value from µs, rounded to a nanosecond.
fn time(microseconds: f64) -> Time {
    // Values in the tables are far below a second; the clamp only keeps the cast safe.
    Time::from_ns((microseconds * 1e3).round().clamp(0.0, 1e9) as u64)
}

impl Communicator {
    fn ranks(&self) -> u32 {
        self.nodes * self.npus
    }

    fn steps(&self) -> f64 {
        let once = f64::from(self.ranks().saturating_sub(1));
        self.times() * once
    }

    /// Returns how often data pass the ranks: an all-reduce gathers what it has scattered.
    fn times(&self) -> f64 {
        match self.collective {
            NcclCollective::AllReduce => 2.0,
            NcclCollective::AllGather | NcclCollective::ReduceScatter => 1.0,
        }
    }

    /// Returns the channel count in the model and each channel's bandwidth in GB/s.
    fn channels(&self, algorithm: NcclAlgorithm) -> (f64, f64) {
        if self.nodes == 1 {
            let (channels, bandwidth) = table::scale_up_channels(self.generation);
            return (f64::from(channels), bandwidth);
        }
        let nics = f64::from(self.nics);
        // 8e9 bits per second are 1 GB/s.
        let nic = self.nic_rate.bits_per_second() as f64 / 8e9;
        if self.nodes > 2 || algorithm == NcclAlgorithm::NvlsTree {
            return (nics, nic);
        }
        let each = match algorithm {
            // With two nodes a tree sends and receives the buffer once per node, where a ring does
            // so twice. The model therefore starts from the bandwidth within a node, up to twice
            // the NIC's.
            NcclAlgorithm::Tree => {
                let within = table::scale_up_bandwidth(self.generation) / nics;
                within.clamp(nic, 2.0 * nic)
            }
            _ => nic,
        };
        if table::has_twice_the_channels(self.generation, nics, each) {
            return (2.0 * nics, each / 2.0);
        }
        (nics, each)
    }

    /// Returns true if NCCL has the algorithm with this protocol on this communicator.
    fn has(&self, algorithm: NcclAlgorithm, protocol: WireProtocol) -> bool {
        let reduces_all = self.collective == NcclCollective::AllReduce;
        // NCCL has NVLS with Simple only.
        let in_switch = self.nvls
            && self.npus > 1
            && protocol == WireProtocol::Simple
            && table::nvls_efficiency(self.generation).is_some();
        match algorithm {
            NcclAlgorithm::Ring => true,
            NcclAlgorithm::Tree => reduces_all,
            // Across nodes NVLS would need a plug-in that reduces in the network.
            NcclAlgorithm::Nvls => reduces_all && in_switch && self.nodes == 1,
            NcclAlgorithm::NvlsTree => reduces_all && in_switch && self.nodes > 1 && self.nics > 1,
        }
    }

    /// Returns the latency of a step over the network, in µs. With Simple the plug-in must flush as
    /// well, so its latency counts twice.
    fn across_us(&self, algorithm: NcclAlgorithm, protocol: WireProtocol) -> f64 {
        let own = match (algorithm, self.npus) {
            // With one NPU per node NCCL gives rings the network latency of trees.
            (NcclAlgorithm::Ring, 1) => NcclAlgorithm::Tree,
            _ => algorithm,
        };
        let times = match protocol {
            WireProtocol::Simple => 2.0,
            WireProtocol::Ll | WireProtocol::Ll128 => 1.0,
        };
        table::network_latency(own, protocol) + times * self.plug_in_latency.as_ns() / 1e3
    }

    /// Returns the latency for a step within a node, in µs.
    fn within_us(&self, algorithm: NcclAlgorithm, protocol: WireProtocol) -> f64 {
        let own = table::scale_up_latency(algorithm, protocol);
        if algorithm == NcclAlgorithm::Ring && self.nodes > 1 {
            // Posting goes on while data travel within nodes, so a step takes at least as long as
            // one post.
            return own.max(table::post_latency(self.cpu, protocol));
        }
        own
    }

    fn latency_us(&self, algorithm: NcclAlgorithm, protocol: WireProtocol) -> f64 {
        let base = table::base_latency(algorithm, protocol);
        let within = self.within_us(algorithm, protocol);
        let across = self.across_us(algorithm, protocol);
        let depth = f64::from(self.nodes.ilog2());
        let sum = match algorithm {
            NcclAlgorithm::Ring => {
                let network = self.times() * f64::from(self.nodes - 1);
                (self.steps() - network) * within + network * across
            }
            NcclAlgorithm::Tree => 2.0 * (f64::from(self.npus - 1) * within + depth * across),
            NcclAlgorithm::Nvls => within,
            NcclAlgorithm::NvlsTree => within + 2.0 * depth * across,
        };
        base + sum
    }

    /// Returns the algorithm bandwidth for large sizes, in GB/s.
    fn bandwidth(&self, algorithm: NcclAlgorithm, protocol: WireProtocol) -> f64 {
        let (channels, each) = self.channels(algorithm);
        let bus = channels * each;
        let ll_most = table::ll_most(self.generation, self.cpu, self.nodes);
        let bus = match (algorithm, protocol) {
            (NcclAlgorithm::Ring, WireProtocol::Ll) => ll_most.min(bus / 2.0),
            (NcclAlgorithm::Ring, WireProtocol::Ll128) => {
                (bus * table::LL128_SHARE).min(channels * table::ring_ll128_most(self.generation))
            }
            (NcclAlgorithm::Ring, WireProtocol::Simple) => bus,
            (NcclAlgorithm::Tree, _) => self.tree_bus(protocol, channels, bus, ll_most),
            (NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree, _) => {
                channels * self.nvls_channel(algorithm, channels, each)
            }
        };
        match algorithm {
            NcclAlgorithm::Tree => bus / 2.0,
            _ => bus * f64::from(self.ranks()) / self.steps(),
        }
    }

    fn tree_bus(&self, protocol: WireProtocol, channels: f64, bus: f64, ll_most: f64) -> f64 {
        let most = channels * table::tree_most(self.generation, self.nodes);
        let bus = most.min(bus * table::TREE_SHARE);
        match protocol {
            WireProtocol::Ll => ll_most.min(bus / table::TREE_LL),
            WireProtocol::Ll128 => (bus * table::tree_ll128_share(self.nodes))
                .min(channels * table::tree_ll128_most(self.generation, self.nodes)),
            WireProtocol::Simple => bus,
        }
    }

    /// Returns the bus bandwidth of an NVLS channel, in GB/s. It adds and copies at the same time,
    /// hence twice the channel's own bandwidth.
    fn nvls_channel(&self, algorithm: NcclAlgorithm, channels: f64, each: f64) -> f64 {
        let efficiency = f64::from(table::nvls_efficiency(self.generation).unwrap_or(0)) / 100.0;
        let within = 2.0 * each * efficiency * (channels - 1.0) / channels;
        let most = table::nvls_tree_most(self.generation, self.nodes);
        match (algorithm, most) {
            (NcclAlgorithm::NvlsTree, Some(most)) => {
                let across = if self.nodes <= 2 { 2.0 * each } else { each };
                within.min(across).min(most)
            }
            _ => within,
        }
    }

    /// Returns the estimate for one algorithm and protocol; `None` if NCCL does not have it here.
    fn estimate(
        &self,
        algorithm: NcclAlgorithm,
        protocol: WireProtocol,
        bytes: u64,
    ) -> Option<NcclChoice> {
        if !self.has(algorithm, protocol) {
            return None;
        }
        let mut bandwidth = self.bandwidth(algorithm, protocol);
        let mut latency_us = self.latency_us(algorithm, protocol);
        if algorithm == NcclAlgorithm::Tree {
            bandwidth *= table::tree_correction(protocol, bytes);
        }
        // In the model the latency of this ring rises by a constant factor once each channel has
        // enough bytes per rank.
        let is_plateau = algorithm == NcclAlgorithm::Ring
            && protocol == WireProtocol::Simple
            && self.nodes > 1
            && self.collective == NcclCollective::AllReduce
            && bytes / (u64::from(self.nics.max(1)) * u64::from(self.ranks()))
                >= table::RING_PLATEAU_BYTES;
        if is_plateau {
            latency_us *= table::ring_plateau(self.generation);
        }
        Some(NcclChoice {
            algorithm,
            protocol,
            latency_us,
            bandwidth,
            // `bandwidth` is in GB/s, so 1e3 times it is bytes per µs.
            time_us: latency_us + bytes as f64 / (1e3 * bandwidth),
        })
    }

    /// Returns the estimates for all that NCCL has, restricted to one algorithm or protocol if
    /// given.
    pub(super) fn estimates(
        &self,
        only_algorithm: Option<NcclAlgorithm>,
        only_protocol: Option<WireProtocol>,
        bytes: u64,
    ) -> Vec<NcclChoice> {
        let is_meant = |&(algorithm, protocol): &(NcclAlgorithm, WireProtocol)| {
            only_algorithm.is_none_or(|only| only == algorithm)
                && only_protocol.is_none_or(|only| only == protocol)
        };
        let ways = ALGORITHMS
            .into_iter()
            .flat_map(|algorithm| PROTOCOLS.map(|protocol| (algorithm, protocol)));
        let meant = ways.filter(is_meant);
        meant
            .filter_map(|(algorithm, protocol)| self.estimate(algorithm, protocol, bytes))
            .collect()
    }

    /// Returns the step latencies that the simulation uses for a choice.
    pub(super) fn step_latencies(
        &self,
        algorithm: NcclAlgorithm,
        protocol: WireProtocol,
    ) -> StepLatencies {
        let within = self.within_us(algorithm, protocol);
        let is_nvls = matches!(algorithm, NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree);
        StepLatencies {
            start_up: time(table::base_latency(algorithm, protocol)),
            // Half of an NVLS step leads to the switch, the other half back.
            within: time(if is_nvls { within / 2.0 } else { within }),
            across: time(self.across_us(algorithm, protocol)),
        }
    }

    /// Returns how many of `channels` channels a size is spread over.
    pub(super) fn channels_for(
        &self,
        algorithm: NcclAlgorithm,
        protocol: WireProtocol,
        bytes: u64,
        channels: u32,
    ) -> u32 {
        let ranks = u64::from(self.ranks());
        let least = match (algorithm, protocol) {
            (NcclAlgorithm::Ring, WireProtocol::Ll) => ranks,
            _ => 1,
        } * table::channel_least_bytes(protocol);
        let filled = u32::try_from(bytes / least).unwrap_or(u32::MAX);
        filled.clamp(1, channels.max(1))
    }

    /// Returns the share of the scale-up domain's rate that NVLS reaches, in parts per million.
    ///
    /// The limit for NVLS tree channels applies to the estimate alone: two servers have been
    /// measured beyond it.
    pub(super) fn nvls_share_ppm(&self) -> u64 {
        let per_cent = table::nvls_efficiency(self.generation).unwrap_or(100);
        u64::from(per_cent) * 10_000
    }
}
