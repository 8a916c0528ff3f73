//! Leaves with the same neighbours, such as those of a pod: their routes are found once.

use std::collections::HashMap;

use super::port_lists::PortList;
use super::search::{Search, SwitchGraph};
use super::{Routing, RoutingError, switches_on_path};
use crate::ids::{HostId, SwitchId};
use crate::topology::Topology;

/// The groups of hosts in sets: the first of each stands for all of it, since no shortest path from
/// elsewhere tells one from another before its last switch.
pub(super) struct Twins {
    sets: Vec<Vec<usize>>,
}

impl Twins {
    /// Those of a graph, with the switch of each group; each by itself where ways do not depend on
    /// neighbours alone.
    pub(super) fn new(topology: &Topology, graph: &SwitchGraph, switches: &[SwitchId]) -> Twins {
        let is_plain = topology.routes.is_empty() && topology.optics.switches().is_empty();
        let mut sets: Vec<Vec<usize>> = Vec::new();
        // Only looked up, never iterated.
        let mut known: HashMap<(Option<u32>, Vec<SwitchId>), usize> = HashMap::new();
        for (group, &switch) in switches.iter().enumerate() {
            let neighbours = graph.neighbours(switch);
            if !is_plain || neighbours.is_empty() {
                sets.push(vec![group]);
                continue;
            }
            let region = graph.regions.get(switch.index()).copied();
            let set = *known.entry((region, neighbours)).or_insert(sets.len());
            match sets.get_mut(set) {
                Some(set) => set.push(group),
                None => sets.push(vec![group]),
            }
        }
        Twins { sets }
    }

    /// Each set: the group that stands for it, and the others.
    pub(super) fn sets(&self) -> impl Iterator<Item = (usize, &[usize])> {
        let parts = self.sets.iter().filter_map(|set| set.split_first());
        parts.map(|(first, others)| (*first, others))
    }
}

impl Routing {
    /// Copies the routes to a group, which a search has just found, to its twins.
    pub(super) fn copy_to_twins(
        &mut self,
        graph: &SwitchGraph,
        search: &Search,
        (first, twins): (usize, &[usize]),
        switches: &[SwitchId],
    ) {
        if twins.is_empty() {
            return;
        }
        for switch in graph.ids() {
            if search.distance[switch] != Search::UNSEEN {
                let row = switch.index() * self.groups;
                let list = self.table[row + first];
                for twin in twins {
                    self.table[row + twin] = list;
                }
            }
        }
        // The way from one twin to another is the same from all of them.
        let up = graph.nearest(switches[first]);
        for &twin in twins {
            let to = switches[twin];
            for next in graph.neighbours(to) {
                let ports: Vec<u16> = graph.ports_to(next, to).collect();
                let entry = self.entry(next, twin);
                self.table[entry] = self.lists.intern(&ports, self.table[entry]);
            }
            let entry = self.entry(switches[first], twin);
            self.table[entry] = self.lists.intern(&up, PortList::default());
            let entry = self.entry(to, twin);
            self.table[entry] = PortList::default();
        }
    }

    /// The same of the lengths of paths.
    pub(super) fn copy_distances(
        &mut self,
        topology: &Topology,
        (first, twins): (usize, &[usize]),
        leaders: &[HostId],
    ) -> Result<(), RoutingError> {
        for row in 0..self.groups {
            let distance = self.distances[row * self.groups + first];
            for twin in twins {
                self.distances[row * self.groups + twin] = distance;
            }
        }
        for &twin in twins {
            let own = switches_on_path(topology, leaders[twin], leaders[twin], 0)?;
            let between = switches_on_path(topology, leaders[first], leaders[twin], 2)?;
            self.distances[twin * self.groups + twin] = own;
            self.distances[first * self.groups + twin] = between;
        }
        Ok(())
    }
}
