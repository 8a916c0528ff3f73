//! Parts that every model of a switch has.

use std::sync::Arc;

use crate::topology::{NodeId, Routing, SwitchId, TreePlace};
use tenter_language::units::{Instant, Time};

use crate::net::buffer::PendingControl;
use crate::net::class::CLASSES;
use crate::net::credit::CreditSpec;
use crate::net::load_balancing::{Balancer, Here, SwitchSite};
use crate::net::medium::{Event, EventKind, Medium};
use crate::net::packet::Packet;
use crate::net::port::{Port, PortRules};
use crate::net::signals::{Headers, SignalSpec, SignalWiring};
use crate::net::spec::SwitchSpec;
use crate::net::switch::region_classes::RegionClasses;
use crate::net::transmitter::Transmitter;

/// Headroom of a switch in bytes: for each port, that of each class.
pub type Headrooms = Vec<u64>;

/// Parts from which a switch of any model is made.
#[derive(Debug)]
pub struct SwitchParts<'a> {
    /// The switch's node in the topology.
    pub node: NodeId,
    /// Number of the switch, from which routing tables are found.
    pub index: SwitchId,
    /// Seed of the switch's draws and choices, by which they differ from other switches'.
    pub seed: u32,
    /// Seed that all switches share, for draws on which they must agree.
    pub shared_seed: u32,
    /// Classes, buffer and load balancer of the switch's tier.
    pub spec: &'a SwitchSpec,
    /// Transmitters of the ports, by port number.
    pub transmitters: Vec<Transmitter>,
    /// Headroom of each port and class, in bytes.
    pub headrooms: Headrooms,
    /// True for ports that lead to hosts; a pool trigger may pause only these.
    pub to_host: Vec<bool>,
    /// True for ports that lead to other regions.
    pub to_other_region: Vec<bool>,
    /// Place of the switch in its tree, by which routing by destination chooses.
    pub place: TreePlace,
    /// Longest wait at direct circuits: a packet that would wait longer at each of them takes the
    /// tree. The load balancer must be one that
    /// [may](crate::net::load_balancing::LoadBalancing::may_spill).
    pub spill: Option<Time>,
    /// Congestion signals to senders: their parameters, and the switch's part in them.
    pub signals: Option<(SignalSpec, SignalWiring)>,
    /// Reader of packets' senders, for load balancers that send congestion notices to hosts.
    pub headers: Option<Arc<dyn Headers>>,
}

impl<'a> SwitchParts<'a> {
    /// Makes the parts of a single switch, without hosts.
    pub fn alone(
        spec: &'a SwitchSpec,
        transmitters: Vec<Transmitter>,
        headrooms: Headrooms,
    ) -> SwitchParts<'a> {
        SwitchParts {
            node: NodeId::new(0),
            index: SwitchId::new(0),
            seed: 1,
            shared_seed: 1,
            spec,
            transmitters,
            headrooms,
            to_host: Vec::new(),
            to_other_region: Vec::new(),
            place: TreePlace::ROOT,
            spill: None,
            signals: None,
            headers: None,
        }
    }

    /// Returns the duration of a pause quantum (512 bits) at each port, in ps.
    pub(super) fn quanta_ps(&self) -> Vec<u64> {
        let wires = self.transmitters.iter();
        wires.map(|wire| wire.pause_time(1).ps()).collect()
    }

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

/// Ports, and what belongs to each or to all of them: the core of every model.
#[derive(Clone, Debug)]
pub(crate) struct Chassis {
    pub(crate) node: NodeId,
    /// Number of the switch, from which routing tables are found.
    pub(crate) index: SwitchId,
    pub(crate) ports: Vec<Port>,
    /// Frames and frame bytes that arrived through each port, without control frames.
    pub(crate) received: Vec<(u64, u64)>,
    pub(crate) rules: PortRules,
    /// Traffic class of each queue.
    pub(crate) class_of: Vec<u8>,
    /// Classes that change from region to region; `None` if none do at this switch.
    pub(super) region_classes: Option<Box<RegionClasses>>,
    /// True if packets may be [changed](QueuedSwitch::changed) as they arrive.
    pub(crate) changes_packets: bool,
}

impl Chassis {
    /// Makes the chassis of a switch, whose ports send by link credit if `credit` is given.
    pub(super) fn new(parts: SwitchParts<'_>, credit: Option<&CreditSpec>) -> Chassis {
        let classes = &parts.spec.classes;
        let rules = PortRules::new(classes, parts.seed);
        let wires = parts.transmitters.into_iter();
        let port = |wire| Port::new(wire, classes.len(), &rules, credit);
        let mut ports: Vec<Port> = wires.map(port).collect();
        let to_hosts = ports.iter_mut().zip(&parts.to_host);
        for (port, _) in to_hosts.filter(|(_, to_host)| **to_host) {
            port.lead_to_host(&rules);
        }
        let region_classes = RegionClasses::new(classes, parts.to_other_region);
        let has_detours = parts.spec.load_balancing.detours().is_some();
        Chassis {
            node: parts.node,
            index: parts.index,
            received: vec![(0, 0); ports.len()],
            ports,
            class_of: classes.iter().map(|class| class.class).collect(),
            rules,
            changes_packets: has_detours || region_classes.is_some(),
            region_classes: region_classes.map(Box::new),
        }
    }

    /// Returns a packet that arrives through `input` in the class that it has here.
    pub(super) fn in_own_class(&self, packet: &Packet, input: u16) -> Packet {
        match &self.region_classes {
            None => *packet,
            Some(classes) => packet.in_class(classes.class_of(packet, input)),
        }
    }

    /// Sends a control frame for a queue to the other end of a link. Packets may have several other
    /// classes there, each of which is sent a frame.
    #[inline]
    pub(super) fn send_pending<M: Medium>(
        &mut self,
        control: PendingControl,
        now: Instant,
        medium: &mut M,
    ) {
        let class = self.class_of[usize::from(control.queue)];
        let port = &mut self.ports[usize::from(control.port)];
        let Some(classes) = &self.region_classes else {
            return port.send_pending(class, control, now, medium);
        };
        let of_sender = classes.of_sender(control.port, class);
        for class in (0..CLASSES as u8).filter(|class| of_sender & (1 << class) != 0) {
            port.send_pending(class, control, now, medium);
        }
    }

    /// Implements [`Switch::classes_of_sender`](crate::net::Switch::classes_of_sender).
    pub(super) fn classes_of_sender(&self, port: u16, queue: usize) -> u8 {
        let class = self.class_of[queue];
        let changing = self.region_classes.as_ref();
        changing.map_or(1 << class, |classes| classes.of_sender(port, class))
    }

    /// Implements [`Switch::queue_behind`](crate::net::Switch::queue_behind).
    pub(super) fn queue_behind(&self, port: u16, queue: u8) -> u8 {
        let class = self.class_of[usize::from(queue)];
        // Any packet of the class will do; a pause is one without further fields.
        let own = self.in_own_class(&Packet::pause(class, 0), port);
        self.rules.queue(&own) as u8
    }

    /// Returns the view of the switch that its load balancer may read.
    #[inline]
    pub(crate) fn here<'a>(&'a self, routing: &'a Routing) -> Here<'a> {
        Here {
            index: self.index,
            seed: self.rules.seed,
            ports: &self.ports,
            routing,
        }
    }

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
