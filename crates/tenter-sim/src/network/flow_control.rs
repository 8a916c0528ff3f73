//! Delays and headroom that flow control derives from the links.

use tenter_endpoint::NicClasses;
use tenter_fabric::net::{Headrooms, PAUSE_FRAME_BYTES, WIRE_OVERHEAD_BYTES};
use tenter_fabric::topology::{CableEnd, HostId, NodeId};
use tenter_language::units::Time;
use tenter_workload::JobId;

use super::context::Context;

impl Context {
    /// Returns true if any node may send MAC control frames or flow-control packets.
    fn may_send_control(&self) -> bool {
        self.delays().may_send_control(self.signals.is_some())
    }

    /// Returns the traffic classes in which a NIC sends.
    pub(crate) fn nic_classes(&self, host: HostId) -> NicClasses {
        let class = |class| self.class_on_wire(class);
        let data = self.addresses[host].class();
        let of_jobs = self.ranks_on(host).iter();
        let all_data = of_jobs.fold(0_u8, |bits, here| {
            bits | 1 << self.data_class(here.job, host)
        });
        let only = all_data.is_power_of_two().then(|| all_data.ilog2() as u8);
        // Pauses pass only between a NIC and its leaf, so the leaf's classes decide.
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

    /// Returns the class that packets of `class` carry. If it shares another class's queue, that is
    /// the other's number, so that switches, pauses and NICs mean the same queue.
    fn class_on_wire(&self, class: u8) -> u8 {
        let classes = &self.switches.usual;
        let queue = classes.queue_of_class()[usize::from(class)];
        classes.classes[usize::from(queue)].class
    }

    /// Returns the class in which a host sends a job's data.
    pub(crate) fn data_class(&self, job: JobId, host: HostId) -> u8 {
        let own = self.jobs[job].job.class;
        let of_host = || self.addresses[host].class();
        self.class_on_wire(own.unwrap_or_else(of_host))
    }

    /// Returns the time from the end of a pause frame that is sent through `port` until it takes
    /// effect at the other end: the cable, and the response time. A flow-control packet takes as
    /// long.
    pub(crate) fn mac_latency(&self, node: NodeId, port: u16) -> Time {
        let delay = self.topology.cable(node, port).delay;
        self.mac_latency_over(CableEnd { node, port }, delay)
    }

    /// Returns the same time for a cable with `delay`.
    pub(crate) fn mac_latency_over(&self, from: CableEnd, delay: Time) -> Time {
        self.delays().effect(from, delay)
    }

    /// Returns the time after which frames may be sent over a circuit that has come up. By then the
    /// other end's pauses, which are sent first, have taken effect.
    pub(crate) fn circuit_guard(&self, from: CableEnd, to: CableEnd, delay: Time) -> Time {
        if !self.may_send_control() {
            return Time::ZERO;
        }
        let wire_bytes = u32::from(PAUSE_FRAME_BYTES) + WIRE_OVERHEAD_BYTES;
        // The other end may have to send a pause for each class, one after the other.
        let each = self.serialisation(to.node, to.port).of(wire_bytes, 0).0;
        let classes = self.switch(to.node).classes.len() as u64;
        // Departures precede arrivals at the same instant, and frame times may carry a fraction of
        // a picosecond: hence the extra picoseconds.
        let rest = self.mac_latency_over(from, delay) + Time::LEAST * 2;
        (each + Time::LEAST) * classes + rest
    }

    /// Returns for each switch port whether it leads to a host.
    pub(crate) fn leads_to_hosts(&self, node: NodeId) -> Vec<bool> {
        let peers = self.topology.neighbours(node);
        peers.map(|peer| self.topology.is_host(peer.node)).collect()
    }

    /// Returns the headroom for each port and class at a switch, in bytes, port after port.
    pub(crate) fn headrooms(&self, node: NodeId) -> Headrooms {
        let classes = self.switch(node).classes.iter();
        let classes: Vec<usize> = classes.map(|class| usize::from(class.class)).collect();
        let links = self.incoming.incoming(node);
        links
            .flat_map(|link| classes.iter().map(|class| link.headroom[*class]))
            .collect()
    }
}
