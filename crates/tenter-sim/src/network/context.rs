//! What all partitions share: the plan as the simulation needs it, and where each node is.

use std::sync::Arc;

use tenter_endpoint::ultra_ethernet::Network as UltraEthernetNetwork;
use tenter_endpoint::{DmaRates, NicAddress, NicSpec, PortChanges, ROCE_UDP_PORT, ReplyPath};
use tenter_engine::{Home, Output, mix64};
use tenter_net::input_queued::InputQueuedSpec;
use tenter_net::load_balancing::FiveTuple;
use tenter_net::{CreditSpec, ReceiveSlot, SignalSpec, SwitchSpec, Switches, Telemetry};
use tenter_plan::{Fidelity, HostDelays, LinkImpairment, Links, Lookahead, Seeds};
use tenter_topology::{HostId, NodeId, Routing, Topology};
use tenter_units::{ById, Instant, Rate, Time};
use tenter_workload::{JobId, RankId, ScaleUp, Transfer};

use super::jobs::{JobPlan, JobProgress, RankHere};
use super::partition_records::FlowKey;
use super::queue_pair_id::QueuePairId;
use super::scheduled::ScheduledFabric;

const UDP_PROTOCOL: u8 = 17;

/// `RoCEv2` takes its source ports from the dynamic range.
const FIRST_SOURCE_PORT: u16 = 0xc000;

/// What all parts share and nothing changes.
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
    /// How NICs change source ports.
    pub(crate) port_changes: PortChanges,
    /// What hosts add to each send.
    pub(crate) host_delays: HostDelays,
    /// The DMA rates of each NIC; empty without PCIe.
    pub(super) dma: ById<HostId, DmaRates>,
    /// What connects the NPUs of a host.
    pub(crate) scale_up: Option<ScaleUp>,
    /// NPUs that share each NIC.
    pub(crate) npus_per_nic: u32,
    /// The network as the transport of Ultra Ethernet knows it, where NICs have that.
    pub(super) ultra_ethernet: Option<Arc<UltraEthernetNetwork>>,
    /// In-band telemetry, if packets carry any.
    pub(super) telemetry: Option<Arc<Telemetry>>,
    /// What is different in a scheduled fabric.
    pub(crate) scheduled: Option<ScheduledFabric>,
    /// What frames need before they are sent; `None` where they need no credit.
    pub(crate) credit: Option<CreditSpec>,
    /// How frames wait at the inputs of switches, if they do.
    pub(crate) input_queued: Option<InputQueuedSpec>,
    /// What senders are told of long queues, if anything.
    pub(crate) signals: Option<SignalSpec>,
    pub(crate) addresses: ById<HostId, NicAddress>,
    pub(crate) jobs: ById<JobId, JobPlan>,
    pub(crate) progress: JobProgress,
    /// Whether packets are simulated, or flows.
    pub(crate) fidelity: Fidelity,
    pub(crate) seed: u64,
    pub(crate) seeds: Seeds,
    /// With more than this to wait for at circuits leaves send through the tree, where their load
    /// balancer may choose for each packet.
    pub(crate) spill: Option<Time>,
    /// Whether operations of graphs are recorded one by one.
    pub(crate) records_operations: bool,
    /// How long background jobs run on without the others, in ps.
    pub(crate) background_delay: Time,
    /// The ranks on each host, in order of job and so of slots.
    pub(crate) ranks: ById<HostId, Vec<RankHere>>,
    /// Where each node lives.
    pub(crate) homes: ById<NodeId, Home>,
}

impl Context {
    /// The topology.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Where a node of the topology lives.
    pub fn home(&self, node: impl Into<NodeId>) -> Home {
        self.homes[node.into()]
    }

    /// Hashes of all packets that travel between two hosts, in both directions, ascending.
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
                        hashes.push(self.hash(forth.back()));
                    }
                }
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    /// Hashes of all packets that a host sends, ascending.
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
                        hashes.push(self.hash(forth.back()));
                    }
                }
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    /// Adds all hashes of the packets by which a queue pair sends data.
    fn add_hashes(&self, base: u32, hashes: &mut Vec<u32>) {
        // Connection set-up has the queue pair's own.
        hashes.push(base);
        let entropy = self.port_changes.entropy.iter();
        hashes.extend(entropy.flat_map(|entropy| entropy.hashes(base)));
    }

    /// Whether packets are simulated. At flow level no queue pair of a NIC is used.
    pub(crate) fn has_packets(&self) -> bool {
        self.fidelity == Fidelity::Packet
    }

    /// The ranks on a host.
    pub(crate) fn ranks_on(&self, host: HostId) -> &[RankHere] {
        &self.ranks[host]
    }

    /// The number of a rank of a job among the ranks on its host.
    pub(crate) fn number_of(&self, host: HostId, job: JobId, rank: RankId) -> Option<u16> {
        let mut ranks = self.ranks_on(host).iter();
        let number = ranks.position(|here| (here.job, here.rank) == (job, rank))?;
        Some(number as u16)
    }

    /// Whether a rank is the first of its job on its host.
    pub(crate) fn is_first_there(&self, host: HostId, job: JobId, rank: RankId) -> bool {
        let mut ranks = self.ranks_on(host).iter();
        let first = ranks.find(|here| here.job == job);
        first.is_some_and(|here| here.rank == rank)
    }

    /// The rank a receive slot of a host belongs to, and its number there.
    pub(crate) fn rank_of_slot(&self, host: HostId, slot: ReceiveSlot) -> (u16, RankHere) {
        let ranks = self.ranks_on(host);
        let number = ranks.partition_point(|here| here.receive_base <= slot) - 1;
        (number as u16, ranks[number])
    }

    /// The way back from a receive slot of a host.
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

    /// How long a job has run at `now`.
    pub(crate) fn elapsed(&self, job: JobId, now: Instant) -> Time {
        let start = self.progress.start(job).unwrap_or(now);
        now.saturating_since(start)
    }

    /// A flow's number within its collective: densely from 0.
    pub(crate) fn flow_index(&self, key: FlowKey) -> usize {
        let queue_pairs = usize::from(self.jobs[key.job].job.queue_pairs);
        key.transfer as usize * queue_pairs + usize::from(key.queue_pair)
    }

    /// The NICs of a job with their line rates, rank by rank.
    pub(crate) fn nics_of(&self, job: JobId) -> Vec<(HostId, Rate)> {
        let hosts = self.jobs[job].job.hosts.iter();
        hosts
            .map(|&host| (host, self.topology.line_rate(host)))
            .collect()
    }

    /// Hash of the 5-tuple of packets of a queue pair.
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

    /// The UDP source port of a queue pair: fixed for its life, evenly spread over the dynamic
    /// range.
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
        let mixed = mix64(self.seeds.hashing ^ pair.rotate_left(17) ^ lane);
        FIRST_SOURCE_PORT | (mixed >> 48) as u16
    }

    /// How many inputs a node has: for each port one for data and one for MAC control frames; a
    /// host has one more from each NIC of its domain, and a leaf of a scheduled fabric from each
    /// leaf.
    pub fn inputs(&self, node: NodeId) -> u16 {
        let ports = 2 * self.topology.ports(node);
        let domain = self.scale_up.filter(|_| self.topology.is_host(node));
        let domain = domain.map_or(0, |domain| {
            (domain.npus_per_host / self.npus_per_nic) as u16
        });
        let fabric = self.scheduled.as_ref();
        ports + domain + fabric.map_or(0, |fabric| fabric.control_inputs(node))
    }

    /// The model of a switch.
    pub(crate) fn switch(&self, node: NodeId) -> &SwitchSpec {
        self.switches.of(&self.topology, node)
    }

    /// Whether two NICs belong to NPUs of the same scale-up domain.
    pub(crate) fn is_within_domain(&self, a: HostId, b: HostId) -> bool {
        self.scale_up
            .is_some_and(|domain| domain.joins_nics(self.npus_per_nic, a, b))
    }

    /// Whether a transfer of a job passes a domain and no NIC.
    pub(crate) fn is_carried(&self, job: JobId, transfer: &Transfer) -> bool {
        let [from, to] = self.jobs[job].job.ends(transfer);
        self.is_within_domain(from, to)
    }

    /// Where the ends of transfers from an NPU of one NIC to one of another of its domain go, or of
    /// the same.
    pub(super) fn domain_output(&self, from: HostId, to: HostId, domain: ScaleUp) -> Output {
        let Home { part, node } = self.home(to);
        let ports = 2 * self.topology.ports(to);
        let nics = domain.npus_per_host / self.npus_per_nic;
        Output {
            part,
            node,
            input: ports + (from.number() % nics) as u16,
        }
    }
}
