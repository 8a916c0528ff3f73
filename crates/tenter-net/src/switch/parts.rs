//! What a switch is made of, whatever its model.

use std::sync::Arc;

use tenter_topology::{Routing, TreePlace};
use tenter_units::Time;

use crate::credit::CreditSpec;
use crate::load_balancing::{Balancer, Here, SwitchSite};
use crate::medium::{Event, EventKind, Medium};
use crate::packet::Packet;
use crate::port::{Port, PortRules};
use crate::signals::{Headers, SignalSpec, SignalWiring};
use crate::spec::SwitchSpec;
use crate::transmitter::Transmitter;

/// The headroom of a switch in bytes, for each port the one of each class.
pub type Headrooms = Vec<u64>;

/// What a switch is made of, whatever its model.
#[derive(Debug)]
pub struct SwitchParts<'a> {
    /// The node of the topology.
    pub node: u32,
    /// Its number among the switches.
    pub index: u32,
    /// Makes its draws and choices differ from those of other switches.
    pub seed: u32,
    /// The same for all switches: what they must agree on is drawn with it.
    pub shared_seed: u32,
    /// Its classes, buffer and load balancer.
    pub spec: &'a SwitchSpec,
    /// The transmitters of its ports, in order.
    pub transmitters: Vec<Transmitter>,
    /// The headroom of each port and class.
    pub headrooms: Headrooms,
    /// Which ports lead to hosts; it may be that only these are paused.
    pub to_host: Vec<bool>,
    /// Where it stands in the tree: routing by destination goes by it.
    pub place: TreePlace,
    /// Packets that would wait longer at every circuit straight to their leaf take the tree; then
    /// the load balancer must be one that
    /// [may](crate::load_balancing::LoadBalancing::may_spill).
    pub spill: Option<Time>,
    /// What it has to do with signals to senders, if anything.
    pub signals: Option<(SignalSpec, SignalWiring)>,
    /// Reads who sent a packet, where its load balancer tells hosts of long queues.
    pub headers: Option<Arc<dyn Headers>>,
}

impl<'a> SwitchParts<'a> {
    /// Those of a switch by itself, without any host.
    pub fn alone(
        spec: &'a SwitchSpec,
        transmitters: Vec<Transmitter>,
        headrooms: Headrooms,
    ) -> SwitchParts<'a> {
        SwitchParts {
            node: 0,
            index: 0,
            seed: 1,
            shared_seed: 1,
            spec,
            transmitters,
            headrooms,
            to_host: Vec::new(),
            place: TreePlace::ROOT,
            spill: None,
            signals: None,
            headers: None,
        }
    }

    /// How long a pause quantum lasts at each port, in ps.
    pub(super) fn quanta_ps(&self) -> Vec<u64> {
        let wires = self.transmitters.iter();
        wires.map(|wire| wire.pause_time(1)).collect()
    }

    /// The load balancer.
    pub(crate) fn balancer(&self) -> Balancer {
        let site = SwitchSite {
            ports: self.transmitters.len(),
            place: self.place,
            headers: self.headers.clone(),
            to_host: self.to_host.clone(),
            shared_seed: self.shared_seed,
        };
        Balancer::new(&self.spec.load_balancing, &site, self.spill)
    }
}

/// Ports, and what belongs to each of them or to all: what every model of a switch has.
#[derive(Clone, Debug)]
pub(crate) struct Chassis {
    pub(crate) node: u32,
    /// Its number among the switches.
    pub(crate) index: u32,
    pub(crate) ports: Vec<Port>,
    /// Frames and frame bytes that arrived, per port, without control frames.
    pub(crate) received: Vec<(u64, u64)>,
    pub(crate) rules: PortRules,
    /// The class of each queue.
    pub(crate) class_of: Vec<u8>,
}

impl Chassis {
    /// That of a switch whose ports may send by credit.
    pub(super) fn new(parts: SwitchParts<'_>, credit: Option<&CreditSpec>) -> Chassis {
        let classes = &parts.spec.classes;
        let rules = PortRules::new(classes, parts.seed);
        let wires = parts.transmitters.into_iter();
        let port = |wire| Port::new(wire, classes.len(), rules.marking_late, credit);
        let ports: Vec<Port> = wires.map(port).collect();
        Chassis {
            node: parts.node,
            index: parts.index,
            received: vec![(0, 0); ports.len()],
            ports,
            class_of: classes.iter().map(|class| class.class).collect(),
            rules,
        }
    }

    /// What a load balancer may look at.
    #[inline]
    pub(crate) fn here<'a>(&'a self, routing: &'a Routing) -> Here<'a> {
        Here {
            index: self.index,
            seed: self.rules.seed,
            ports: &self.ports,
            routing,
        }
    }

    /// Counts a frame that arrives through `input`.
    #[inline]
    pub(crate) fn count_arrival<M: Medium>(&mut self, packet: &Packet, input: u16, medium: &mut M) {
        let received = &mut self.received[usize::from(input)];
        received.0 += 1;
        received.1 += u64::from(packet.frame_bytes);
        self.note(EventKind::Arrived, packet, input, medium);
    }

    #[inline]
    pub(crate) fn note<M: Medium>(
        &self,
        kind: EventKind,
        packet: &Packet,
        port: u16,
        medium: &mut M,
    ) {
        if M::WATCHED {
            medium.note(Event {
                at: packet.at,
                node: self.node,
                port,
                kind,
                packet: *packet,
            });
        }
    }
}
