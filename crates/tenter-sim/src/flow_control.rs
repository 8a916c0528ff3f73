//! What priority flow control takes from the links: delays, headroom, lookahead.

use tenter_endpoint::NicClasses;
use tenter_net::headroom::{PausedLink, Senders, incoming, response_time};
use tenter_net::{Headrooms, PAUSE_FRAME_BYTES, WIRE_OVERHEAD_BYTES};

use crate::build::Context;

impl Context {
    /// Whether any node of the fabric may send pause frames.
    pub(crate) fn may_pause(&self) -> bool {
        let lossless = |class: &tenter_net::ClassSpec| class.lossless.is_some();
        let nic = self.nic.receive_buffer.as_ref();
        self.switch.classes.iter().any(lossless) || nic.is_some_and(|nic| nic.xoff_bytes.is_some())
    }

    /// The classes of what a NIC sends.
    pub(crate) fn nic_classes(&self, node: u32) -> NicClasses {
        // Where a class shares the queue of another, its packets carry that one's number, so that
        // switches, pauses and NICs speak of the same.
        let queues = self.switch.queue_of_class();
        let class = |class: u8| {
            let queue = queues[usize::from(class)];
            self.switch.classes[usize::from(queue)].class
        };
        let data = self.addresses[node as usize].class();
        let lossless = self.switch.classes.iter();
        let lossless = lossless.filter(|class| class.lossless.is_some());
        NicClasses {
            data: class(data),
            control: class(self.nic.control_class.unwrap_or(data)),
            notification: class(self.nic.notification.map_or(data, |spec| spec.class)),
            lossless: lossless.fold(0, |bits, class| bits | 1 << class.class),
        }
    }

    /// From the end of a pause frame sent through a port to the instant from which the other end
    /// obeys: the cable, and the response time.
    pub(crate) fn mac_latency(&self, node: u32, port: u16) -> u64 {
        let cable = self.topology.cable(node, port);
        cable.delay.ps() + response_time(cable.rate).ps()
    }

    /// The shortest time in which a pause frame acts on another node, if there are any.
    pub(crate) fn pause_lookahead(&self) -> Option<u64> {
        let wire_bytes = u32::from(PAUSE_FRAME_BYTES) + WIRE_OVERHEAD_BYTES;
        let nodes = (0..).zip(&self.topology.nodes);
        let ports =
            nodes.flat_map(|(node, of)| (0..of.ports.len() as u16).map(move |port| (node, port)));
        let times = ports.map(|(node, port)| {
            self.serialisation(node, port).of(wire_bytes, 0).0.ps() + self.mac_latency(node, port)
        });
        times.min().filter(|_| self.may_pause())
    }

    /// The headroom of each port and class of a switch.
    pub(crate) fn headrooms(&self, node: u32) -> Headrooms {
        let senders = Senders {
            frame_bytes: self.nic.longest_frame_bytes(),
            transmit_latency: self.nic.transmit_latency,
            fast_ppm: self.nic.clock_offset_max_ppm,
        };
        let classes = &self.switch.classes;
        let of_link = |link: PausedLink| {
            let lossless = classes.iter().map(|class| class.lossless.as_ref());
            lossless.map(move |class| class.map_or(0, |class| class.headroom.bytes(&link)))
        };
        let links = incoming((&self.topology, &self.switch), node, &senders);
        links.flat_map(of_link).collect()
    }
}
