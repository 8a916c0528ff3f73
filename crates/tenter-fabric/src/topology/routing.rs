//! Shortest-path routing over all equal-cost ports, with static routes that override it.

mod copies;
mod error;
mod longest;
mod port_lists;
mod regions;
mod search;
mod shaped;
mod twins;

use std::hint::select_unpredictable;

pub use error::RoutingError;
use port_lists::{PortList, PortLists};
use regions::RegionRoutes;
use search::{Search, SwitchGraph};
use twins::Twins;

use tenter_language::units::{Budget, ById};

use crate::topology::shape::Shape;
use crate::topology::{CableEnd, HostId, NodeId, Size, SwitchId, Topology};

/// Most switches on a path, because the time-to-live in an IP packet has 8 bits.
const PATH_MAX: u8 = 255;

/// Cables that are in use.
#[derive(Clone, Copy, PartialEq)]
enum Cables<'s> {
    /// All cables. If the fabric has an arrangement, routes follow from it.
    All(Option<&'s Shape>),
    Some,
}

/// Work units for each cable to find the neighbours of all switches.
const CABLE_UNITS: u64 = 20;

/// A host's position in the routing table.
#[derive(Clone, Copy, Debug)]
struct HostPlace {
    /// Switch that the host is on; with several planes the one on plane 0.
    switch: SwitchId,
    /// Number of this switch among the switches with hosts.
    group: u32,
    /// Port on that switch, and on the corresponding switches in other planes.
    port: u16,
}

/// Egress ports from every switch towards every host: those on shortest paths, or those in a
/// [static route](crate::topology::StaticRoute).
///
/// A path's cost is the number of its switches. In a tree with optical switches, leaves forward
/// other switches' traffic only if there is no other way. Routes are kept per *group*, which is all
/// hosts on one switch, and equal port lists are stored once: 128 leaves × 64 spines need 24,576
/// table entries and 130 lists.
#[derive(Clone, Debug)]
pub struct Routing {
    hosts: ById<HostId, HostPlace>,
    groups: usize,
    /// Ports on each host. A group's hosts are on this many consecutive switches, one on each
    /// plane.
    nic_ports: u32,
    /// Port list for each switch and group, switch-major.
    table: Vec<PortList>,
    /// Port list for the way through the tree, for leaves with a direct circuit to the group; empty
    /// if no leaf has one.
    others: Vec<PortList>,
    lists: PortLists,
    /// Switches on the longest path for each pair of groups. Without static routes this is a
    /// shortest path.
    distances: Vec<u8>,
    /// Number of each host in the order of leaves.
    tree_order: ById<HostId, u32>,
    /// Routes into regions, if the topology has any.
    regions: RegionRoutes,
}

impl Routing {
    /// Finds all shortest paths between switches that have hosts.
    ///
    /// # Errors
    /// A host without a switch, two hosts without a path, a path over more than 255 switches,
    /// static routes that form a loop, or a table that exceeds the budget. A topology from
    /// [`TopologySpec::build`](crate::topology::TopologySpec::build) can fail only in the last two
    /// ways.
    pub fn build(topology: &Topology, budget: &Budget) -> Result<Routing, RoutingError> {
        let size = Size::of(topology);
        size.may_route(budget)?;
        let mut routing = Routing::attach(topology)?;
        routing.counted(budget, topology.cables.len() as u64 * CABLE_UNITS)?;
        let graph = SwitchGraph::of(topology);
        let groups = routing.groups;
        routing.table = vec![PortList::default(); graph.switches() * groups];
        routing.distances = vec![0; groups * groups];
        match &topology.shape {
            Some(shape) => routing.take_shape(topology, &graph, shape, budget)?,
            None => routing.take_searched(topology, &graph, budget)?,
        }
        routing.take_regions(topology, &graph, Cables::All(topology.shape.as_ref()));
        routing.lists.complete();
        Ok(routing)
    }

    /// Computes routes for a fabric that was routed within a budget before: its circuits have
    /// changed, or its run begins. The table has the same size, so no budget is needed.
    ///
    /// # Errors
    /// As [`Routing::build`], but for the budget.
    pub fn rebuild(topology: &Topology) -> Result<Routing, RoutingError> {
        Routing::build(topology, &known_size())
    }

    /// Fills the table by searching, and applies static routes.
    fn take_searched(
        &mut self,
        topology: &Topology,
        graph: &SwitchGraph,
        budget: &Budget,
    ) -> Result<(), RoutingError> {
        let groups = self.groups;
        let leaders = self.leaders();
        let switches = self.switches_of(&leaders);
        let twins = Twins::new(topology, graph, &switches);
        let mut search = Search::new(graph.switches());
        let mut previous = 0;
        for set in twins.sets() {
            let group = set.first;
            let leader = leaders[group];
            let searched = graph.edges_count() + graph.switches();
            let copied = set.others.len() * (graph.switches() + groups);
            self.counted(budget, (searched + copied) as u64)?;
            search.run(graph, &self.on_planes(switches[group]));
            self.take_others(graph, &mut search, group);
            for switch in graph.ids() {
                // Routes to consecutive leaves mostly use the same ports.
                let guess = self.table[self.entry(switch, previous)];
                let list = search.candidates(graph, switch);
                let entry = self.entry(switch, group);
                self.table[entry] = self.lists.intern(list, guess);
            }
            previous = group;
            if !topology.routes.is_empty() {
                self.override_group(topology, leader, &mut search.distance, &[])?;
            }
            for (other, host) in leaders.iter().enumerate() {
                let links = search.links(switches[other]);
                if topology.joins(*host, leader) {
                    self.distances[other * groups + group] =
                        switches_on_path(topology, *host, leader, links)?;
                }
            }
            self.copy_to_twins(graph, &search, set, &switches);
            self.copy_distances(topology, set, &leaders)?;
        }
        Ok(())
    }

    /// Lists the switches that correspond to one on plane 0, plane by plane.
    fn on_planes(&self, first: SwitchId) -> Vec<SwitchId> {
        first.run(self.nic_ports).collect()
    }

    /// Returns each group's switch; with several planes the one on plane 0.
    fn switches_of(&self, leaders: &[HostId]) -> Vec<SwitchId> {
        let leaders = leaders.iter();
        leaders.map(|&leader| self.attachment(leader)).collect()
    }

    /// Charges work units to the budget.
    fn counted(&self, budget: &Budget, units: u64) -> Result<(), RoutingError> {
        budget.work(units).map_err(|over| RoutingError::OverBudget {
            switches: (self.table.len() / self.groups.max(1)) as u64,
            groups: self.groups as u64,
            over,
        })
    }

    /// Computes the routes that remain when some cables are out; `is_out` is indexed by cable.
    ///
    /// A static route is withdrawn if all its cables are out. All static routes to a switch are
    /// withdrawn if they would form a loop with the remaining routes. If a host cannot be reached
    /// any more, switches keep the whole topology's routes, which end at a cable that is out.
    /// Distances stay those in the whole topology.
    ///
    /// Packets that normally correct one coordinate after the other may take any shortest path that
    /// is left.
    #[must_use]
    pub fn without(&self, topology: &Topology, is_out: &[bool]) -> Routing {
        let mut routing = self.clone();
        routing.others = Vec::new();
        let graph = SwitchGraph::without(topology, is_out);
        // Cables of hosts are on no path between switches.
        let mut cables = topology.cables.iter().zip(is_out);
        let is_whole = !cables.any(|(cable, is_out)| {
            *is_out && cable.ends.iter().all(|end| !topology.is_host(end.node))
        });
        let shape = topology.shape.as_ref().filter(|_| is_whole);
        // This cannot fail where building did not; the search below would give the same routes.
        if let Some(shape) = shape
            && routing
                .take_shape(topology, &graph, shape, &known_size())
                .is_ok()
        {
            routing.take_regions(topology, &graph, Cables::All(Some(shape)));
            routing.lists.complete();
            return routing;
        }
        let leaders = self.leaders();
        let switches = self.switches_of(&leaders);
        let twins = Twins::new(topology, &graph, &switches);
        let mut search = Search::new(graph.switches());
        for set in twins.sets() {
            let leader = leaders[set.first];
            search.run(&graph, &self.on_planes(switches[set.first]));
            routing.take_others(&graph, &mut search, set.first);
            routing.take_shortest(&graph, &mut search, leader);
            routing.copy_to_twins(&graph, &search, set, &switches);
            if topology.routes.is_empty() {
                continue;
            }
            let mut distance = search.distance.clone();
            let statics = routing.override_group(topology, leader, &mut distance, is_out);
            // Together with what remains the static routes loop, so all to this leaf are withdrawn.
            if statics.is_err() {
                routing.take_shortest(&graph, &mut search, leader);
            }
        }
        routing.take_regions(topology, &graph, Cables::Some);
        routing.lists.complete();
        routing
    }

    /// Fills the table for the shortest ways into each region.
    fn take_regions(&mut self, topology: &Topology, graph: &SwitchGraph, cables: Cables<'_>) {
        // Ways into a region of one switch are the routes to its hosts, if every switch has some.
        let has_all = self.groups == graph.switches() && cables != Cables::Some;
        let is_each = has_all && topology.is_region_each() && self.is_group_each();
        self.regions = RegionRoutes::new(&topology.regions, is_each);
        if is_each {
            return;
        }
        if let Cables::All(Some(shape)) = cables {
            self.take_regions_of(graph, shape);
            return;
        }
        let mut search = Search::new(graph.switches());
        for region in 0..self.regions.count() {
            let within = topology.regions.numbered();
            let within = within.filter(|(_, of)| **of == region);
            let within: Vec<SwitchId> = within.map(|(switch, _)| switch).collect();
            search.run_far(graph, &within);
            for switch in graph.ids() {
                let guess = self.regions.list(switch, region);
                let list = search.candidates(graph, switch);
                let list = self.lists.intern(list, guess);
                self.regions.set(switch, region, list);
            }
        }
    }

    /// Puts the shortest paths that a search has found to host `to` and its group into the table.
    fn take_shortest(&mut self, graph: &SwitchGraph, search: &mut Search, to: HostId) {
        let group = self.group(to);
        for switch in graph.ids() {
            // The previous route stays, and ends at a cable that is out.
            if search.distance[switch] == Search::UNSEEN {
                continue;
            }
            let entry = self.entry(switch, group);
            let list = search.candidates(graph, switch);
            self.table[entry] = self.lists.intern(list, self.table[entry]);
        }
    }

    /// Records the ways through the tree for leaves with a direct circuit to `group`, after a
    /// search.
    fn take_others(&mut self, graph: &SwitchGraph, search: &mut Search, group: usize) {
        let nearest = graph.ids().filter(|&switch| search.distance[switch] == 1);
        let leaves: Vec<SwitchId> = nearest
            .filter(|&switch| graph.is_last_resort(switch))
            .collect();
        for switch in leaves {
            if self.others.is_empty() {
                self.others = vec![PortList::default(); graph.switches() * self.groups];
            }
            let list = search.others(graph, switch);
            let entry = self.entry(switch, group);
            self.others[entry] = self.lists.intern(list, PortList::default());
        }
    }

    /// Finds every host's switch and port, and numbers the switches with hosts as groups.
    fn attach(topology: &Topology) -> Result<Routing, RoutingError> {
        let mut routing = Routing {
            hosts: Vec::with_capacity(topology.hosts).into(),
            groups: 0,
            nic_ports: topology.nic_ports.into(),
            table: Vec::new(),
            others: Vec::new(),
            lists: PortLists::default(),
            distances: Vec::new(),
            tree_order: topology.tree_order(),
            regions: RegionRoutes::default(),
        };
        let mut group_of_switch: ById<SwitchId, Option<u32>> =
            vec![None; topology.switches()].into();
        for host in topology.host_ids() {
            let peer = topology.neighbours(host).next();
            let Some(peer) = peer.filter(|peer| !topology.is_host(peer.node)) else {
                return Err(RoutingError::Detached {
                    host: topology.name(host).to_owned(),
                });
            };
            let switch = topology.switch(peer.node);
            // Groups are numbered by their first host.
            let group = *group_of_switch[switch].get_or_insert_with(|| {
                routing.groups += 1;
                (routing.groups - 1) as u32
            });
            routing.hosts.push(HostPlace {
                switch,
                group,
                port: peer.port,
            });
        }
        let ports = topology.switch_nodes().map(|switch| topology.ports(switch));
        routing.lists = PortLists::of_single_ports(ports.max().unwrap_or(0));
        Ok(routing)
    }

    /// Puts the static routes to host `to` and its group into the table, and the longest resulting
    /// path lengths into `distance`.
    fn override_group(
        &mut self,
        topology: &Topology,
        to: HostId,
        distance: &mut ById<SwitchId, u32>,
        is_out: &[bool],
    ) -> Result<(), RoutingError> {
        let destination = topology.switch_node(self.attachment(to));
        let group = self.group(to);
        let mut changed = false;
        let routes = topology.routes.iter();
        for route in routes.filter(|route| route.destination == destination) {
            let peers = (0..).zip(topology.neighbours(route.switch));
            let ports = peers.filter(|&(port, peer)| {
                let in_use = |cable: u32| !is_out.get(cable as usize).is_some_and(|out| *out);
                peer.node == route.next && in_use(topology.cable_number(route.switch, port))
            });
            let list: Vec<u16> = ports.map(|(port, _)| port).collect();
            let switch = topology.switch(route.switch);
            let seen = distance[switch] != Search::UNSEEN;
            // A route whose cables are all out, or whose switch does not reach the host, is left
            // out.
            if list.is_empty() || !seen {
                continue;
            }
            let entry = self.entry(switch, group);
            self.table[entry] = self.lists.intern(&list, self.table[entry]);
            changed = true;
        }
        // Static routes may lengthen paths or close a loop, so lengths are found anew.
        if changed {
            self.walk_back(topology, to, distance)?;
        }
        Ok(())
    }

    /// Finds the longest path from every switch to host `to`, in links between switches. A switch
    /// is done once all switches to which it sends are done, so what remains is on a loop or leads
    /// into one.
    fn walk_back(
        &self,
        topology: &Topology,
        to: HostId,
        distance: &mut ById<SwitchId, u32>,
    ) -> Result<(), RoutingError> {
        let mut behind: ById<SwitchId, Vec<SwitchId>> = vec![Vec::new(); distance.len()].into();
        let mut open: ById<SwitchId, usize> = vec![0; distance.len()].into();
        for switch in distance.ids() {
            if switch == self.attachment(to) {
                continue;
            }
            for &port in self.candidates(switch, to) {
                // Parallel cables count twice here, and are counted down twice below.
                behind[topology.switch_behind(switch, port)].push(switch);
                open[switch] += 1;
            }
        }
        let mut done = vec![self.attachment(to)];
        let mut longest: ById<SwitchId, u32> = vec![0; distance.len()].into();
        while let Some(switch) = done.pop() {
            for &previous in &behind[switch] {
                longest[previous] = longest[previous].max(longest[switch] + 1);
                open[previous] -= 1;
                if open[previous] == 0 {
                    done.push(previous);
                }
            }
        }
        if let Some((stuck, _)) = open.numbered().find(|(_, open)| **open > 0) {
            let name = |switch| topology.name(topology.switch_node(switch)).to_owned();
            return Err(RoutingError::Loop {
                switch: name(stuck),
                destination: name(self.attachment(to)),
            });
        }
        let reached = distance.iter_mut().zip(longest.iter());
        for (links, longest) in reached.filter(|(links, _)| **links != Search::UNSEEN) {
            *links = *longest;
        }
        Ok(())
    }

    /// Returns true if the hosts on each switch form the group with the switch's number.
    fn is_group_each(&self) -> bool {
        let mut hosts = self.hosts.iter();
        hosts.all(|host| host.switch.number() == host.group)
    }

    /// Returns every group's first host.
    fn leaders(&self) -> Vec<HostId> {
        let mut leaders = Vec::with_capacity(self.groups);
        for (host, place) in self.hosts.numbered() {
            if place.group as usize == leaders.len() {
                leaders.push(host);
            }
        }
        leaders
    }

    /// Returns a host's number in leaf order, and on each leaf in port order.
    #[inline]
    pub(crate) fn tree_number(&self, host: HostId) -> u32 {
        self.tree_order[host]
    }

    /// Returns the switch that a host is on; with several planes the one on plane 0.
    #[inline]
    pub fn attachment(&self, host: HostId) -> SwitchId {
        self.hosts[host].switch
    }

    /// Returns the table index for a switch and a group.
    #[inline]
    fn entry(&self, switch: SwitchId, group: usize) -> usize {
        switch.index() * self.groups + group
    }

    /// Returns the equal-cost egress ports at a switch towards `dst_host`, ascending.
    ///
    /// Returns one port if the host is on this switch, and none if the switch reaches no host at
    /// all.
    #[inline]
    pub fn candidates(&self, switch: SwitchId, dst_host: HostId) -> &[u16] {
        let host = &self.hosts[dst_host];
        let elsewhere = self.table[self.entry(switch, host.group as usize)];
        let here = PortList {
            first: u32::from(host.port),
            count: 1,
        };
        // The direction of a packet in a tree is unpredictable, so this avoids a branch.
        let is_here = switch.number().wrapping_sub(host.switch.number()) < self.nic_ports;
        let list = select_unpredictable(is_here, here, elsewhere);
        self.lists.get(list)
    }

    /// Returns the egress ports through the tree at a leaf that has circuits straight to
    /// `dst_host`'s leaf; empty for all other switches.
    #[inline]
    pub(crate) fn others(&self, switch: SwitchId, dst_host: HostId) -> &[u16] {
        let entry = self.entry(switch, self.group(dst_host));
        // Most fabrics have no such table at all.
        let list = self.others.get(entry).copied();
        self.lists.get(list.unwrap_or_default())
    }

    /// Returns the region count; 0 if packets take shortest paths only.
    pub fn regions(&self) -> u32 {
        self.regions.count()
    }

    /// Returns a switch's region; 0 if there are no regions.
    pub fn region(&self, switch: SwitchId) -> u32 {
        self.regions.of(switch)
    }

    /// Returns the equal-cost egress ports on the shortest ways into a region, ascending. Empty
    /// within the region, and if no way leads there.
    pub fn into_region(&self, switch: SwitchId, region: u32) -> &[u16] {
        let list = if self.regions.is_each {
            self.table[self.entry(switch, region as usize)]
        } else {
            self.regions.list(switch, region)
        };
        self.lists.get(list)
    }

    /// Returns the number that a host's switch has among the switches with hosts, from 0 without
    /// gaps.
    #[inline]
    pub(crate) fn group(&self, host: HostId) -> usize {
        self.hosts[host].group as usize
    }

    /// Counts the switches with hosts.
    pub(crate) fn groups(&self) -> usize {
        self.groups
    }

    /// Iterates over a switch's ports to which hosts are cabled.
    pub(crate) fn host_ports(&self, switch: SwitchId) -> impl Iterator<Item = u16> + '_ {
        let here = move |place: &&HostPlace| {
            let plane = switch.number().wrapping_sub(place.switch.number());
            plane < self.nic_ports
        };
        self.hosts.iter().filter(here).map(|place| place.port)
    }

    /// Counts the switches on a path between two hosts: 1 on one leaf, 3 over a spine. Among paths
    /// with different lengths, which only static routes cause, the longest counts.
    ///
    /// Zero between a host and itself, and between hosts on different planes.
    pub fn distance(&self, a: HostId, b: HostId) -> u32 {
        if a == b {
            return 0;
        }
        u32::from(self.distances[self.group(a) * self.groups + self.group(b)])
    }

    /// Returns the path that takes the first candidate at every switch, as egress ports from `a` to
    /// `b`; with several planes on plane 0.
    ///
    /// `topology` must be the one for which the routes were built.
    pub fn path<'a>(&'a self, topology: &'a Topology, a: HostId, b: HostId) -> Path<'a> {
        let at = (a != b).then(|| topology.switch_node(self.attachment(a)));
        Path {
            routing: self,
            topology,
            at,
            destination: b,
        }
    }
}

/// Egress ports along one path, switch by switch; made by [`Routing::path`].
#[derive(Clone, Debug)]
pub struct Path<'a> {
    routing: &'a Routing,
    topology: &'a Topology,
    /// Switch whose egress port comes next; `None` at the end.
    at: Option<NodeId>,
    destination: HostId,
}

impl Iterator for Path<'_> {
    type Item = CableEnd;

    fn next(&mut self) -> Option<CableEnd> {
        let node = self.at?;
        let switch = self.topology.switch(node);
        let port = *self.routing.candidates(switch, self.destination).first()?;
        let next = self.topology.neighbour(node, port).node;
        self.at = (next != self.destination.node()).then_some(next);
        Some(CableEnd { node, port })
    }
}

/// Returns an unlimited budget, for a table with the size of one that was built within a budget
/// before.
fn known_size() -> Budget {
    Budget::unlimited()
}

/// Converts links between switches into switches on a path, and refuses paths that are too long.
fn switches_on_path(
    topology: &Topology,
    from: HostId,
    to: HostId,
    links: u32,
) -> Result<u8, RoutingError> {
    let name = |host| topology.name(host).to_owned();
    if links == Search::UNSEEN {
        return Err(RoutingError::Unreachable {
            from: name(from),
            to: name(to),
        });
    }
    if links >= u32::from(PATH_MAX) {
        return Err(RoutingError::PathTooLong {
            from: name(from),
            to: name(to),
        });
    }
    Ok(links as u8 + 1)
}

#[cfg(test)]
mod tests;
