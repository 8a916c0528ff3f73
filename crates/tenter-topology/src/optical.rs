//! Optical circuit switches: the ports of electrical switches that they join.
//!
//! An optical circuit switch has no buffer and reads no packet. It is a matching of its ports:
//! light that comes in through one leaves through the other, both ways. A circuit is one link
//! between two ports of electrical switches, as long as both fibres and the way through the switch;
//! so the graph has that link as a cable, and no node for the optical switch. A port without a
//! circuit is *dark*: its fibre leads back to itself in the graph, and carries nothing.
//!
//! Each fibre is a cable of its own, whose end 0 is the port it is plugged into and whose end 1 is
//! the port at the other end of the circuit. A circuit is thus two cables, one for each of its
//! ports, and the numbers of cables stay what they are when circuits change.
//!
//! Source: Michelogiannakis et al., "Bandwidth Steering in HPC Using Silicon Nanophotonics", SC
//! 2019.

mod build;
mod spread;
mod switches;

use tenter_config::component;
use tenter_units::{ById, Time};

use crate::{CableEnd, HostId, NodeId, SwitchId, Topology, TopologyError};

pub use build::{OpticalCabling, OpticalSpec, OpticalTier};
pub use switches::{OpticalPlace, OpticalPort, OpticalSwitch, Optics};

component! {
    /// New circuits of one optical switch. A port in a circuit with one of its ports loses it;
    /// ports that are not concerned keep theirs.
    pub struct Rewiring as "`fabric.circuits.initial[]` and `fabric.circuits.changes[].circuits[]`", derive(Clone, Debug, Default, PartialEq, Eq) {
        /// The optical switch, counted from 0.
        switch: u32, in 0..=u32::MAX;
        /// Ports that are joined, counted from 0: `[[0, 1], [4, 5]]`; a port that was joined with
        /// one of them is dark unless it is in a pair too.
        pairs: Vec<(u16, u16)> = "[]", in 0..=u16::MAX;
        /// Ports that lose their circuit and get no other.
        dark: Vec<u16> = "[]", in 0..=u16::MAX;
    }
}

impl Topology {
    /// Whether a cable is a fibre to an optical circuit switch.
    pub fn is_fibre(&self, cable: u32) -> bool {
        let end = self.cables[cable as usize].ends[0];
        self.optics.place(end).is_some()
    }

    /// Whether a port has no circuit.
    pub fn is_dark(&self, node: NodeId, port: u16) -> bool {
        self.neighbour(node, port) == CableEnd { node, port }
    }

    /// The port with which a port of an optical switch is joined, if any.
    pub fn circuit(&self, place: OpticalPlace) -> Option<u16> {
        let CableEnd { node, port } = self.optics.port(place).device;
        let peer = self.optics.place(self.neighbour(node, port))?;
        (peer != place).then_some(peer.port)
    }

    /// All circuits: the optical switch and two ports, the lower one first, in ascending order.
    pub fn circuits(&self) -> impl Iterator<Item = (u32, u16, u16)> + '_ {
        let switches = (0_u32..).zip(&self.optics.switches);
        switches.flat_map(move |(switch, of)| {
            (0..of.ports.len() as u16).filter_map(move |port| {
                let peer = self.circuit(OpticalPlace { switch, port })?;
                (port < peer).then_some((switch, port, peer))
            })
        })
    }

    /// The circuits between two leaves, by the ports at both ends.
    pub fn direct_circuits(&self) -> impl Iterator<Item = [CableEnd; 2]> + '_ {
        let ends = self.circuits().map(|(switch, a, b)| {
            [a, b].map(|port| self.optics.port(OpticalPlace { switch, port }).device)
        });
        ends.filter(|ends| ends.iter().all(|end| self.tier(end.node) == Some(0)))
    }

    /// The ports of an optical switch whose circuit a rewiring takes or replaces, ascending.
    pub fn affected(&self, rewiring: &Rewiring) -> Vec<u16> {
        let at = |port| OpticalPlace {
            switch: rewiring.switch,
            port,
        };
        let changed = rewiring.pairs.iter();
        let changed = changed.filter(|(a, b)| self.circuit(at(*a)) != Some(*b));
        let named = changed.flat_map(|&(a, b)| [a, b]);
        let dark = rewiring.dark.iter().copied();
        let dark = dark.filter(|&port| self.circuit(at(port)).is_some());
        let mut ports: Vec<u16> = named.chain(dark).collect();
        let peers: Vec<u16> = ports
            .iter()
            .filter_map(|&port| self.circuit(at(port)))
            .collect();
        ports.extend(peers);
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// The first node that host 0 does not reach, if there is one. With circuits that change
    /// switches must be reached as well: a packet on its way to one must find a way on.
    pub fn unreached(&self) -> Option<NodeId> {
        let mut seen: ById<NodeId, bool> = vec![false; self.nodes.len()].into();
        let mut waiting = vec![HostId::new(0).node()];
        *seen.first_mut()? = true;
        while let Some(node) = waiting.pop() {
            for peer in self.neighbours(node) {
                if !std::mem::replace(&mut seen[peer.node], true) {
                    waiting.push(peer.node);
                }
            }
        }
        self.node_ids().find(|node| !seen[*node])
    }

    /// By switch: whether it is a leaf that forwards traffic of other
    /// switches only without another way. Empty if none is like that.
    pub(crate) fn last_resorts(&self) -> ById<SwitchId, bool> {
        if !self.optics.has_tree {
            return ById::default();
        }
        let mut is_leaf: ById<SwitchId, bool> = vec![false; self.switches()].into();
        for leaf in self.leaves() {
            is_leaf[self.switch(leaf)] = true;
        }
        is_leaf
    }

    /// Changes circuits. The rewiring must have passed [`Topology::check_rewiring`].
    pub fn rewire(&mut self, rewiring: &Rewiring) {
        let switch = rewiring.switch;
        for port in self.affected(rewiring) {
            self.darken(OpticalPlace { switch, port });
        }
        for &(a, b) in &rewiring.pairs {
            let places = [a, b].map(|port| OpticalPlace { switch, port });
            let ports = places.map(|place| self.optics.port(place));
            let through = self.optics.switches[switch as usize].delay;
            let delay = ports[0].fibre + through + ports[1].fibre;
            self.lead(ports[0].device, ports[1].device, delay);
            self.lead(ports[1].device, ports[0].device, delay);
        }
    }

    /// Takes the circuit from a port, and from that alone.
    fn darken(&mut self, place: OpticalPlace) {
        let OpticalPort { device, fibre } = self.optics.port(place);
        let through = self.optics.switches[place.switch as usize].delay;
        self.lead(device, device, fibre + through + fibre);
    }

    fn lead(&mut self, from: CableEnd, to: CableEnd, delay: Time) {
        let cable = self.cable_number(from.node, from.port);
        let cable = &mut self.cables[cable as usize];
        cable.ends[1] = to;
        cable.delay = delay;
    }

    /// Checks that a rewiring names existing ports, none of them twice, and joins no two ports of
    /// one electrical switch.
    ///
    /// # Errors
    /// [`TopologyError::Circuit`] with the first error.
    pub fn check_rewiring(&self, rewiring: &Rewiring) -> Result<(), TopologyError> {
        let switches = self.optics.switches();
        let Some(switch) = switches.get(rewiring.switch as usize) else {
            return Err(TopologyError::Circuit {
                switch: format!("ocs{}", rewiring.switch),
                what: format!(
                    "is none of the {} optical switches; they are counted from 0",
                    switches.len()
                ),
            });
        };
        let wrong = |what: String| {
            Err(TopologyError::Circuit {
                switch: switch.name.clone(),
                what,
            })
        };
        let joined = rewiring.pairs.iter().flat_map(|&(a, b)| [a, b]);
        let mut ports: Vec<u16> = joined.chain(rewiring.dark.iter().copied()).collect();
        if let Some(port) = ports
            .iter()
            .find(|port| usize::from(**port) >= switch.ports.len())
        {
            let last = switch.ports.len() - 1;
            return wrong(format!("has no port {port}; its ports are 0 to {last}"));
        }
        ports.sort_unstable();
        let mut neighbours = ports.iter().zip(ports.iter().skip(1));
        if let Some((twice, _)) = neighbours.find(|(one, other)| one == other) {
            return wrong(format!(
                "is given port {twice} twice; a port is in one circuit at most"
            ));
        }
        for &(a, b) in &rewiring.pairs {
            let [one, other] = [a, b].map(|port| switch.ports[usize::from(port)].device);
            if one.node == other.node {
                let name = self.name(one.node);
                return wrong(format!(
                    "joins ports {a} and {b}, which are both of `{name}`; join two different switches"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
