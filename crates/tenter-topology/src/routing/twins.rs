//! Leaves with the same neighbours, such as those of a pod: their routes are found once.

use std::collections::HashMap;

use super::search::SwitchGraph;
use crate::ids::SwitchId;
use crate::topology::Topology;

/// The groups of hosts in sets: the first of each stands for all of it, since no shortest path from
/// elsewhere tells one from another before its last switch.
pub(super) struct Twins {
    sets: Vec<Vec<usize>>,
}

/// Groups whose switches have the same neighbours.
#[derive(Clone, Copy)]
pub(super) struct TwinSet<'t> {
    /// The one that stands for all.
    pub(super) first: usize,
    pub(super) others: &'t [usize],
}

impl Twins {
    /// Those of a graph, with the switch of each group; each by itself where ways do not depend on
    /// neighbours alone.
    pub(super) fn new(topology: &Topology, graph: &SwitchGraph, switches: &[SwitchId]) -> Twins {
        let neighbours_of = |first: SwitchId| -> Vec<Vec<SwitchId>> {
            let planes = topology.on_planes(first);
            planes.map(|switch| graph.neighbours(switch)).collect()
        };
        let is_plain = topology.routes.is_empty() && topology.optics.switches().is_empty();
        let mut sets: Vec<Vec<usize>> = Vec::new();
        // Only looked up, never iterated.
        let mut known: HashMap<(Option<u32>, Vec<Vec<SwitchId>>), usize> = HashMap::new();
        for (group, &switch) in switches.iter().enumerate() {
            let neighbours = neighbours_of(switch);
            if !is_plain || neighbours.iter().any(Vec::is_empty) {
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

    pub(super) fn sets(&self) -> impl Iterator<Item = TwinSet<'_>> {
        let parts = self.sets.iter().filter_map(|set| set.split_first());
        parts.map(|(&first, others)| TwinSet { first, others })
    }
}
