//! NCCL's tuning model: how long each algorithm and protocol would take, and which it chooses.

use tenter_units::{Rate, Time};

use super::algorithms::{NcclAlgorithm, NcclCollective};
use super::constants as table;
use super::constants::{HostCpu, NpuGeneration};
use crate::collective::WireProtocol;

/// What the model asks about a communicator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Communicator {
    pub(super) collective: NcclCollective,
    pub(super) nodes: u32,
    /// Ranks of each node.
    pub(super) npus: u32,
    /// NICs that these use.
    pub(super) nics: u32,
    pub(super) nic_rate: Rate,
    pub(super) generation: NpuGeneration,
    pub(super) cpu: HostCpu,
    pub(super) nvls: bool,
    pub(super) plug_in_latency: Time,
}

/// One way to carry out a collective, and what the model says of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NcclChoice {
    /// The algorithm.
    pub algorithm: NcclAlgorithm,
    /// The protocol.
    pub protocol: WireProtocol,
    /// The latency, in microseconds.
    pub latency_us: f64,
    /// The algorithm bandwidth, in GB/s.
    pub bandwidth: f64,
    /// The time at the size that was asked for, in microseconds.
    pub time_us: f64,
}

/// What steps take, their bytes aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StepLatencies {
    /// Once for each collective.
    pub(super) start_up: Time,
    /// Of a step within a node.
    pub(super) within: Time,
    /// Of a step across nodes.
    pub(super) across: Time,
}

const PROTOCOLS: [WireProtocol; 3] = [WireProtocol::Ll, WireProtocol::Ll128, WireProtocol::Simple];

const ALGORITHMS: [NcclAlgorithm; 4] = [
    NcclAlgorithm::Tree,
    NcclAlgorithm::Ring,
    NcclAlgorithm::NvlsTree,
    NcclAlgorithm::Nvls,
];

/// A time of the tables, to a nanosecond.
fn time(microseconds: f64) -> Time {
    // The tables have less than a second.
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

    /// How often data pass the ranks: all-reduce gathers what it has scattered.
    fn times(&self) -> f64 {
        match self.collective {
            NcclCollective::AllReduce => 2.0,
            NcclCollective::AllGather | NcclCollective::ReduceScatter => 1.0,
        }
    }

    /// The channels of the model and the bandwidth of each.
    fn channels(&self, algorithm: NcclAlgorithm) -> (f64, f64) {
        if self.nodes == 1 {
            let (channels, bandwidth) = table::scale_up_channels(self.generation);
            return (f64::from(channels), bandwidth);
        }
        let nics = f64::from(self.nics);
        let nic = self.nic_rate.bits_per_second() as f64 / 8e9;
        if self.nodes > 2 || algorithm == NcclAlgorithm::NvlsTree {
            return (nics, nic);
        }
        let each = match algorithm {
            // Each of two nodes sends and receives the buffer once, where a ring does it twice: so
            // the model goes by the bandwidth within a node, up to twice the NIC's.
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

    /// Whether NCCL has the algorithm for this communicator.
    fn has(&self, algorithm: NcclAlgorithm, protocol: WireProtocol) -> bool {
        let reduces_all = self.collective == NcclCollective::AllReduce;
        let in_switch = self.nvls
            && self.npus > 1
            && protocol == WireProtocol::Simple
            && table::nvls_efficiency(self.generation).is_some();
        match algorithm {
            NcclAlgorithm::Ring => true,
            NcclAlgorithm::Tree => reduces_all,
            // Across nodes NVLS needs a plug-in that reduces in the network.
            NcclAlgorithm::Nvls => reduces_all && in_switch && self.nodes == 1,
            NcclAlgorithm::NvlsTree => reduces_all && in_switch && self.nodes > 1 && self.nics > 1,
        }
    }

    /// A step over the network: with Simple the plug-in has to flush, too.
    fn across_us(&self, algorithm: NcclAlgorithm, protocol: WireProtocol) -> f64 {
        let own = match (algorithm, self.npus) {
            (NcclAlgorithm::Ring, 1) => NcclAlgorithm::Tree,
            _ => algorithm,
        };
        let times = match protocol {
            WireProtocol::Simple => 2.0,
            WireProtocol::Ll | WireProtocol::Ll128 => 1.0,
        };
        table::network_latency(own, protocol) + times * self.plug_in_latency.as_ns() / 1e3
    }

    /// A step within a node.
    fn within_us(&self, algorithm: NcclAlgorithm, protocol: WireProtocol) -> f64 {
        let own = table::scale_up_latency(algorithm, protocol);
        if algorithm == NcclAlgorithm::Ring && self.nodes > 1 {
            // While data go round within nodes, messages are posted all the same.
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

    /// The algorithm bandwidth of large sizes.
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

    /// The bus bandwidth of a channel of NVLS: it sums up and copies at the same time.
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

    /// What the model says of one way.
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
            time_us: latency_us + bytes as f64 / (1e3 * bandwidth),
        })
    }

    /// All ways that NCCL has, or those of an algorithm or a protocol.
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

    /// What steps of a choice take in the simulation.
    pub(super) fn step_latencies(
        &self,
        algorithm: NcclAlgorithm,
        protocol: WireProtocol,
    ) -> StepLatencies {
        let within = self.within_us(algorithm, protocol);
        let is_nvls = matches!(algorithm, NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree);
        StepLatencies {
            start_up: time(table::base_latency(algorithm, protocol)),
            // Half of it to the switch, and half of it back.
            within: time(if is_nvls { within / 2.0 } else { within }),
            across: time(self.across_us(algorithm, protocol)),
        }
    }

    /// How many of `channels` a size is spread over.
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

    /// What NVLS reaches of the rate of the scale-up domain, in parts per million. The limit of the
    /// channels of an NVLS tree is one of the estimate alone: two servers are measured beyond it.
    pub(super) fn nvls_share_ppm(&self) -> u64 {
        let per_cent = table::nvls_efficiency(self.generation).unwrap_or(100);
        u64::from(per_cent) * 10_000
    }
}
