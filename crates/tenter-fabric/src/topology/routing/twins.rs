//! Twins: leaves with the same neighbours, such as those in a pod, whose routes are searched once.

use std::collections::HashMap;

use super::search::SwitchGraph;
use crate::topology::graph::Topology;
use crate::topology::ids::SwitchId;

/// Groups in sets. A set's first group represents it: no shortest path from elsewhere distinguishes
/// its groups before the last switch.
pub(super) struct Twins {
    sets: Vec<Vec<usize>>,
}

/// Groups whose switches have the same neighbours.
#[derive(Clone, Copy)]
pub(super) struct TwinSet<'t> {
    /// Group that represents the set.
    pub(super) first: usize,
    pub(super) others: &'t [usize],
}

impl Twins {
    /// Finds the twins among `switches`, which has each group's switch. Every group is a set by
    /// itself if routes depend on more than neighbours.
    pub(super) fn new(topology: &Topology, graph: &SwitchGraph, switches: &[SwitchId]) -> Twins {
        let neighbours_of = |first: SwitchId| -> Vec<Vec<SwitchId>> {
            let planes = topology.on_planes(first);
            planes.map(|switch| graph.neighbours(switch)).collect()
        };
        let is_plain = topology.routes.is_empty() && topology.optics.switches().is_empty();
        let mut sets: Vec<Vec<usize>> = Vec::new();
        // Only looked up, never iterated, so its order does not matter.
        let mut known: HashMap<(Option<u32>, Vec<Vec<SwitchId>>), usize> = HashMap::new();
        for (group, &switch) in switches.iter().enumerate() {
            let neighbours = neighbours_of(switch);
            // Static routes and circuits single out leaves, and a leaf without neighbours has no
            // routes.
            if !is_plain || neighbours.iter().any(Vec::is_empty) {
                sets.push(vec![group]);
                continue;
            }
            // Leaves with equal neighbours in different regions have routes of different lengths.
            let region = graph.regions.get(switch.index()).copied();
            let set = *known.entry((region, neighbours)).or_insert(sets.len());
            match sets.get_mut(set) {
                Some(set) => set.push(group),
                None => sets.push(vec![group]),
            }
        }
        Twins { sets }
    }

    pub(super) fn sets(&self) -> impl Iterator<Item = TwinSet<'_>> {
        let parts = self.sets.iter().filter_map(|set| set.split_first());
        parts.map(|(&first, others)| TwinSet { first, others })
    }
}
