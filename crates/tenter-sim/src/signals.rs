//! Signals to senders: who is behind a packet, and what came of them.

use std::sync::Arc;

use tenter_endpoint::{Nic, Reaction};
use tenter_net::{Cause, Headers, Packet, Sender, SignalMode, SignalWiring, Switch};
use tenter_plan::unloaded;
use tenter_record::{Digest, ReactionRow, SignalRow};
use tenter_units::Time;

use crate::build::Context;
use crate::driver::Driver;
use crate::fabric::NodeModel;
use crate::summary::nodes;

/// Marks its records in the digest.
const SIGNALS: u64 = 14;

/// Reads senders out of the queue pairs that packets belong to.
#[derive(Debug)]
pub(crate) struct PacketHeaders(pub(crate) Arc<Context>);

impl Headers for PacketHeaders {
    fn sender(&self, packet: &Packet) -> Sender {
        let path = self.0.reply_path(packet.destination, packet.queue_pair);
        Sender {
            host: path.destination,
            hash: path.hash,
            slot: path.slot,
        }
    }
}

impl Context {
    /// Lets a switch tell hosts of long queues, where its load balancer does.
    pub(crate) fn give_headers(self: &Arc<Context>, node: u32, switch: &mut Switch) {
        if self.switch(node).load_balancing.notifies_hosts().is_some() {
            switch.notify_hosts(Arc::new(PacketHeaders(Arc::clone(self))));
        }
    }

    /// Lets a switch that has to do with signals do so.
    pub(crate) fn give_signals(self: &Arc<Context>, node: u32, switch: &mut Switch) {
        let Some(spec) = &self.signals else {
            return;
        };
        let peers = self.topology.neighbours(node).map(|peer| peer.node);
        let hosts = peers.map(|peer| self.topology.is_host(peer).then_some(peer));
        let hosts: Vec<Option<u32>> = hosts.collect();
        if !spec.concerns(&hosts) {
            return;
        }
        let quantum = |host: u32| {
            let serialisation = self.topology.cable(host, 0).rate.serialisation(0);
            serialisation.of(64, 0).0.ps()
        };
        let wiring = SignalWiring {
            headers: Arc::new(PacketHeaders(Arc::clone(self))),
            quantum_ps: (0..self.topology.hosts as u32).map(quantum).collect(),
            hosts,
        };
        switch.signal_to_senders(spec, wiring);
    }

    /// Lets a NIC obey signals, if they are for NICs.
    pub(crate) fn obey_signals(&self, node: u32, nic: &mut Nic) {
        let mode = self.signals.as_ref().map(|spec| spec.mode);
        if mode == Some(SignalMode::Nic) {
            nic.obey_signals(&self.nic, self.topology.cable(node, 0).rate);
        }
    }

    /// From the first bit of a frame at a host to its last at another, on a path that takes the
    /// first choice everywhere and that nobody else uses.
    fn frame_time(&self, from: u32, to: u32, frame_bytes: u32) -> Time {
        let first = tenter_topology::CableEnd {
            node: from,
            port: 0,
        };
        let rest = self.routing.path(&self.topology, from, to);
        let ends = std::iter::once(first).chain(rest);
        let links = ends.map(|end| {
            let (latency, stores) = self.link(end.node, end.port);
            let rate = self.topology.cable(end.node, end.port).rate;
            unloaded::Link {
                rate,
                latency,
                stores,
            }
        });
        unloaded::frame_time(&links.collect::<Vec<_>>(), frame_bytes)
    }

    /// From the first bit of a full packet to the last of its acknowledgement, while nothing else
    /// is sent.
    fn round_trip(&self, from: u32, to: u32) -> Time {
        let data = self.nic.longest_frame_bytes();
        let answer = u32::from(tenter_net::ACK_FRAME_BYTES);
        self.frame_time(from, to, data) + self.frame_time(to, from, answer)
    }
}

/// What switches have told senders, switch after switch.
pub(crate) fn of_switches<D: Driver>(driver: &D) -> Vec<SignalRow> {
    let topology = driver.fabric(0).context().topology();
    let row = |(node, model): (u32, &NodeModel)| {
        let NodeModel::Switch(switch) = model else {
            return None;
        };
        let record = switch.signal_record()?;
        let ports = 0..switch.ports().len() as u16;
        let classes = switch.classes().iter();
        let frames = classes.flat_map(|&class| {
            let ports = ports.clone();
            ports.map(move |port| switch.signalled_pauses(port, class))
        });
        Some(SignalRow {
            node,
            node_name: topology.nodes[node as usize].name.clone(),
            tx_signal_frames: record.sent,
            suppressed_frames: record.suppressed,
            converted_frames: record.converted,
            own_senders: record.own_senders,
            cache_hits: record.cache_hits,
            cache_refused: record.cache_refused,
            covered: record.covered,
            tx_xoff_frames: frames.sum(),
        })
    };
    nodes(driver).filter_map(row).collect()
}

/// How fast senders were told, sender after sender; nothing where none were.
pub(crate) fn reactions<D: Driver>(driver: &D, ended: u64) -> Vec<ReactionRow> {
    let context = driver.fabric(0).context();
    let hosts = nodes(driver).filter_map(|(node, model)| match model {
        NodeModel::Host(host) => Some((node, host.nic())),
        NodeModel::Switch(_) => None,
    });
    let row = |(node, nic): (u32, &Nic), (receiver, cause, of): (u32, Cause, &Reaction)| {
        let name = |node: u32| context.topology.nodes[node as usize].name.clone();
        let [least, mean, most] = of.extremes().map(Time::from_ps);
        ReactionRow {
            sender: node,
            sender_name: name(node),
            receiver,
            receiver_name: name(receiver),
            cause: match cause {
                Cause::Signal => "signal",
                Cause::OwnQueue => "own-queue",
                Cause::Cache => "cache",
            }
            .to_owned(),
            pauses: of.count(),
            reaction_min: least,
            reaction_mean: mean,
            reaction_p50: Time::from_ps(of.per_mille(500)),
            reaction_p99: Time::from_ps(of.per_mille(990)),
            reaction_max: most,
            round_trip: context.round_trip(node, receiver),
            held: Time::from_ps(nic.held(receiver, ended)),
        }
    };
    let rows = hosts.flat_map(|(node, nic)| {
        let reactions = nic.reactions().iter();
        reactions.map(move |of| row((node, nic), of))
    });
    rows.collect()
}

/// Adds what a switch has counted to the digest; nothing where it has to do with no signals.
pub(crate) fn add_switch(switch: &Switch, node: u64, digest: &mut Digest) {
    let Some(record) = switch.signal_record() else {
        return;
    };
    digest.add(&[SIGNALS, node, record.sent, record.suppressed]);
    digest.add(&[record.converted, record.own_senders, record.covered]);
    digest.add(&[record.cache_hits, record.cache_refused]);
}

/// Adds how fast a NIC was told to the digest.
pub(crate) fn add_nic(nic: &Nic, node: u64, ended: u64, digest: &mut Digest) {
    for (receiver, cause, of) in nic.reactions().iter() {
        let [least, mean, most] = of.extremes();
        digest.add(&[SIGNALS, node, u64::from(receiver), cause as u64, of.count()]);
        digest.add(&[
            least,
            mean,
            most,
            of.per_mille(500),
            nic.held(receiver, ended),
        ]);
    }
}
