//! Shortest-path routing with all equal-cost ports, and static routes that override it.

mod error;
mod longest;
mod port_lists;
mod regions;
mod search;

use std::hint::select_unpredictable;

pub use error::RoutingError;
use port_lists::{PortList, PortLists};
use regions::RegionRoutes;
use search::{Search, SwitchGraph};

use crate::{CableEnd, Topology};

/// The most switches on a path: the limit of the 8-bit time-to-live of an IP packet.
const PATH_MAX: u8 = 255;
/// The most entries of the table (1 GiB of them).
const ENTRIES_MAX: usize = 1 << 28;

/// Where a host is.
#[derive(Clone, Copy, Debug)]
struct HostPlace {
    /// The switch it is on.
    switch: u32,
    group: u32,
    /// Its port there.
    port: u16,
}

/// Whether a table has room for a number of switches and groups.
fn has_room(switches: usize, groups: usize) -> Result<(), RoutingError> {
    if switches.saturating_mul(groups) > ENTRIES_MAX {
        return Err(RoutingError::TooLarge { switches, groups });
    }
    Ok(())
}

/// For every switch and destination host, the egress ports on a shortest path, or those of its
/// [static route](crate::StaticRoute).
///
/// Cost is the number of switches. Leaves of a tree with optical switches forward traffic of other
/// switches only without another way. Routes are kept per *group*, all hosts on one switch, and
/// equal lists of ports are stored once: 128 leaves × 64 spines need 24,576 table entries and 130
/// lists.
#[derive(Clone, Debug)]
pub struct Routing {
    hosts: Vec<HostPlace>,
    groups: usize,
    /// Per switch and group, switch-major.
    table: Vec<PortList>,
    /// The same for ways through the tree, if a circuit leads there directly; empty if none does.
    others: Vec<PortList>,
    lists: PortLists,
    /// Per pair of groups: switches on the longest path between them, which is a shortest one
    /// unless there are static routes.
    distances: Vec<u8>,
    /// The number of each host in the order of their leaves.
    tree_order: Vec<u32>,
    /// Ways into regions, where the topology has any.
    regions: RegionRoutes,
}

impl Routing {
    /// Finds all shortest paths between the switches that have hosts.
    ///
    /// # Errors
    /// When a host is on no switch, two hosts have no path, a path is longer than 255 switches,
    /// static routes make a loop, or the table would be larger than memory. A topology from
    /// [`TopologySpec::build`](crate::TopologySpec::build) can only fail in the last two.
    pub fn build(topology: &Topology) -> Result<Routing, RoutingError> {
        let mut routing = Routing::attach(topology)?;
        let graph = SwitchGraph::of(topology);
        let groups = routing.groups;
        has_room(graph.switches(), groups)?;
        routing.table = vec![PortList::default(); graph.switches() * groups];
        routing.distances = vec![0; groups * groups];
        let leaders = routing.leaders();
        let mut search = Search::new(graph.switches());
        for (group, leader) in leaders.iter().enumerate() {
            search.run(&graph, routing.attachment(*leader));
            routing.take_others(&graph, &mut search, group);
            for switch in 0..graph.switches() {
                let previous = switch * groups + group.saturating_sub(1);
                let list = search.candidates(&graph, switch);
                routing.table[switch * groups + group] =
                    routing.lists.intern(list, routing.table[previous]);
            }
            if !topology.routes.is_empty() {
                routing.override_group(topology, *leader, &mut search.distance, &[])?;
            }
            for (other, host) in leaders.iter().enumerate() {
                let links = search.links(routing.attachment(*host));
                routing.distances[other * groups + group] =
                    switches_on_path(topology, *host, *leader, links)?;
            }
        }
        routing.take_regions(&graph, &mut search);
        routing.lists.complete();
        Ok(routing)
    }

    /// Whether the table of a topology would fit in memory: the first check of
    /// [`build`](Self::build) without the routes.
    ///
    /// # Errors
    /// When a host is on no switch, or the table would be too large.
    pub(crate) fn fits(topology: &Topology) -> Result<(), RoutingError> {
        has_room(topology.switches(), Routing::attach(topology)?.groups)
    }

    /// The remaining routes when some cables are out of use (`is_out`, by the cable's number).
    ///
    /// A static route is withdrawn if no cable of it is in use, and all those to a switch are if
    /// they would lead in a circle together with the remaining routes. If no way is left to a host,
    /// switches keep the routes that these routes (those of the whole topology) have: they end at a
    /// cable that is out of use. Distances stay those of the whole topology.
    #[must_use]
    pub fn without(&self, topology: &Topology, is_out: &[bool]) -> Routing {
        let mut routing = self.clone();
        routing.others = Vec::new();
        let graph = SwitchGraph::without(topology, is_out);
        let mut search = Search::new(graph.switches());
        for leader in self.leaders() {
            search.run(&graph, routing.attachment(leader));
            routing.take_others(&graph, &mut search, self.group(leader));
            routing.take_shortest(&graph, &mut search, leader);
            if topology.routes.is_empty() {
                continue;
            }
            let mut distance = search.distance.clone();
            let statics = routing.override_group(topology, leader, &mut distance, is_out);
            if statics.is_err() {
                routing.take_shortest(&graph, &mut search, leader);
            }
        }
        routing.take_regions(&graph, &mut search);
        routing.lists.complete();
        routing
    }

    /// Puts the shortest ways into each region into the table.
    fn take_regions(&mut self, graph: &SwitchGraph, search: &mut Search) {
        self.regions = RegionRoutes::new(&graph.regions);
        for region in 0..self.regions.count() {
            let within = (0..).zip(&graph.regions);
            let within = within.filter(|(_, of)| **of == region);
            let within: Vec<u32> = within.map(|(switch, _)| switch).collect();
            search.run_far(graph, &within);
            for switch in 0..graph.switches() {
                let guess = self.regions.list(switch as u32, region);
                let list = search.candidates(graph, switch);
                let list = self.lists.intern(list, guess);
                self.regions.set(switch as u32, region, list);
            }
        }
    }

    /// Puts the shortest paths that a search has found to the group of host `to` into the table.
    fn take_shortest(&mut self, graph: &SwitchGraph, search: &mut Search, to: u32) {
        let group = self.group(to);
        for switch in 0..graph.switches() {
            if search.distance[switch] == Search::UNSEEN {
                continue;
            }
            let entry = switch * self.groups + group;
            let list = search.candidates(graph, switch);
            self.table[entry] = self.lists.intern(list, self.table[entry]);
        }
    }

    /// Puts the ways through the tree to a group where a search has found a direct circuit into
    /// their table.
    fn take_others(&mut self, graph: &SwitchGraph, search: &mut Search, group: usize) {
        let nearest = (0..graph.switches()).filter(|&switch| search.distance[switch] == 1);
        let leaves: Vec<usize> = nearest
            .filter(|&switch| graph.is_last_resort(switch as u32))
            .collect();
        for switch in leaves {
            if self.others.is_empty() {
                self.others = vec![PortList::default(); graph.switches() * self.groups];
            }
            let list = search.others(graph, switch);
            let entry = switch * self.groups + group;
            self.others[entry] = self.lists.intern(list, PortList::default());
        }
    }

    /// Finds the switch and port of every host, and numbers the switches that have any.
    fn attach(topology: &Topology) -> Result<Routing, RoutingError> {
        let mut routing = Routing {
            hosts: Vec::with_capacity(topology.hosts),
            groups: 0,
            table: Vec::new(),
            others: Vec::new(),
            lists: PortLists::default(),
            distances: Vec::new(),
            tree_order: topology.tree_order(),
            regions: RegionRoutes::default(),
        };
        let mut group_of_switch = vec![None; topology.switches()];
        let mut ports = 0;
        for (number, host) in topology.nodes[..topology.hosts].iter().enumerate() {
            let peer = topology.neighbours(number as u32).next();
            let Some(peer) = peer.filter(|peer| !topology.is_host(peer.node)) else {
                return Err(RoutingError::Detached {
                    host: host.name.clone(),
                });
            };
            let switch = peer.node - topology.hosts as u32;
            let group = *group_of_switch[switch as usize].get_or_insert_with(|| {
                routing.groups += 1;
                (routing.groups - 1) as u32
            });
            routing.hosts.push(HostPlace {
                switch,
                group,
                port: peer.port,
            });
            ports = ports.max(peer.port + 1);
        }
        routing.lists = PortLists::of_single_ports(ports);
        Ok(routing)
    }

    /// Puts the static routes to the group of host `to` into the table, and the lengths of the
    /// longest paths they make into `distance`.
    fn override_group(
        &mut self,
        topology: &Topology,
        to: u32,
        distance: &mut [u32],
        is_out: &[bool],
    ) -> Result<(), RoutingError> {
        let hosts = topology.hosts as u32;
        let destination = self.attachment(to);
        let group = self.group(to);
        let mut changed = false;
        let routes = topology.routes.iter();
        for route in routes.filter(|route| route.destination - hosts == destination) {
            let peers = (0..).zip(topology.neighbours(route.switch));
            let ports = peers.filter(|&(port, peer)| {
                let in_use = |cable: u32| !is_out.get(cable as usize).is_some_and(|out| *out);
                peer.node == route.next && in_use(topology.cable_number(route.switch, port))
            });
            let list: Vec<u16> = ports.map(|(port, _)| port).collect();
            let seen = distance[(route.switch - hosts) as usize] != Search::UNSEEN;
            if list.is_empty() || !seen {
                continue;
            }
            let entry = (route.switch - hosts) as usize * self.groups + group;
            self.table[entry] = self.lists.intern(&list, self.table[entry]);
            changed = true;
        }
        if changed {
            self.walk_back(topology, to, distance)?;
        }
        Ok(())
    }

    /// The longest path from every switch to host `to`, in links between switches: switches are
    /// done once all they lead to are.
    fn walk_back(
        &self,
        topology: &Topology,
        to: u32,
        distance: &mut [u32],
    ) -> Result<(), RoutingError> {
        let hosts = topology.hosts as u32;
        let mut behind: Vec<Vec<u32>> = vec![Vec::new(); distance.len()];
        let mut open = vec![0_usize; distance.len()];
        for switch in 0..distance.len() as u32 {
            if switch == self.attachment(to) {
                continue;
            }
            for &port in self.candidates(switch, to) {
                let next = topology.neighbour(hosts + switch, port).node - hosts;
                behind[next as usize].push(switch);
                open[switch as usize] += 1;
            }
        }
        let mut done = vec![self.attachment(to)];
        let mut longest = vec![0_u32; distance.len()];
        while let Some(switch) = done.pop() {
            for &previous in &behind[switch as usize] {
                let previous = previous as usize;
                longest[previous] = longest[previous].max(longest[switch as usize] + 1);
                open[previous] -= 1;
                if open[previous] == 0 {
                    done.push(previous as u32);
                }
            }
        }
        if let Some(stuck) = open.iter().position(|&open| open > 0) {
            let name = |switch: u32| topology.nodes[(hosts + switch) as usize].name.clone();
            return Err(RoutingError::Loop {
                switch: name(stuck as u32),
                destination: name(self.attachment(to)),
            });
        }
        let reached = distance.iter_mut().zip(longest);
        for (links, longest) in reached.filter(|(links, _)| **links != Search::UNSEEN) {
            *links = longest;
        }
        Ok(())
    }

    /// The first host of every group.
    fn leaders(&self) -> Vec<u32> {
        let mut leaders = Vec::with_capacity(self.groups);
        for (host, place) in self.hosts.iter().enumerate() {
            if place.group as usize == leaders.len() {
                leaders.push(host as u32);
            }
        }
        leaders
    }

    /// The number of a host in the order of their leaves, and of ports there.
    #[inline]
    pub fn tree_number(&self, host: u32) -> u32 {
        self.tree_order[host as usize]
    }

    /// The switch a host is on, as an index into the switches: node number less the number of
    /// hosts.
    #[inline]
    pub fn attachment(&self, host: u32) -> u32 {
        self.hosts[host as usize].switch
    }

    /// The equal-cost egress ports of `switch` (an index into the switches) towards `dst_host`,
    /// ascending.
    ///
    /// One port when the host is on this switch; none from a switch that reaches no host at all.
    #[inline]
    pub fn candidates(&self, switch: u32, dst_host: u32) -> &[u16] {
        let host = &self.hosts[dst_host as usize];
        let elsewhere = self.table[switch as usize * self.groups + host.group as usize];
        let here = PortList {
            first: u32::from(host.port),
            count: 1,
        };
        // The direction of a packet in a tree is unpredictable: no branch.
        let list = select_unpredictable(host.switch == switch, here, elsewhere);
        self.lists.get(list)
    }

    /// From a leaf with circuits straight to the leaf of `dst_host`, the egress ports that lead
    /// there through the tree as well; none from all others.
    #[inline]
    pub fn others(&self, switch: u32, dst_host: u32) -> &[u16] {
        let entry = switch as usize * self.groups + self.group(dst_host);
        let list = self.others.get(entry).copied();
        self.lists.get(list.unwrap_or_default())
    }

    /// How many regions there are: 0 where packets take shortest paths alone.
    pub fn regions(&self) -> u32 {
        self.regions.count()
    }

    /// The region of a switch (an index into the switches), where there are any.
    pub fn region(&self, switch: u32) -> u32 {
        self.regions.of(switch)
    }

    /// The equal-cost egress ports of a switch (an index into the switches) on the shortest ways
    /// into a region, ascending; none within it, and where no way leads there.
    pub fn into_region(&self, switch: u32, region: u32) -> &[u16] {
        self.lists.get(self.regions.list(switch, region))
    }

    /// The number of the switch a host is on among the switches that have hosts: densely from 0.
    #[inline]
    pub fn group(&self, host: u32) -> usize {
        self.hosts[host as usize].group as usize
    }

    /// How many switches have hosts.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The ports of a switch (an index into the switches) at which hosts are.
    pub fn host_ports(&self, switch: u32) -> impl Iterator<Item = u16> + '_ {
        let here = move |place: &&HostPlace| place.switch == switch;
        self.hosts.iter().filter(here).map(|place| place.port)
    }

    /// Number of switches on a path from host `a` to host `b`: 1 on one leaf, 3 over a spine. Of
    /// several of different lengths, which only static routes make, it is the longest.
    ///
    /// Zero from a host to itself.
    pub fn distance(&self, a: u32, b: u32) -> u32 {
        if a == b {
            return 0;
        }
        u32::from(self.distances[self.group(a) * self.groups + self.group(b)])
    }

    /// The shortest path that takes the first candidate everywhere: the egress port of each switch
    /// from `a` to `b`.
    ///
    /// `topology` is the one the routes were built for.
    pub fn path<'a>(&'a self, topology: &'a Topology, a: u32, b: u32) -> Path<'a> {
        let at = (a != b).then(|| topology.hosts as u32 + self.attachment(a));
        Path {
            routing: self,
            topology,
            at,
            destination: b,
        }
    }
}

/// The egress ports of a shortest path, switch by switch; made by [`Routing::path`].
#[derive(Clone, Debug)]
pub struct Path<'a> {
    routing: &'a Routing,
    topology: &'a Topology,
    /// The switch to leave next.
    at: Option<u32>,
    destination: u32,
}

impl Iterator for Path<'_> {
    type Item = CableEnd;

    fn next(&mut self) -> Option<CableEnd> {
        let node = self.at?;
        let switch = node - self.topology.hosts as u32;
        let port = *self.routing.candidates(switch, self.destination).first()?;
        let next = self.topology.neighbour(node, port).node;
        self.at = (next != self.destination).then_some(next);
        Some(CableEnd { node, port })
    }
}

fn switches_on_path(
    topology: &Topology,
    from: u32,
    to: u32,
    links: u32,
) -> Result<u8, RoutingError> {
    let name = |host: u32| topology.nodes[host as usize].name.clone();
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
