//! Builds the network's nodes from the context.

use std::fmt::Write;
use std::sync::Arc;

use crate::plan::{LinkImpairment, RulePlan};
use tenter_endpoint::{Nic, NicBuild};
use tenter_engine::{Output, Stream, mix64};
use tenter_fabric::net::impairment::{ImpairmentSpec, TesterRule};
use tenter_fabric::net::{
    Headers, MacControl, Packet, Sender, SignalMode, SignalSpec, SignalWiring, Switch, SwitchModel,
    SwitchParts, Transmitter,
};
use tenter_fabric::topology::{CableEnd, HostId, NodeId};

use super::context::Context;
use super::fabric::NodeModel;
use super::host::Host;
use super::jobs::RankHere;

/// Finds a packet's sender through the queue pair to which it belongs.
#[derive(Debug)]
pub(crate) struct PacketHeaders(pub(crate) Arc<Context>);

impl Headers for PacketHeaders {
    fn sender(&self, packet: &Packet) -> Sender {
        let path = self
            .0
            .reply_path(packet.destination, packet.receive_slot_under_way());
        Sender {
            host: path.destination,
            hash: path.hash,
            slot: path.slot,
        }
    }
}

impl Context {
    pub(super) fn transmitter(
        &self,
        sender: CableEnd,
        output: Output,
        mac_output: Output,
    ) -> Transmitter {
        let CableEnd { node, port } = sender;
        let (latency, arrives_whole) = self.link(node, port);
        let mac = MacControl {
            output: mac_output,
            latency: self.mac_latency(node, port),
            xoff_frames: 0,
            xon_frames: 0,
        };
        let mut transmitter = Transmitter::new(
            sender,
            output,
            self.serialisation(node, port),
            latency,
            arrives_whole,
            mac,
        );
        if let Some(telemetry) = &self.telemetry
            && !self.topology.is_host(node)
        {
            transmitter.write_telemetry(telemetry.clone());
        }
        if let Some(found) = self.impairments.iter().find(|of| of.sender == sender) {
            let name = self.topology.port_name(node, port);
            // Named by port, so that impairing another link leaves these draws as they are.
            let stream = Stream::new(self.seed, &name, "impairment");
            transmitter.impair(self.impairment(found), stream);
        }
        transmitter
    }

    fn impairment(&self, plan: &LinkImpairment) -> ImpairmentSpec {
        let rule = |rule: &RulePlan| TesterRule {
            kinds: rule.kinds,
            hashes: rule.from.map(|from| self.hashes_from(from)),
            destination: rule.to,
            strikes: rule.strikes,
            action: rule.action,
        };
        ImpairmentSpec {
            frame_loss: plan.frame_loss,
            bit_errors: plan.bit_errors,
            rules: plan.rules.iter().map(rule).collect(),
        }
    }

    pub(super) fn node(
        self: &Arc<Context>,
        node: NodeId,
        transmitters: Vec<Transmitter>,
    ) -> NodeModel {
        if let Some(host) = self.topology.host(node) {
            return NodeModel::Host(Box::new(self.host(host, transmitters)));
        }
        NodeModel::Switch(self.switch_node(node, transmitters))
    }

    fn switch_node(self: &Arc<Context>, node: NodeId, transmitters: Vec<Transmitter>) -> Switch {
        let index = self.topology.switch(node);
        let model = self.switch_model(node);
        let spec = self.switch(node);
        let spine = match &model {
            SwitchModel::Spine { spec: fabric, .. } => Some(spec.of_spine(fabric.indication)),
            _ => None,
        };
        let is_leaf = self.topology.tier(node) == Some(0);
        let notifies = spec.load_balancing.notifies_hosts().is_some();
        let parts = SwitchParts {
            node,
            index,
            seed: mix64(self.seeds.hashing ^ mix64(u64::from(index.number()))) as u32,
            shared_seed: mix64(self.seeds.hashing) as u32,
            headrooms: match spine {
                // A spine's only class is lossy and has no limit, so it pauses no sender.
                Some(_) => Vec::new(),
                None => self.headrooms(node),
            },
            spec: spine.as_ref().unwrap_or(spec),
            transmitters,
            to_host: self.leads_to_hosts(node),
            to_other_region: self.topology.borders(node),
            place: self.topology.tree_place(node),
            spill: self.spill.filter(|_| is_leaf),
            signals: self.switch_signals(node),
            headers: notifies.then(|| self.headers()),
        };
        Switch::new(parts, model)
    }

    /// Returns the object that finds packets' senders.
    fn headers(self: &Arc<Context>) -> Arc<dyn Headers> {
        Arc::new(PacketHeaders(Arc::clone(self)))
    }

    /// Returns a switch's model, by the kind of fabric.
    fn switch_model(&self, node: NodeId) -> SwitchModel<'_> {
        if let Some(fabric) = &self.scheduled {
            self.scheduled_model(node, fabric)
        } else if let Some(spec) = &self.input_queued {
            SwitchModel::InputQueued(spec)
        } else if let Some(spec) = &self.credit {
            SwitchModel::Credit(spec)
        } else {
            SwitchModel::OutputQueued
        }
    }

    fn host(&self, host: HostId, transmitters: Vec<Transmitter>) -> Host {
        let mut ports = transmitters.into_iter();
        let transmitter = ports.next().expect("a NIC has a port");
        // At flow level no queue pair is used, so none gets memory.
        let on_slots = self.ranks_on(host).iter().filter(|_| self.has_packets());
        let (send_slots, receive_slots) = on_slots.fold((0, 0), |(send, receive), here| {
            let pairs = &self.jobs[here.job].pairs;
            (
                send + pairs.send_count(here.rank),
                receive + pairs.receive_count(here.rank),
            )
        });
        let signals = self.signals.as_ref();
        let nic = Nic::new(NicBuild {
            host,
            spec: &self.nic,
            port_changes: &self.port_changes,
            classes: self.nic_classes(host),
            writer: host,
            transmitter,
            further_ports: ports.collect(),
            planes: 1,
            line: self.topology.line_rate(host),
            round_trip: self.round_trip_of_fabric,
            send_slots,
            receive_slots,
            dma: self.dma.get(host.index()).copied(),
            telemetry: self.telemetry.clone(),
            credit: self.credit.map(|spec| (spec, self.classes_of_leaf(host))),
            ultra_ethernet: self.ultra_ethernet.clone(),
            applies_signals: signals.is_some_and(|spec| spec.mode == SignalMode::Nic),
        });
        Host::new(nic, self.start_skew(host))
    }

    /// Returns a random stream for each rank on a host, from which start delays are drawn; empty
    /// without skew. A stream belongs to a NIC and a job (and to a rank, unless it is the job's
    /// first there), so another job does not change the delays.
    fn start_skew(&self, host: HostId) -> Box<[Stream]> {
        if self.nic.start_skew_max.is_zero() {
            return Box::default();
        }
        let nic = self.topology.name(host);
        let stream = |here: &RankHere| {
            let job = &self.jobs[here.job].job.name;
            let mut purpose = format!("start-skew of {job}");
            if !self.is_first_there(host, here.job, here.rank) {
                let _ = write!(purpose, ", rank {}", here.rank);
            }
            Stream::new(self.seeds.arrivals, nic, &purpose)
        };
        self.ranks_on(host).iter().map(stream).collect()
    }

    /// Returns the traffic classes that a host's leaf has, one bit each.
    fn classes_of_leaf(&self, host: HostId) -> u8 {
        let leaf = self.switch(self.topology.neighbour(host, 0).node);
        let classes = leaf.classes.iter();
        classes.fold(0, |bits, class| bits | 1 << class.class)
    }

    /// Returns a switch's part in congestion signals, if it has one.
    fn switch_signals(self: &Arc<Context>, node: NodeId) -> Option<(SignalSpec, SignalWiring)> {
        let spec = self.signals.as_ref()?;
        let peers = self.topology.neighbours(node).map(|peer| peer.node);
        let hosts = peers.map(|peer| self.topology.host(peer));
        let hosts: Vec<Option<HostId>> = hosts.collect();
        if !spec.concerns(&hosts) {
            return None;
        }
        let quantum = |host: HostId| {
            let serialisation = self.topology.cable(host, 0).rate.serialisation(0);
            // A pause quantum lasts 512 bit times, which is 64 bytes.
            serialisation.of(64, 0).0.ps()
        };
        let wiring = SignalWiring {
            headers: self.headers(),
            quantum_ps: self.topology.host_ids().map(quantum).collect(),
            hosts,
        };
        Some((*spec, wiring))
    }
}
