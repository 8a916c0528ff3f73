//! The published rule by itself: the heaviest matching for every optical switch, whatever its cost
//! to the tree.

use std::collections::BTreeSet;

use crate::topology::{NodeId, OpticalPlace, Rewiring, Topology};

use super::{Choice, Chooser};
use crate::steering::loads::estimate;
use crate::steering::matching::Demand;
use crate::steering::scenes::Scenes;

/// Chooses the matching's circuits without an estimate, as in the source: every optical switch in
/// turn gets the heaviest matching, and all of it is set, whatever its cost to the tree. One uplink
/// of each leaf stays. A switch that would have no way to any leaf gets links back from the pair
/// that sends least; if some leaf is still cut off, leaves keep more uplinks. `home` is as for
/// [`choose`](crate::steering::choose).
///
/// # Panics
/// As [`choose`](crate::steering::choose).
pub fn choose_greedily(home: &Topology, scenes: &Scenes, spills: bool) -> Choice {
    let mut search = Chooser::new(home, scenes, spills);
    // The source asks switches in their order.
    search.order = (0..search.order.len()).collect();
    let demand = scenes.demand(&BTreeSet::new());
    let mut questions = search.questions();
    // The published rule sets every circuit with traffic.
    questions.retain(|question| question.policy.least_share == 0);
    // From most circuits to fewest: the first set that leaves all switches reachable is taken.
    for question in questions.iter().rev() {
        let mut topology = search.answer(question);
        while let Some(switch) = topology.unreached() {
            let Some(rewiring) = search.way_back(&topology, switch, &demand) else {
                break;
            };
            topology.rewire(&rewiring);
        }
        if topology.unreached().is_none()
            && let Some(estimate) = estimate(&topology, scenes, spills)
        {
            return Choice { topology, estimate };
        }
    }
    let known = estimate(home, scenes, spills);
    Choice {
        topology: home.clone(),
        estimate: known.expect("the fabric joins its hosts"),
    }
}

impl Chooser<'_> {
    /// Returns the rewiring by which a switch gets links to the tree back: it undoes the circuit
    /// whose leaves send each other least, among those that took such links.
    fn way_back(&self, topology: &Topology, lost: NodeId, demand: &Demand) -> Option<Rewiring> {
        let switches = (0_u32..).zip(self.home.optics.switches());
        let places = switches.flat_map(|(switch, of)| {
            let ports = (0..).zip(&of.ports);
            let of_lost = ports.filter(|(_, port)| port.device.node == lost);
            of_lost.map(move |(port, _)| OpticalPlace { switch, port })
        });
        let taken = places.filter_map(|OpticalPlace { switch, port }| {
            let leaf_port = self.home.circuit(OpticalPlace { switch, port })?;
            let place = OpticalPlace {
                switch,
                port: leaf_port,
            };
            let pair = [leaf_port, topology.circuit(place)?];
            let [one, other] = pair.map(|port| self.leaf_at(switch, port));
            Some((demand.between(one?, other?), switch, pair))
        });
        // Of equal demands the first place counts, so that the choice is the same in every run.
        let (_, switch, pair) = taken.min()?;
        let home = |port: u16| Some((port, self.home.circuit(OpticalPlace { switch, port })?));
        Some(Rewiring {
            switch,
            pairs: pair.into_iter().filter_map(home).collect(),
            dark: Vec::new(),
        })
    }

    /// Returns the leaf at a port on an optical switch.
    fn leaf_at(&self, switch: u32, port: u16) -> Option<u32> {
        let mut ports = self.ports[switch as usize].iter();
        ports.find(|(of, _)| *of == port).map(|(_, leaf)| *leaf)
    }
}
