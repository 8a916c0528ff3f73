//! Links: where they lead, and their delays.

use crate::plan::{Delays, unloaded};
use tenter_engine::{Home, Output};
use tenter_fabric::net::FarEnd;
use tenter_fabric::topology::{CableEnd, HostId, NodeId};
use tenter_language::units::{Rate, SerialisationTime, Time};

use super::context::Context;

impl Context {
    /// Returns the parts that determine link delays.
    pub(crate) fn delays(&self) -> Delays<'_> {
        Delays {
            topology: &self.topology,
            switches: &self.switches,
            nic: &self.nic,
            credit: self.credit.as_ref(),
            seed: self.seed,
        }
    }

    /// Returns the inputs behind a port: one for data and one for MAC control frames. The latter
    /// follow those for data.
    pub(super) fn inputs_of(&self, end: CableEnd) -> [Output; 2] {
        let Home { part, node } = self.home(end.node);
        let ports = self.topology.ports(end.node);
        [end.port, ports + end.port].map(|input| Output { part, node, input })
    }

    /// Returns the latency of the link behind a port, from the wire to the other end's event list,
    /// and true if frames arrive there whole.
    pub(crate) fn link(&self, node: NodeId, port: u16) -> (Time, bool) {
        let cable = self.topology.cable(node, port);
        let peer = self.topology.neighbour(node, port).node;
        self.link_to(CableEnd { node, port }, peer, cable.delay)
    }

    /// Returns the same for a link to `peer` over a cable with `delay`.
    pub(crate) fn link_to(&self, from: CableEnd, peer: NodeId, delay: Time) -> (Time, bool) {
        let link = self.delays().link_to(from, peer, delay);
        (link.latency, link.stores)
    }

    /// Returns true if frames at `rate` arrive at `peer` whole.
    pub(crate) fn arrives_whole_at(&self, peer: NodeId, rate: Rate) -> bool {
        self.delays().arrives_whole_at(peer, rate)
    }

    /// Returns the far end of a switch port that a circuit joins with another.
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

    /// Returns the time per byte at a port of `node` with this rate, by the node's clock.
    pub(crate) fn serialisation_at(&self, node: NodeId, rate: Rate) -> SerialisationTime {
        self.delays().serialisation(node, rate)
    }

    /// Returns the time from a frame's first bit at one host to its last bit at another, on the
    /// path that takes the first equal-cost port everywhere, without other traffic.
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

    /// Returns the time from a full packet's first bit to the last bit of its acknowledgement,
    /// without other traffic.
    pub(crate) fn round_trip(&self, from: HostId, to: HostId) -> Time {
        let data = self.nic.longest_frame_bytes();
        let answer = self.nic.answer_frame_bytes();
        self.frame_time(from, to, data) + self.frame_time(to, from, answer)
    }
}
