//! What flow control takes from the links: delays and headroom.

use tenter_endpoint::NicClasses;
use tenter_net::{Headrooms, PAUSE_FRAME_BYTES, WIRE_OVERHEAD_BYTES};
use tenter_topology::{CableEnd, HostId, NodeId};
use tenter_units::Time;
use tenter_workload::JobId;

use super::context::Context;

impl Context {
    /// Whether any node of the fabric may send MAC control frames or flow-control packets.
    fn may_send_control(&self) -> bool {
        self.delays().may_send_control(self.signals.is_some())
    }

    /// The classes of what a NIC sends.
    pub(crate) fn nic_classes(&self, host: HostId) -> NicClasses {
        let class = |class| self.class_on_wire(class);
        let data = self.addresses[host].class();
        let of_jobs = self.ranks_on(host).iter();
        let all_data = of_jobs.fold(0_u8, |bits, here| {
            bits | 1 << self.data_class(here.job, host)
        });
        let only = all_data.is_power_of_two().then(|| all_data.ilog2() as u8);
        // Pauses go between a NIC and its leaf.
        let leaf = self.switch(self.topology.neighbour(host, 0).node);
        let lossless = leaf.classes.iter();
        let lossless = lossless.filter(|class| class.lossless.is_some());
        NicClasses {
            data: only.unwrap_or_else(|| class(data)),
            all_data,
            control: class(self.nic.control_class().unwrap_or(data)),
            notification: class(self.nic.notification().map_or(data, |spec| spec.class)),
            lossless: lossless.fold(0, |bits, class| bits | 1 << class.class),
        }
    }

    /// The class that a class's packets carry: where it shares the queue of another, that one's
    /// number, so that switches, pauses and NICs speak of the same.
    fn class_on_wire(&self, class: u8) -> u8 {
        let classes = &self.switches.usual;
        let queue = classes.queue_of_class()[usize::from(class)];
        classes.classes[usize::from(queue)].class
    }

    /// The class in which a host sends the data of a job.
    pub(crate) fn data_class(&self, job: JobId, host: HostId) -> u8 {
        let own = self.jobs[job].job.class;
        let of_host = || self.addresses[host].class();
        self.class_on_wire(own.unwrap_or_else(of_host))
    }

    /// From the end of a pause frame sent through a port to the instant from which the other end
    /// obeys: the cable, and the response time. The same of a flow-control packet.
    pub(crate) fn mac_latency(&self, node: NodeId, port: u16) -> Time {
        let delay = self.topology.cable(node, port).delay;
        self.mac_latency_over(CableEnd { node, port }, delay)
    }

    /// The same where the way to the other end takes so long.
    pub(crate) fn mac_latency_over(&self, from: CableEnd, delay: Time) -> Time {
        self.delays().effect(from, delay)
    }

    /// How long after a circuit has come up frames may be sent from one end of it, so that pauses
    /// of the other end, which are said first, have acted before.
    pub(crate) fn circuit_guard(&self, from: CableEnd, to: CableEnd, delay: Time) -> Time {
        if !self.may_send_control() {
            return Time::ZERO;
        }
        let wire_bytes = u32::from(PAUSE_FRAME_BYTES) + WIRE_OVERHEAD_BYTES;
        let each = self.serialisation(to.node, to.port).of(wire_bytes, 0).0;
        let classes = self.switch(to.node).classes.len() as u64;
        // Departures come before arrivals of the same instant, and fractions of a picosecond count.
        let rest = self.mac_latency_over(from, delay) + Time::LEAST * 2;
        (each + Time::LEAST) * classes + rest
    }

    /// Which ports of a switch lead to hosts.
    pub(crate) fn leads_to_hosts(&self, node: NodeId) -> Vec<bool> {
        let peers = self.topology.neighbours(node);
        peers.map(|peer| self.topology.is_host(peer.node)).collect()
    }

    /// The headroom of each port and class of a switch.
    pub(crate) fn headrooms(&self, node: NodeId) -> Headrooms {
        let classes = self.switch(node).classes.iter();
        let classes: Vec<usize> = classes.map(|class| usize::from(class.class)).collect();
        let links = self.incoming.incoming(node);
        links
            .flat_map(|link| classes.iter().map(|class| link.headroom[*class]))
            .collect()
    }
}
