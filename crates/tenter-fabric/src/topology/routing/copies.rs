//! Copies routes to twins: those to one leaf equal those to its twins, except at their neighbours
//! and at the twins themselves.

use super::port_lists::PortList;
use super::search::{Search, SwitchGraph};
use super::twins::TwinSet;
use super::{Routing, RoutingError, switches_on_path};
use crate::topology::graph::Topology;
use crate::topology::ids::{HostId, SwitchId};

impl Routing {
    /// Copies the routes to a group, which a search has just found, to the group's twins.
    pub(super) fn copy_to_twins(
        &mut self,
        graph: &SwitchGraph,
        search: &Search,
        set: TwinSet<'_>,
        switches: &[SwitchId],
    ) {
        let TwinSet { first, others } = set;
        if others.is_empty() {
            return;
        }
        for switch in graph.ids() {
            if search.distance[switch] != Search::UNSEEN {
                let row = switch.index() * self.groups;
                let list = self.table[row + first];
                for twin in others {
                    self.table[row + twin] = list;
                }
            }
        }
        for plane in 0..self.nic_ports {
            self.copy_ends(graph, set, |group: usize| switches[group].after(plane));
        }
    }

    /// Sets the last steps in routes to twins, and the routes between twins, on one plane.
    fn copy_ends(
        &mut self,
        graph: &SwitchGraph,
        set: TwinSet<'_>,
        switch_of: impl Fn(usize) -> SwitchId,
    ) {
        // A route from one twin to another goes up first, whichever the two are.
        let up = graph.nearest(switch_of(set.first));
        for &twin in set.others {
            let to = switch_of(twin);
            for next in graph.neighbours(to) {
                let ports: Vec<u16> = graph.ports_to(next, to).collect();
                let entry = self.entry(next, twin);
                self.table[entry] = self.lists.intern(&ports, self.table[entry]);
            }
            let entry = self.entry(switch_of(set.first), twin);
            self.table[entry] = self.lists.intern(&up, PortList::default());
            let entry = self.entry(to, twin);
            // Hosts on the switch itself have no entry: `candidates` answers with their own ports.
            self.table[entry] = PortList::default();
        }
    }

    /// Copies the path lengths to a group to its twins, and sets those between twins.
    pub(super) fn copy_distances(
        &mut self,
        topology: &Topology,
        set: TwinSet<'_>,
        leaders: &[HostId],
    ) -> Result<(), RoutingError> {
        let TwinSet { first, others } = set;
        for row in 0..self.groups {
            let distance = self.distances[row * self.groups + first];
            for twin in others {
                self.distances[row * self.groups + twin] = distance;
            }
        }
        for &twin in others {
            let own = switches_on_path(topology, leaders[twin], leaders[twin], 0)?;
            // Twins reach each other over any neighbour of both, in two links.
            let between = switches_on_path(topology, leaders[first], leaders[twin], 2)?;
            self.distances[twin * self.groups + twin] = own;
            self.distances[first * self.groups + twin] = between;
        }
        Ok(())
    }
}
