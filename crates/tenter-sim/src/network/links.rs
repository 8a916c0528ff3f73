//! Where links lead, and how long they take.

use tenter_engine::{Home, Output};
use tenter_net::FarEnd;
use tenter_plan::{Delays, unloaded};
use tenter_topology::{CableEnd, HostId, NodeId};
use tenter_units::{Rate, SerialisationTime, Time};

use super::context::Context;

impl Context {
    /// What decides how long links take.
    pub(crate) fn delays(&self) -> Delays<'_> {
        Delays {
            topology: &self.topology,
            switches: &self.switches,
            nic: &self.nic,
            credit: self.credit.as_ref(),
            seed: self.seed,
        }
    }

    /// The inputs of a port of a node: for data, and for MAC control frames, which have inputs of
    /// their own behind those of data.
    pub(super) fn inputs_of(&self, end: CableEnd) -> [Output; 2] {
        let Home { part, node } = self.home(end.node);
        let ports = self.topology.ports(end.node);
        [end.port, ports + end.port].map(|input| Output { part, node, input })
    }

    /// Latency of the link behind a port, from the wire to the other end's event list, and whether
    /// frames arrive there whole.
    pub(crate) fn link(&self, node: NodeId, port: u16) -> (Time, bool) {
        let cable = self.topology.cable(node, port);
        let peer = self.topology.neighbour(node, port).node;
        self.link_to(CableEnd { node, port }, peer, cable.delay)
    }

    /// The same of a link with a propagation delay that leads to another node.
    pub(crate) fn link_to(&self, from: CableEnd, peer: NodeId, delay: Time) -> (Time, bool) {
        let link = self.delays().link_to(from, peer, delay);
        (link.latency, link.stores)
    }

    /// Whether frames of this rate arrive whole at a node.
    pub(crate) fn arrives_whole_at(&self, peer: NodeId, rate: Rate) -> bool {
        self.delays().arrives_whole_at(peer, rate)
    }

    /// What a port of a switch leads to when it is joined with another by a circuit.
    pub(crate) fn far_end(&self, from: CableEnd, to: CableEnd, delay: Time) -> FarEnd {
        let [output, mac_output] = self.inputs_of(to);
        let (latency, arrives_whole) = self.link_to(from, to.node, delay);
        FarEnd {
            output,
            latency,
            arrives_whole,
            mac_output,
            mac_latency: self.mac_latency_over(from, delay),
        }
    }

    pub(crate) fn serialisation(&self, node: NodeId, port: u16) -> SerialisationTime {
        self.serialisation_at(node, self.topology.cable(node, port).rate)
    }

    /// What bytes take at a port of a node that sends at a rate, by the node's clock.
    pub(crate) fn serialisation_at(&self, node: NodeId, rate: Rate) -> SerialisationTime {
        self.delays().serialisation(node, rate)
    }

    /// From the first bit of a frame at a host to its last at another, on a path that takes the
    /// first choice everywhere and that nobody else uses.
    fn frame_time(&self, from: HostId, to: HostId, frame_bytes: u32) -> Time {
        let first = CableEnd {
            node: from.node(),
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
    pub(crate) fn round_trip(&self, from: HostId, to: HostId) -> Time {
        let data = self.nic.longest_frame_bytes();
        let answer = self.nic.answer_frame_bytes();
        self.frame_time(from, to, data) + self.frame_time(to, from, answer)
    }
}
