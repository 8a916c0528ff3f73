//! Routes that follow from the switches' arrangement.

use tenter_language::units::Budget;

use super::port_lists::PortList;
use super::search::SwitchGraph;
use super::{Routing, RoutingError, switches_on_path};
use crate::topology::graph::Topology;
use crate::topology::ids::SwitchId;
use crate::topology::shape::Shape;

/// Collects the ports to the next switches on a path.
struct NextPorts<'g> {
    graph: &'g SwitchGraph,
    ports: Vec<u16>,
    /// Switch and next switches for which `ports` was collected.
    last: (SwitchId, Vec<SwitchId>),
    /// Ports collected so far, as a measure for work.
    gathered: u64,
}

impl<'g> NextPorts<'g> {
    fn new(graph: &'g SwitchGraph) -> NextPorts<'g> {
        NextPorts {
            graph,
            ports: Vec::new(),
            last: (SwitchId::default(), Vec::new()),
            gathered: 0,
        }
    }

    /// Returns the ports by which `switch` reaches any `next` switch, ascending.
    fn of(&mut self, switch: SwitchId, next: &[SwitchId]) -> &[u16] {
        // Many destinations lie behind the same next switches.
        let (last, known) = &mut self.last;
        if *last == switch && known == next {
            return &self.ports;
        }
        *last = switch;
        known.clear();
        known.extend_from_slice(next);
        self.ports.clear();
        for &next in next {
            self.ports.extend(self.graph.ports_to(switch, next));
        }
        if next.len() > 1 {
            self.ports.sort_unstable();
            self.ports.dedup();
        }
        self.gathered += self.ports.len() as u64;
        &self.ports
    }
}

impl Routing {
    /// Fills the table from an arrangement in which all switches have hosts.
    pub(super) fn take_shape(
        &mut self,
        topology: &Topology,
        graph: &SwitchGraph,
        shape: &Shape,
        budget: &Budget,
    ) -> Result<(), RoutingError> {
        let leaders = self.leaders();
        let mut ports = NextPorts::new(graph);
        // All switches have hosts, so groups are the switches in order.
        for (from, switch) in graph.ids().enumerate() {
            // Parallel cables make port lists long. The work is charged one switch late, because it
            // is known only afterwards and differs little among switches.
            let gathered = std::mem::take(&mut ports.gathered);
            self.counted(budget, shape.units_of_paths() + gathered)?;
            let row = from * self.groups;
            let own = switches_on_path(topology, leaders[from], leaders[from], 0)?;
            self.distances[row + from] = own;
            let (table, distances) = (&mut self.table, &mut self.distances);
            let lists = &mut self.lists;
            let mut guess = PortList::default();
            let mut longest = (0, from);
            shape.paths(switch, |to, links, next| {
                guess = lists.intern(ports.of(switch, next), guess);
                table[row + to.index()] = guess;
                // A path that is too long is refused below, by the longest one.
                distances[row + to.index()] = links.saturating_add(1).min(u32::from(u8::MAX)) as u8;
                longest = longest.max((links, to.index()));
            });
            switches_on_path(topology, leaders[from], leaders[longest.1], longest.0)?;
        }
        Ok(())
    }

    /// Fills the region table from an arrangement.
    pub(super) fn take_regions_of(&mut self, graph: &SwitchGraph, shape: &Shape) {
        let mut ports = NextPorts::new(graph);
        let mut next = Vec::new();
        for switch in graph.ids() {
            let own = self.regions.of(switch);
            let others = (0..self.regions.count()).filter(|&region| region != own);
            let mut guess = PortList::default();
            for region in others {
                next.clear();
                shape.ways_into_region(switch, region, &mut next);
                guess = self.lists.intern(ports.of(switch, &next), guess);
                self.regions.set(switch, region, guess);
            }
        }
    }
}
