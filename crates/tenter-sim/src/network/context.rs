//! Data that all partitions share: the plan as the simulation needs it, and each node's address.

use std::sync::Arc;

use crate::plan::{Fidelity, HostDelays, LinkImpairment, Links, Lookahead, Seeds};
use tenter_endpoint::ultra_ethernet::Network as UltraEthernetNetwork;
use tenter_endpoint::{DmaRates, NicAddress, NicSpec, PortChanges, ROCE_UDP_PORT, ReplyPath};
use tenter_engine::{Home, Output, mix64};
use tenter_fabric::net::input_queued::InputQueuedSpec;
use tenter_fabric::net::load_balancing::FiveTuple;
use tenter_fabric::net::{CreditSpec, ReceiveSlot, SignalSpec, SwitchSpec, Switches, Telemetry};
use tenter_fabric::topology::{HostId, NodeId, Routing, Topology};
use tenter_language::units::{ById, Instant, Rate, Time};
use tenter_workload::{JobId, RankId, ScaleUp, Transfer};

use super::jobs::{JobPlan, JobProgress, RankHere};
use super::partition_records::FlowKey;
use super::queue_pair_id::QueuePairId;
use super::scheduled::ScheduledFabric;

const UDP_PROTOCOL: u8 = 17;

/// First UDP source port: `RoCEv2` uses the dynamic range, 49152 and above.
const FIRST_SOURCE_PORT: u16 = 0xc000;

/// Data that all partitions share and that never changes, except `progress`.
#[derive(Debug)]
pub struct Context {
    pub(crate) topology: Arc<Topology>,
    /// The routes while no link is down.
    pub(crate) routing: Arc<Routing>,
    pub(crate) impairments: Vec<LinkImpairment>,
    /// The links with the headroom behind each.
    pub(crate) incoming: Links,
    pub(crate) lookahead: Lookahead,
    pub(crate) switches: Switches,
    pub(crate) nic: NicSpec,
    /// Longest round trip through the unloaded fabric, if congestion control of `RoCEv2` uses it.
    pub(super) round_trip_of_fabric: Time,
    /// The rules by which NICs change source ports.
    pub(crate) port_changes: PortChanges,
    /// Delays that hosts add to each send.
    pub(crate) host_delays: HostDelays,
    /// Each NIC's DMA rates; empty without PCIe.
    pub(super) dma: ById<HostId, DmaRates>,
    /// The scale-up domain that joins a host's NPUs, if there is one.
    pub(crate) scale_up: Option<ScaleUp>,
    /// NPUs that share each NIC.
    pub(crate) npus_per_nic: u32,
    /// The network as NICs with Ultra Ethernet know it, if they have that transport.
    pub(super) ultra_ethernet: Option<Arc<UltraEthernetNetwork>>,
    /// In-band telemetry, if packets carry any.
    pub(super) telemetry: Option<Arc<Telemetry>>,
    /// The scheduled fabric's parameters and leaves, if the fabric is one.
    pub(crate) scheduled: Option<ScheduledFabric>,
    /// The credit that frames need before they are sent; `None` without credit-based flow control.
    pub(crate) credit: Option<CreditSpec>,
    /// The switches' input queues; `None` if frames wait at outputs.
    pub(crate) input_queued: Option<InputQueuedSpec>,
    /// Congestion signals that switches send to senders, if any.
    pub(crate) signals: Option<SignalSpec>,
    /// Each NIC's MAC and IP addresses.
    pub(crate) addresses: ById<HostId, NicAddress>,
    /// The jobs, with the parts that never change while they run.
    pub(crate) jobs: ById<JobId, JobPlan>,
    /// The state that each job's current collective has, which all threads update.
    pub(crate) progress: JobProgress,
    /// The level: packets or flows.
    pub(crate) fidelity: Fidelity,
    /// The trial's seed, for streams without another.
    pub(crate) seed: u64,
    /// Seeds for placement, hashing and arrivals, which may differ from `seed`.
    pub(crate) seeds: Seeds,
    /// Wait at circuits beyond which leaves send through the tree; `None` if there is no tree or
    /// the load balancer may not choose for each packet.
    pub(crate) spill: Option<Time>,
    /// True if each operation in an operation graph is recorded.
    pub(crate) records_operations: bool,
    /// Time for which background jobs run on without the measured ones.
    pub(crate) background_delay: Time,
    /// Each host's ranks, ordered by job and therefore by QP index.
    pub(crate) ranks: ById<HostId, Vec<RankHere>>,
    /// Each node's address: its partition, and its number there.
    pub(crate) homes: ById<NodeId, Home>,
}

impl Context {
    /// Returns the graph with the circuits that were set at the beginning.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns a node's address: partition and number.
    pub fn home(&self, node: impl Into<NodeId>) -> Home {
        self.homes[node.into()]
    }

    /// Returns all hashes in packets between two hosts, in both directions, in ascending order.
    pub fn hashes_between(&self, a: HostId, b: HostId) -> Vec<u32> {
        let mut hashes = Vec::new();
        for (from, to) in [(a, b), (b, a)] {
            for here in self.ranks_on(from) {
                let plan = &self.jobs[here.job];
                for slot in plan.pairs.send_slots(here.rank) {
                    let peer = plan.pairs.peer_of(here.rank, slot);
                    if plan.job.hosts[peer.rank] == to {
                        let forth = QueuePairId::to(here.job, here.rank, &peer);
                        self.add_hashes(self.hash(forth), &mut hashes);
                        // Answers travel with the hash of the reverse direction.
                        hashes.push(self.hash(forth.back()));
                    }
                }
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    /// Returns all hashes in packets that a host sends, in ascending order.
    pub(super) fn hashes_from(&self, host: HostId) -> Vec<u32> {
        let mut hashes = Vec::new();
        for (job, plan) in self.jobs.numbered() {
            for (rank, &from) in plan.job.hosts.numbered() {
                for slot in plan.pairs.send_slots(rank) {
                    let peer = plan.pairs.peer_of(rank, slot);
                    let forth = QueuePairId::to(job, rank, &peer);
                    if from == host {
                        self.add_hashes(self.hash(forth), &mut hashes);
                    }
                    if plan.job.hosts[peer.rank] == host {
                        // The host also sends the answers to data that it receives.
                        hashes.push(self.hash(forth.back()));
                    }
                }
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    /// Adds all hashes in data packets from a queue pair whose own hash is `base`.
    fn add_hashes(&self, base: u32, hashes: &mut Vec<u32>) {
        // Connection set-up always uses the queue pair's own hash.
        hashes.push(base);
        let entropy = self.port_changes.entropy.iter();
        hashes.extend(entropy.flat_map(|entropy| entropy.hashes(base)));
    }

    /// Returns true at packet level. At flow level no NIC uses a queue pair.
    pub(crate) fn has_packets(&self) -> bool {
        self.fidelity == Fidelity::Packet
    }

    /// Returns the ranks on a host.
    pub(crate) fn ranks_on(&self, host: HostId) -> &[RankHere] {
        &self.ranks[host]
    }

    /// Returns a rank's number among the ranks on its host.
    pub(crate) fn number_of(&self, host: HostId, job: JobId, rank: RankId) -> Option<u16> {
        let mut ranks = self.ranks_on(host).iter();
        let number = ranks.position(|here| (here.job, here.rank) == (job, rank))?;
        Some(number as u16)
    }

    /// Returns true if a rank is its job's first on its host.
    pub(crate) fn is_first_there(&self, host: HostId, job: JobId, rank: RankId) -> bool {
        let mut ranks = self.ranks_on(host).iter();
        let first = ranks.find(|here| here.job == job);
        first.is_some_and(|here| here.rank == rank)
    }

    /// Returns the rank to which a receiving QP index at `host` belongs, with its number there.
    pub(crate) fn rank_of_slot(&self, host: HostId, slot: ReceiveSlot) -> (u16, RankHere) {
        let ranks = self.ranks_on(host);
        // A rank without queue pairs shares its base with the next rank; the last one with a base
        // up to `slot` owns it.
        let number = ranks.partition_point(|here| here.receive_base <= slot) - 1;
        (number as u16, ranks[number])
    }

    /// Returns the path for answers to the sender behind a receiving QP index at `host`.
    pub(crate) fn reply_path(&self, host: HostId, slot: ReceiveSlot) -> ReplyPath {
        let (_, here) = self.rank_of_slot(host, slot);
        let plan = &self.jobs[here.job];
        let source = plan.pairs.source_of(here.rank, here.own_receive_slot(slot));
        ReplyPath {
            destination: plan.job.hosts[source.rank],
            slot: plan.places[source.rank].send_slot(source.slot),
            hash: self.hash(QueuePairId::to(here.job, here.rank, &source)),
        }
    }

    /// Returns the time since the job's start; zero before it.
    pub(crate) fn elapsed(&self, job: JobId, now: Instant) -> Time {
        let start = self.progress.start(job).unwrap_or(now);
        now.saturating_since(start)
    }

    /// Returns a flow's number within its collective, counted densely from 0.
    pub(crate) fn flow_index(&self, key: FlowKey) -> usize {
        let queue_pairs = usize::from(self.jobs[key.job].job.queue_pairs);
        key.transfer as usize * queue_pairs + usize::from(key.queue_pair)
    }

    /// Returns the hosts for a job's ranks with their line rates, rank by rank.
    pub(crate) fn nics_of(&self, job: JobId) -> Vec<(HostId, Rate)> {
        let hosts = self.jobs[job].job.hosts.iter();
        hosts
            .map(|&host| (host, self.topology.line_rate(host)))
            .collect()
    }

    /// Returns the 5-tuple hash of a queue pair's packets.
    pub(crate) fn hash(&self, of: QueuePairId) -> u32 {
        let hosts = &self.jobs[of.job].job.hosts;
        self.switches.usual.load_balancing.hash(&FiveTuple {
            source_address: self.addresses[hosts[of.from]].address,
            destination_address: self.addresses[hosts[of.to]].address,
            protocol: UDP_PROTOCOL,
            source_port: self.udp_source_port(of),
            destination_port: ROCE_UDP_PORT,
        })
    }

    /// Returns a queue pair's UDP source port, which is fixed for its life and evenly distributed
    /// over the dynamic range.
    pub(crate) fn udp_source_port(&self, of: QueuePairId) -> u16 {
        let QueuePairId {
            job,
            from,
            to,
            lane,
            queue_pair,
        } = of;
        let pair = mix64(u64::from(from.number()) << 32 | u64::from(to.number()));
        let lane =
            mix64(u64::from(lane) << 32 | u64::from(job.number()) << 16 | u64::from(queue_pair));
        // Rotated, because otherwise equal numbers for ranks, lane and job would cancel out.
        let mixed = mix64(self.seeds.hashing ^ pair.rotate_left(17) ^ lane);
        // The first port's two upper bits are set, so 14 mixed bits choose among the dynamic ports.
        FIRST_SOURCE_PORT | (mixed >> 48) as u16
    }

    /// Returns the number of inputs at a node. Each port has one for data and one for MAC control
    /// frames. A host has another for each NIC in its domain, and a scheduled fabric's leaf has
    /// another for each leaf.
    pub fn inputs(&self, node: NodeId) -> u16 {
        let ports = 2 * self.topology.ports(node);
        let domain = self.scale_up.filter(|_| self.topology.is_host(node));
        let domain = domain.map_or(0, |domain| {
            (domain.npus_per_host / self.npus_per_nic) as u16
        });
        let fabric = self.scheduled.as_ref();
        ports + domain + fabric.map_or(0, |fabric| fabric.control_inputs(node))
    }

    /// Returns the parameters that a switch has.
    pub(crate) fn switch(&self, node: NodeId) -> &SwitchSpec {
        self.switches.of(&self.topology, node)
    }

    /// Returns true if two NICs belong to NPUs in the same scale-up domain.
    pub(crate) fn is_within_domain(&self, a: HostId, b: HostId) -> bool {
        self.scale_up
            .is_some_and(|domain| domain.joins_nics(self.npus_per_nic, a, b))
    }

    /// Returns true if a job's transfer passes a scale-up domain instead of NICs.
    pub(crate) fn is_carried(&self, job: JobId, transfer: &Transfer) -> bool {
        let [from, to] = self.jobs[job].job.ends(transfer);
        self.is_within_domain(from, to)
    }

    /// Returns the output for transfers through the domain, from an NPU at `from` to one at `to`,
    /// which may be the same NIC.
    pub(super) fn domain_output(&self, from: HostId, to: HostId, domain: ScaleUp) -> Output {
        let Home { part, node } = self.home(to);
        // The inputs from the domain follow those of the ports.
        let ports = 2 * self.topology.ports(to);
        let nics = domain.npus_per_host / self.npus_per_nic;
        Output {
            part,
            node,
            input: ports + (from.number() % nics) as u16,
        }
    }
}
