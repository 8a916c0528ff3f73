//! Shortest paths from all switches to one switch, or to a host's switches on all planes.

use std::collections::BTreeMap;

use tenter_language::units::ById;

use super::regions::FAR;
use crate::topology::{SwitchId, Topology};

/// A cable to another switch, seen from one end.
#[derive(Clone, Copy)]
struct Edge {
    peer: SwitchId,
    port: u16,
    /// Port at the other end.
    back: u16,
}

/// The switches and the cables between them, without hosts.
pub(super) struct SwitchGraph {
    /// Each switch's first edge by index; its edges end where the next switch's begin.
    starts: ById<SwitchId, u32>,
    /// All switches' edges, each switch's by port.
    edges: Vec<Edge>,
    /// For each switch, true if it forwards other switches' traffic only if there is no other way;
    /// empty if no switch is like that.
    is_last_resort: ById<SwitchId, bool>,
    /// Region by switch. Empty if there are none, and if each switch is a region: all cables then
    /// lead to another one and count alike.
    pub(super) regions: ById<SwitchId, u32>,
}

impl SwitchGraph {
    pub(super) fn of(topology: &Topology) -> SwitchGraph {
        SwitchGraph::without(topology, &[])
    }

    /// Builds the graph from the cables that are in use.
    pub(super) fn without(topology: &Topology, is_out: &[bool]) -> SwitchGraph {
        // Where each switch is a region by itself, the search needs no regions.
        let regions = if topology.is_region_each() {
            ById::default()
        } else {
            topology.regions.clone()
        };
        let mut graph = SwitchGraph {
            starts: vec![0].into(),
            edges: Vec::new(),
            is_last_resort: topology.last_resorts(),
            regions,
        };
        for switch in topology.switch_nodes() {
            let peers = topology.neighbours(switch).enumerate();
            let switches = peers.filter(|&(port, peer)| {
                let cable = topology.cable_number(switch, port as u16) as usize;
                let out = is_out.get(cable).is_some_and(|out| *out);
                !topology.is_host(peer.node) && !out
            });
            let edges = switches.map(|(port, peer)| Edge {
                peer: topology.switch(peer.node),
                port: port as u16,
                back: peer.port,
            });
            graph.edges.extend(edges);
            graph.starts.push(graph.edges.len() as u32);
        }
        graph
    }

    pub(super) fn switches(&self) -> usize {
        self.starts.len() - 1
    }

    /// Counts the edges: two for each cable between switches.
    pub(super) fn edges_count(&self) -> usize {
        self.edges.len()
    }

    /// Iterates over the numbers of all switches.
    pub(super) fn ids(&self) -> impl Iterator<Item = SwitchId> + use<> {
        SwitchId::new(0).run(self.switches() as u32)
    }

    pub(super) fn is_last_resort(&self, switch: SwitchId) -> bool {
        let known = self.is_last_resort.get(switch.index());
        known.is_some_and(|is| *is)
    }

    /// Returns the distance that a cable adds.
    fn length(&self, from: SwitchId, to: SwitchId) -> u32 {
        let region = |switch: SwitchId| self.regions.get(switch.index());
        if region(from) == region(to) {
            1
        } else {
            FAR + 1
        }
    }

    /// Iterates over the ports that lead from one switch to another, ascending.
    pub(super) fn ports_to(&self, from: SwitchId, to: SwitchId) -> impl Iterator<Item = u16> + '_ {
        // Ports are ordered by the switch behind them.
        let edges = self.edges(from);
        let first = edges.partition_point(|edge| edge.peer < to);
        let edges = edges[first..].iter();
        edges
            .take_while(move |edge| edge.peer == to)
            .map(|edge| edge.port)
    }

    /// Lists the switches that a switch is cabled to, ascending and without repetition.
    pub(super) fn neighbours(&self, switch: SwitchId) -> Vec<SwitchId> {
        let mut neighbours: Vec<SwitchId> =
            self.edges(switch).iter().map(|edge| edge.peer).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        neighbours
    }

    /// Lists a switch's ports to its own region, or all ports if there are no regions.
    pub(super) fn nearest(&self, switch: SwitchId) -> Vec<u16> {
        let edges = self.edges(switch).iter();
        let lengths = edges.map(|edge| (self.length(switch, edge.peer), edge.port));
        let least = lengths.clone().map(|(length, _)| length).min();
        let nearest = lengths.filter(|(length, _)| Some(*length) == least);
        nearest.map(|(_, port)| port).collect()
    }

    fn edges(&self, switch: SwitchId) -> &[Edge] {
        &self.edges[self.starts[switch] as usize..self.starts[switch.after(1)] as usize]
    }
}

/// A breadth-first search backwards from a destination.
pub(super) struct Search {
    /// Distance by switch: links to the destination, and `FAR` more for each link between regions.
    pub(super) distance: ById<SwitchId, u32>,
    /// Switches reached so far, nearest first. Behind all others come those that lie behind a
    /// last-resort switch.
    queue: Vec<SwitchId>,
    /// True for switches that are reached only through a last-resort switch.
    is_behind: ById<SwitchId, bool>,
    candidates: Vec<u16>,
    /// Each switch's ports that are one link nearer, in any order, if the search collects them.
    nearer: ById<SwitchId, Vec<u16>>,
    /// True if the last search collected `nearer`.
    has_nearer: bool,
}

impl Search {
    pub(super) const UNSEEN: u32 = u32::MAX;

    pub(super) fn new(switches: usize) -> Search {
        Search {
            distance: vec![Search::UNSEEN; switches].into(),
            queue: Vec::with_capacity(switches),
            is_behind: vec![false; switches].into(),
            candidates: Vec::new(),
            nearer: vec![Vec::new(); switches].into(),
            has_nearer: false,
        }
    }

    /// Searches from `destinations`. If there are several, they are on planes that no path joins.
    pub(super) fn run(&mut self, graph: &SwitchGraph, destinations: &[SwitchId]) {
        if !graph.regions.is_empty() {
            self.run_far(graph, destinations);
            return;
        }
        if graph.is_last_resort.is_empty() {
            self.run_plain(graph, destinations);
            return;
        }
        self.has_nearer = false;
        self.distance.fill(Search::UNSEEN);
        self.is_behind.fill(false);
        self.begin(destinations);
        let mut next = 0;
        while let Some(&switch) = self.queue.get(next) {
            next += 1;
            // In this phase leaves of last resort forward nothing for others.
            if destinations.contains(&switch) || !graph.is_last_resort(switch) {
                self.reach_from(graph, switch, false);
            }
        }
        // What is left can be reached through such leaves only.
        if self.queue.len() < self.distance.len() {
            self.run_behind(graph);
        }
    }

    /// Searches a graph in which all cables count alike and all switches forward. Each cable is
    /// visited once, and cables at the farthest switches not at all, so fabrics with a short
    /// diameter cost little.
    fn run_plain(&mut self, graph: &SwitchGraph, destinations: &[SwitchId]) {
        self.distance.fill(Search::UNSEEN);
        self.nearer.iter_mut().for_each(Vec::clear);
        self.has_nearer = true;
        self.begin(destinations);
        let mut next = 0;
        while let Some(&switch) = self.queue.get(next) {
            let beyond = self.distance[switch] + 1;
            let is_last = self.queue.len() == self.distance.len();
            let farthest = self.queue.last().map(|&last| self.distance[last]);
            // All switches are reached and this one is among the farthest: no cable leads further
            // away.
            if is_last && farthest < Some(beyond) {
                break;
            }
            next += 1;
            for &Edge { peer, back, .. } in graph.edges(switch) {
                if self.distance[peer] == Search::UNSEEN {
                    self.distance[peer] = beyond;
                    self.queue.push(peer);
                }
                if self.distance[peer] == beyond {
                    self.nearer[peer].push(back);
                }
            }
        }
    }

    fn begin(&mut self, destinations: &[SwitchId]) {
        self.queue.clear();
        self.queue.extend_from_slice(destinations);
        for &destination in destinations {
            self.distance[destination] = 0;
        }
    }

    /// Searches a graph with regions, in which cables between regions count most.
    pub(super) fn run_far(&mut self, graph: &SwitchGraph, destinations: &[SwitchId]) {
        self.has_nearer = false;
        self.distance.fill(Search::UNSEEN);
        self.is_behind.fill(false);
        // There are few different distances and many switches at each, so this beats a heap of
        // switches.
        let mut open: BTreeMap<u32, Vec<SwitchId>> = BTreeMap::new();
        for &destination in destinations {
            self.distance[destination] = 0;
        }
        open.insert(0, destinations.to_vec());
        while let Some((distance, switches)) = open.pop_first() {
            for switch in switches {
                // A shorter distance was found after this entry was made.
                if distance > self.distance[switch] {
                    continue;
                }
                for &Edge { peer, .. } in graph.edges(switch) {
                    let beyond = distance + graph.length(switch, peer);
                    if beyond < self.distance[peer] {
                        self.distance[peer] = beyond;
                        open.entry(beyond).or_default().push(peer);
                    }
                }
            }
        }
    }

    /// Returns the link count from a switch to the destination.
    pub(super) fn links(&self, switch: SwitchId) -> u32 {
        match self.distance[switch] {
            Search::UNSEEN => Search::UNSEEN,
            // A link between regions counts `FAR + 1`, so the remainder counts every link once.
            distance => distance % FAR,
        }
    }

    /// Continues through last-resort switches to switches that cannot be reached otherwise.
    fn run_behind(&mut self, graph: &SwitchGraph) {
        let reached = self.queue.len();
        let (mut early, mut late) = (0, reached);
        loop {
            // Takes the nearer of the two heads; both sequences are in the order of distance.
            let far = |place: Option<&SwitchId>| place.map(|&s| self.distance[s]);
            let next = match (
                far(self.queue[..reached].get(early)),
                far(self.queue.get(late)),
            ) {
                (Some(one), Some(other)) if other < one => &mut late,
                (Some(_), _) => &mut early,
                (None, Some(_)) => &mut late,
                (None, None) => break,
            };
            let switch = self.queue[*next];
            *next += 1;
            self.reach_from(graph, switch, true);
        }
    }

    fn reach_from(&mut self, graph: &SwitchGraph, switch: SwitchId, is_behind: bool) {
        let beyond = self.distance[switch] + 1;
        for Edge { peer, .. } in graph.edges(switch) {
            let distance = &mut self.distance[*peer];
            if *distance == Search::UNSEEN {
                *distance = beyond;
                self.is_behind[*peer] = is_behind;
                self.queue.push(*peer);
            }
        }
    }

    /// Returns the ports by which `switch` reaches the destination through the tree, on the
    /// shortest way.
    pub(super) fn others(&mut self, graph: &SwitchGraph, switch: SwitchId) -> &[u16] {
        self.candidates.clear();
        let distance = |peer: SwitchId| {
            let is_of_tree = !graph.is_last_resort(peer) && !self.is_behind[peer];
            is_of_tree.then(|| self.distance[peer])
        };
        let edges = graph.edges(switch).iter();
        let known = edges.filter_map(|edge| Some((distance(edge.peer)?, edge.port)));
        let known = known.filter(|(distance, _)| *distance != Search::UNSEEN);
        if let Some(least) = known.clone().map(|(distance, _)| distance).min() {
            let ports = known.filter(|(distance, _)| *distance == least);
            self.candidates.extend(ports.map(|(_, port)| port));
        }
        &self.candidates
    }

    /// Returns the ports by which `switch` gets one link nearer to the destination, ascending.
    pub(super) fn candidates(&mut self, graph: &SwitchGraph, switch: SwitchId) -> &[u16] {
        if self.has_nearer {
            self.nearer[switch].sort_unstable();
            return &self.nearer[switch];
        }
        self.candidates.clear();
        let here = self.distance[switch];
        if here != Search::UNSEEN && here > 0 {
            let is_behind = self.is_behind[switch];
            let edges = graph.edges(switch).iter();
            let nearer = edges.filter(|Edge { peer, .. }| {
                let there = self.distance[*peer];
                let passes = !graph.is_last_resort(*peer) && !self.is_behind[*peer];
                let nearer = there != Search::UNSEEN && there + graph.length(switch, *peer) == here;
                // A leaf of last resort is the destination itself, or serves switches without
                // another way.
                nearer && (there == 0 || is_behind || passes)
            });
            self.candidates.extend(nearer.map(|edge| edge.port));
        }
        &self.candidates
    }
}
