//! Optical circuit switches, and the electrical switches' ports that they join.
//!
//! An optical circuit switch has no buffer and reads no packet. It is a matching of its ports:
//! light that comes in through one leaves through the other, both ways. A circuit is one link
//! between two ports of electrical switches, as long as both fibres and the way through the optical
//! switch. The graph therefore has that link as a cable, and no node for the optical switch. A port
//! without a circuit is *dark*: its fibre leads back to itself in the graph, and carries nothing.
//!
//! Each fibre is a cable of its own, with the port it is plugged into as end 0, and the port at the
//! other end of the circuit as end 1. A circuit is thus two cables, one for each of its ports, and
//! cable numbers stay the same when circuits change.
//!
//! Source: Michelogiannakis et al., "Bandwidth Steering in HPC Using Silicon Nanophotonics", SC
//! 2019.

mod build;
mod spread;
mod switches;

use tenter_language::config::component;
use tenter_language::units::{ById, Time};

use crate::topology::{CableEnd, HostId, NodeId, SwitchId, Topology, TopologyError};

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
    /// Returns true if a cable is a fibre to an optical circuit switch.
    pub fn is_fibre(&self, cable: u32) -> bool {
        let end = self.cables[cable as usize].ends[0];
        self.optics.place(end).is_some()
    }

    /// Returns true if a port has no circuit.
    pub fn is_dark(&self, node: NodeId, port: u16) -> bool {
        self.neighbour(node, port) == CableEnd { node, port }
    }

    /// Returns the port with which an optical port is joined, if any.
    pub fn circuit(&self, place: OpticalPlace) -> Option<u16> {
        let CableEnd { node, port } = self.optics.port(place).device;
        let peer = self.optics.place(self.neighbour(node, port))?;
        (peer != place).then_some(peer.port)
    }

    /// Iterates over all circuits, ascending: the optical switch and its two ports, the lower one
    /// first.
    pub(crate) fn circuits(&self) -> impl Iterator<Item = (u32, u16, u16)> + '_ {
        let switches = (0_u32..).zip(&self.optics.switches);
        switches.flat_map(move |(switch, of)| {
            (0..of.ports.len() as u16).filter_map(move |port| {
                let peer = self.circuit(OpticalPlace { switch, port })?;
                (port < peer).then_some((switch, port, peer))
            })
        })
    }

    /// Iterates over the circuits between two leaves, as the leaves' ports.
    pub fn direct_circuits(&self) -> impl Iterator<Item = [CableEnd; 2]> + '_ {
        let ends = self.circuits().map(|(switch, a, b)| {
            [a, b].map(|port| self.optics.port(OpticalPlace { switch, port }).device)
        });
        ends.filter(|ends| ends.iter().all(|end| self.tier(end.node) == Some(0)))
    }

    /// Lists the ports on an optical switch whose circuit a rewiring ends or replaces, ascending.
    pub fn affected(&self, rewiring: &Rewiring) -> Vec<u16> {
        let at = |port| OpticalPlace {
            switch: rewiring.switch,
            port,
        };
        let changed = rewiring.pairs.iter();
        // Ports that are already joined as the rewiring says keep their circuit.
        let changed = changed.filter(|(a, b)| self.circuit(at(*a)) != Some(*b));
        let named = changed.flat_map(|&(a, b)| [a, b]);
        let dark = rewiring.dark.iter().copied();
        let dark = dark.filter(|&port| self.circuit(at(port)).is_some());
        let mut ports: Vec<u16> = named.chain(dark).collect();
        let peers: Vec<u16> = ports
            .iter()
            .filter_map(|&port| self.circuit(at(port)))
            .collect();
        // The ports they were joined with lose the circuit, too.
        ports.extend(peers);
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// Returns the first node that host 0 does not reach, if any. If circuits change, every switch
    /// must be reachable as well, since a packet on its way to one must find a way on.
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

    /// Returns for each switch whether it is a leaf that forwards other switches' traffic only if
    /// there is no other way. Empty if no switch is like that.
    pub(crate) fn last_resorts(&self) -> ById<SwitchId, bool> {
        // Without a tree, other leaves are the only way between two leaves.
        if !self.optics.has_tree {
            return ById::default();
        }
        let mut is_leaf: ById<SwitchId, bool> = vec![false; self.switches()].into();
        for leaf in self.leaves() {
            is_leaf[self.switch(leaf)] = true;
        }
        is_leaf
    }

    /// Sets circuits. The rewiring must have passed [`Topology::check_rewiring`].
    pub fn rewire(&mut self, rewiring: &Rewiring) {
        let switch = rewiring.switch;
        // Old circuits end at both ports before new ones are set.
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

    /// Takes the circuit from one port; the port it was joined with is left unchanged.
    fn darken(&mut self, place: OpticalPlace) {
        let OpticalPort { device, fibre } = self.optics.port(place);
        let through = self.optics.switches[place.switch as usize].delay;
        self.lead(device, device, fibre + through + fibre);
    }

    /// Points the fibre in port `from` at port `to`.
    fn lead(&mut self, from: CableEnd, to: CableEnd, delay: Time) {
        let cable = self.cable_number(from.node, from.port);
        let cable = &mut self.cables[cable as usize];
        cable.ends[1] = to;
        cable.delay = delay;
    }

    /// Checks that a rewiring names existing ports, none twice, and joins no two ports on one
    /// electrical switch.
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
        // Sorted, a port that is named twice stands beside itself.
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
